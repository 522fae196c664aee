"""The command line: `python3 -m paceline run scenario.json` is `paceline run scenario.json`."""

import importlib.util
import os
import sys

from . import _engine


def main() -> int:
    if importlib.util.find_spec("matplotlib"):
        os.environ.setdefault("PACELINE_PYTHON", sys.executable)  # the one that draws figures
    return _engine.main(["paceline", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())

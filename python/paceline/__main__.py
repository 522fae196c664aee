"""The command line: `python3 -m paceline run scenario.json` is `paceline run scenario.json`, with methods in Python."""

import importlib.util
import os
import sys
import traceback

from . import _engine
from ._own import MethodError, finder


def main() -> int:
    if importlib.util.find_spec("matplotlib"):
        os.environ.setdefault("PACELINE_PYTHON", sys.executable)  # the one that draws figures
    try:
        return _engine.main(["paceline", *sys.argv[1:]], finder({}))
    except MethodError as error:
        if error.__cause__ is not None:
            traceback.print_exception(error.__cause__)
        print(f"paceline: error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())

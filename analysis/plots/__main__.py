"""Runs `paceline plot`. Python is given this folder, or the name of the package behind -m."""

import importlib
import os
import sys

package = __package__ or "plots"
if not __package__:  # Python was given the folder, and looks for modules in it instead of beside it
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
try:
    plot = importlib.import_module(f"{package}.plot")
except Exception as error:  # a matplotlib that is broken may raise anything
    if isinstance(error, ModuleNotFoundError) and error.name in ("matplotlib", "numpy"):
        print(f"paceline: plot needs {error.name}; apt-get install python3-matplotlib", file=sys.stderr)
    else:
        shown = importlib.import_module(f"{package}.common").shown
        reason = shown(" ".join(f"{type(error).__name__}: {error}".split())[:300])
        print(f"paceline: plot needs matplotlib, which does not load: {reason}; install it again, or set "
              "PACELINE_PYTHON to a Python whose matplotlib loads", file=sys.stderr)
    sys.exit(2)
sys.exit(plot.main())

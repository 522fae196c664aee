"""paceline from Python: how fast would this training algorithm train on that network?

    import paceline

    study = paceline.run("scenarios/dgc-speedup.json", {"cluster.fabric.link.bandwidth": "10Gbps"})
    study.frame                 # a pandas DataFrame, with the columns of results.csv
    study.plot("speedup")       # a matplotlib figure

It is the same engine as the program `paceline`: the same scenario gives the same bytes. docs/python.md is the page for it.
Times are in seconds and sizes in bytes, unless a text has its own unit ("10Gbps", "50us").
"""

from ._processor import check_processor

check_processor()

from ._engine import __version__, power  # noqa: E402
from ._errors import Interrupted, OutputError, ScenarioError, ScenarioWarning  # noqa: E402
from ._load import load  # noqa: E402
from ._exchange import Codec, Mixing, codec, mixing  # noqa: E402
from ._method import Method, algorithm  # noqa: E402
from ._own import MethodError  # noqa: E402
from ._problem import Data, Problem, Samples, problem, torch_problem  # noqa: E402
from ._questions import (  # noqa: E402
    Calibration, Check, Diagnosis, Explanation, Solution, calibrate, check, diagnose, explain, list_text, lists, schema, solve,
)
from ._run import check_method, run  # noqa: E402
from ._study import Point, Points, Study  # noqa: E402
from ._values import NoValues  # noqa: E402
from ._worker import (  # noqa: E402
    Backward, Channel, Exchange, Letter, Operation, Piece, Shared, Started, Tensor, Vector, Worker,
)

__all__ = [
    "Backward", "Calibration", "Channel", "Check", "Codec", "Data", "Diagnosis", "Exchange", "Explanation",
    "Interrupted", "Letter", "Method", "MethodError", "Mixing", "NoValues", "Operation", "OutputError", "Piece",
    "Point", "Points", "Problem", "Samples", "ScenarioError", "ScenarioWarning", "Shared", "Solution", "Started",
    "Study", "Tensor", "Vector", "Worker", "__version__", "algorithm", "calibrate", "check", "check_method", "codec",
    "diagnose", "explain", "list_text", "lists", "load", "mixing", "power", "problem", "run", "schema", "solve",
    "torch_problem",
]

"""Turns the tables of a study into DataFrames with types. Imports pandas when one is wanted."""

from __future__ import annotations

import csv
import io
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from . import _engine

if TYPE_CHECKING:
    import pandas

WHOLE_COLUMNS = ("point", "against", "nodes", "devices", "points")
TEXT_COLUMNS = ("job", "algorithm", "against_algorithm", "outcome")
COMPARISONS_COLUMNS = ("times_as_fast", "times_as_fast_low", "times_as_fast_high")
TIMELINE_COLUMNS = ("sim_time_s", "iteration", "epoch", "train_loss", "test_loss", "test_accuracy",
                    "consensus_distance", "bytes_sent_per_node", "relative_error")


@cache
def numbers() -> frozenset[str]:
    """Returns the columns of numbers of results.csv."""
    return frozenset(_engine.columns())


def column_of(axis: str) -> str:
    """Returns the column of an axis in results.csv."""
    return "nodes" if axis == "cluster.nodes" else axis


def unmarked(text: str) -> str:
    """Removes the apostrophe that keeps a spreadsheet from running a text as a formula (analysis/measures/csv.hpp)."""
    return re.sub(r"^'('*[=+\-@\t])", r"\1", text)


def frame_of(text: str) -> pandas.DataFrame:
    try:
        import pandas
    except ModuleNotFoundError:
        raise ModuleNotFoundError("a DataFrame needs pandas: apt-get install python3-pandas; without it, use .points or "
                                  ".csv()") from None
    header = next(csv.reader([text.partition("\n")[0]]))
    known = {*numbers(), *TIMELINE_COLUMNS, *COMPARISONS_COLUMNS, *(f"{name}_{what}" for name in numbers() for what in ("mean", "sd"))}
    types: dict[str, str] = {name: "float64" if name in known else "str" for name in header}
    types.update({name: "int64" for name in header if name in WHOLE_COLUMNS or name.endswith("_count")})
    frame = pandas.read_csv(io.StringIO(text), dtype=types, keep_default_na=False, float_precision="round_trip",
                            na_values={name: [""] for name in header if types[name] == "float64"})
    for name in header:
        if types[name] == "str":
            frame[name] = _axis(frame[name].map(unmarked)) if name not in TEXT_COLUMNS else frame[name].map(unmarked)
    return frame


def _axis(texts: Any) -> Any:
    """Returns the values of an axis as numbers if all are."""
    if len(texts) > 0:
        for pattern, kind in ((r"-?[0-9]{1,18}", "int64"), (r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", "float64")):
            if texts.str.fullmatch(pattern).all():
                return texts.astype(kind)
    return texts

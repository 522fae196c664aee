"""The results of a study: tables, points and figures."""

from __future__ import annotations

import csv
import html
import io
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, overload

from . import _arguments as arguments
from . import _engine
from ._frames import TIMELINE_COLUMNS, column_of, frame_of, numbers, unmarked

if TYPE_CHECKING:
    import matplotlib.figure
    import numpy
    import pandas

ROWS_SHOWN = 20  # in a notebook
COLUMNS_SHOWN = ("step_time_s", "samples_per_s", "speedup", "efficiency", "train_loss", "test_loss", "test_accuracy",
                 "time_to_target_s")


@dataclass(frozen=True, eq=False)
class Point:
    """One run of a study.

    Attributes:
        number: its number in the study, from 0, as in results.csv.
        values: the name of its value on each axis, by the axis' path.
        scenario: the resolved scenario, as the engine has read it, without "sweep" and "title".
        outcome: "finished", "target", "time-limit", "diverged", ... (docs/results.md).
        details: more about the outcome; mostly empty.
        metrics: the numbers of its row in results.csv, by column: times in seconds, sizes in bytes. Columns that are
            empty there are missing here.
        wall_clock_s: seconds that the run took on this machine.
        events: events that were simulated.
        models: the models of the workers at the end, float64 of shape (workers, parameters), if they were asked for
            (``run(..., models=True)``) and the point trains; else None. Methods whose workers share one model have equal
            rows.
        tensors: the name and shape of each tensor of a model, in the order of its parameters.
    """

    number: int
    values: dict[str, str]
    scenario: dict[str, Any]
    outcome: str
    details: str = ""
    metrics: dict[str, float] = field(default_factory=dict)
    wall_clock_s: float = 0.0
    events: int = 0
    models: numpy.ndarray[Any, Any] | None = field(default=None, repr=False)
    tensors: tuple[tuple[str, tuple[int, ...]], ...] = field(default=(), repr=False)

    def model(self, worker: int = 0) -> dict[str, numpy.ndarray[Any, Any]]:
        """Returns the tensors of a worker's model by name, each float64 of its own shape.

        Raises LookupError if models were not kept: run the study with ``models=True``.
        """
        if self.models is None:
            raise LookupError(f"point {self.number} has no models; run the study with models=True, and train in it")
        worker = arguments.whole(worker, "worker", 0, len(self.models) - 1)
        made, begin = {}, 0
        for name, shape in self.tensors:
            size = 1
            for extent in shape:
                size *= extent
            made[name] = self.models[worker, begin:begin + size].reshape(shape)
            begin += size
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Point) and _same(vars(self), vars(other))

    def __hash__(self) -> int:
        return hash((self.number, self.outcome))


class Points(Sequence[Point]):
    """The points that were run, in the study's order. Each is read when it is asked for."""

    def __init__(self, rows: list[dict[str, str]], axes: Sequence[str],
                 more: Callable[[int], dict[str, Any]]) -> None:
        self._rows = [row for row in rows if row.get("job", "main") == "main"]
        self._axes = axes
        self._more = more

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Point: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Point]: ...
    def __getitem__(self, index: int | slice) -> Point | Sequence[Point]:
        if isinstance(index, slice):
            return [self._point(row) for row in self._rows[index]]
        return self._point(self._rows[index])

    def __iter__(self) -> Iterator[Point]:
        return (self._point(row) for row in self._rows)

    def __repr__(self) -> str:
        return f"<{len(self)} points>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Points) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash(len(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._rows, self._axes, self._details().__getitem__)

    def _details(self) -> dict[int, dict[str, Any]]:
        """Returns what there is to know of each point besides its row, read from the engine."""
        return {number: self._more(number) for number in (int(row["point"]) for row in self._rows)}

    def _point(self, row: dict[str, str]) -> Point:
        number = int(row["point"])
        metrics = {name: float(text) for name, text in row.items() if name in numbers() and text}
        values = {axis: unmarked(row[column_of(axis)]) for axis in self._axes if column_of(axis) in row}
        return Point(number=number, values=values, outcome=unmarked(row["outcome"]), metrics=metrics,
                     **self._more(number))


class Study:
    """What a study has given. `paceline.run` and `paceline.load` return it.

    A study can be pickled and copied, with its models: what is read again is equal, and all that a study can do it can do.

    Attributes:
        title: of the scenario.
        file: the name of the scenario; "scenario" if it was a dict or a text.
        axes: the path of each axis of the sweep, in order.
        size: the number of points of the whole study.
        complete: whether all of them were run.
        folder: the folder of results, or None.
        warnings: what there was to warn of.
        wall_clock_s: seconds that it took on this machine.
        points: the points that were run.
        table: the table for people, as `paceline run` prints it.
    """

    def __init__(self, *, title: str, file: str, axes: Sequence[str], size: int, complete: bool, folder: str | None,
                 warnings: Sequence[str], wall_clock_s: float, tables: dict[str, str],
                 more: Callable[[int], dict[str, Any]], manifest: Callable[[], str]) -> None:
        self.title = title
        self.file = file
        self.axes = tuple(axes)
        self.size = size
        self.complete = complete
        self.folder = folder
        self.warnings = tuple(warnings)
        self.wall_clock_s = wall_clock_s
        self._tables = tables  # name of a file: its text
        self._manifest = manifest
        self._more = more

    @property
    def table(self) -> str:
        return self._tables.get("table.txt", "")

    def _state(self) -> dict[str, Any]:
        """Returns all that the study is, as plain objects."""
        return {"title": self.title, "file": self.file, "axes": self.axes, "size": self.size, "complete": self.complete,
                "folder": self.folder, "warnings": self.warnings, "wall_clock_s": self.wall_clock_s, "tables": self._tables,
                "manifest": self._manifest(), "details": self.points._details()}  # noqa: SLF001

    def __reduce__(self) -> tuple[Any, ...]:
        return _study_from, (self._state(),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Study) and _same(self._state(), other._state())

    def __hash__(self) -> int:
        return hash(self._tables["results.csv"])

    @cached_property
    def points(self) -> Points:
        return Points(self._rows, self.axes, self._more)

    @cached_property
    def frame(self) -> pandas.DataFrame:
        """results.csv as a DataFrame: a row per point and job. Times in seconds, sizes in bytes; docs/results.md has all
        columns. Empty cells are NaN; point, nodes and devices are int64, other numbers float64. An axis is int64 or
        float64 if all its values are numbers, else text ("10Gbps")."""
        return frame_of(self._tables["results.csv"])

    @cached_property
    def timeline(self) -> pandas.DataFrame:
        """timeline.csv as a DataFrame: a row per evaluation of each point that trains. Without any it has no rows."""
        axes = [axis for axis in self.axes if column_of(axis) == axis]
        header = ",".join(["point", *axes, "algorithm", "nodes", *TIMELINE_COLUMNS])
        return frame_of(self._tables.get("timeline.csv", header + "\n"))

    @cached_property
    def summary(self) -> pandas.DataFrame:
        """summary.csv as a DataFrame: mean, standard deviation (of a sample) and count of each column over the seeds, as
        "<column>_mean", "_sd" and "_count". Without an axis "seed" it has no rows."""
        axes = [axis for axis in self.axes if column_of(axis) == axis and axis != "seed"]
        columns = [f"{name}_{what}" for name in _engine.columns() for what in ("mean", "sd", "count")]
        header = ",".join([*axes, "algorithm", "nodes", "points", *columns])
        return frame_of(self._tables.get("summary.csv", header + "\n"))

    @cached_property
    def comparisons(self) -> pandas.DataFrame:
        """comparisons.csv as a DataFrame: each point against each that differs from it in the method alone, with how many times
        as fast it is and the ends of that. Without intervals ("interval" in "measure") it has no rows."""
        header = "point,algorithm,against,against_algorithm,times_as_fast,times_as_fast_low,times_as_fast_high"
        return frame_of(self._tables.get("comparisons.csv", header + "\n"))

    def csv(self, name: str = "results") -> str:
        """Returns the text of "results", "timeline", "summary" or "comparisons", byte for byte the file of `paceline run`.

        Raises LookupError if this study has no such table.
        """
        table = f"{arguments.text(name, 'name')}.csv"
        if table not in self._tables:
            there = ", ".join(file[:-4] for file in self._tables if file.endswith(".csv"))
            raise LookupError(f"this study has no table \"{name}\"; it has: {there}")
        return self._tables[table]

    def plot(self, kind: str | None = None, *, save: str | os.PathLike[str] | None = None,
             **options: Any) -> matplotlib.figure.Figure:
        """Draws a figure as `paceline plot` does (docs/figures.md), and returns it.

        Args:
            kind: "speedup", "convergence", "bandwidth", "heatmap", "breakdown", "links" or "frontier"; None: the first that fits.
            save: also write it into this file (.svg, .png or .pdf), with the bytes of `paceline plot`.
            **options: those of `paceline plot`, by name: x, y, value, ratio (two algorithms), where and target (a text, a
                list of texts or a dict), panels (an axis or several), band ("sd", "ci", "minmax", "none"), scale ("linear",
                "log"), width ("single", "double"), title.

        Raises ScenarioError if this study cannot have the figure, with what would be right. Needs matplotlib.
        """
        from ._plots import draw

        return draw(self, None if kind is None else arguments.text(kind, "kind"),
                    None if save is None else arguments.path(save, "save"), options)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes the tables and the manifest into a folder, which `paceline plot` and `paceline.load` read.

        Replaces tables of these names. To keep finished points, too, name the folder in ``run(..., out=...)``.
        """
        folder = arguments.path(folder, "folder")
        os.makedirs(folder, exist_ok=True)
        files = {**self._tables, "manifest.json": self._manifest()}
        for name, text in files.items():
            path = os.path.join(folder, name)
            with open(path + ".tmp", "w", encoding="utf-8", newline="") as stream:
                stream.write(text)
            os.replace(path + ".tmp", path)
        for name in ("timeline.csv", "summary.csv", "comparisons.csv"):
            if name not in files and os.path.exists(os.path.join(folder, name)):
                os.remove(os.path.join(folder, name))

    def __repr__(self) -> str:
        done = f"{len(self.points)} points" if self.complete else f"{len(self.points)} of {self.size} points"
        return f"<paceline.Study {self.title!r}: {done}>"

    def _repr_html_(self) -> str:
        """Returns a table of the points for notebooks."""
        columns = self._columns_shown()
        head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
        body = "".join("<tr>" + "".join(f"<td>{_shown(name, row.get(name, ''))}</td>" for name in columns) + "</tr>"
                       for row in self._rows[:ROWS_SHOWN])
        left = len(self._rows) - ROWS_SHOWN
        note = f"<p>... and {left} more rows: <code>.frame</code></p>" if left > 0 else ""
        state = "" if self.complete else f" ({len(self.points)} of {self.size} points)"
        return (f"<p><b>{html.escape(self.title or self.file)}</b>{state}</p>"
                f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}")

    @cached_property
    def _rows(self) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self._tables["results.csv"], newline="")))

    def _columns_shown(self) -> list[str]:
        if not self._rows:
            return []
        names = list(self._rows[0])
        first = names[:names.index("outcome") + 1]
        return first + [name for name in COLUMNS_SHOWN if any(row[name] for row in self._rows)]


def study_of(ran: _engine.Results, read: _engine.Study, folder: str | None) -> Study:
    """Returns the results of the engine."""
    tables = {"results.csv": ran.results_csv(), "table.txt": ran.table()}
    for name, text in (("timeline.csv", ran.timeline_csv()), ("summary.csv", ran.summary_csv()),
                       ("comparisons.csv", ran.comparisons_csv())):
        if text is not None:
            tables[name] = text

    def more(number: int) -> dict[str, Any]:
        _, details, wall_clock_s, events = ran.point(number)
        tensors = tuple((name, tuple(shape)) for name, shape in ran.tensors(number))
        return {"details": details, "wall_clock_s": wall_clock_s, "events": events, "models": ran.models(number),
                "tensors": tensors, "scenario": json.loads(read.resolved(number))}

    return Study(title=read.title, file=read.file, axes=[path for path, _ in read.axes], size=read.points,
                 complete=ran.complete, folder=folder, warnings=[*read.warnings, *ran.warnings],
                 wall_clock_s=ran.wall_clock_s, tables=tables, more=more, manifest=cache(ran.manifest))


def _study_from(state: dict[str, Any]) -> Study:
    """Returns the study that a state describes."""
    manifest: str = state["manifest"]
    details: dict[int, dict[str, Any]] = state["details"]
    kept = {key: value for key, value in state.items() if key not in ("manifest", "details")}
    return Study(more=details.__getitem__, manifest=lambda: manifest, **kept)


def _same(one: Any, other: Any) -> bool:
    """Returns whether two values are equal; arrays of numpy are if all their elements are the same bits."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if hasattr(one, "tobytes") and hasattr(other, "tobytes"):
        return bool(one.shape == other.shape and one.tobytes() == other.tobytes())
    return hasattr(one, "tobytes") == hasattr(other, "tobytes") and bool(one == other)


def _shown(name: str, text: str) -> str:
    if name in numbers() and text:
        return f"{float(text):.5g}"
    return html.escape(unmarked(text))

"""The questions of the command line: check, explain, solve, calibrate, diagnose, list."""

from __future__ import annotations

import copy
import csv
import html
import io
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import _engine
from . import _arguments as arguments
from ._errors import ScenarioError
from ._progress import answer
from ._run import positive, read, warn
from ._scenario import Overrides, Picks, Scenario, read_input, settings_of


@dataclass(frozen=True)
class Check:
    """What would run. ``str()`` is the text of `paceline check`.

    Attributes:
        text: the points, closed forms of their steps, mixings, time and memory.
        warnings: what there is to warn of; docs/warnings.md says what to do.
    """

    text: str
    warnings: tuple[str, ...]

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


@dataclass(frozen=True)
class Explanation:
    """Where a step's time goes. ``str()`` is the text of `paceline explain`.

    Attributes:
        text: the page for people.
        data: the same as a structure, as `paceline explain --json` prints it (docs/explain.md); times in seconds.
        warnings: what there is to warn of.
    """

    text: str
    data: dict[str, Any] = field(repr=False)
    warnings: tuple[str, ...] = ()

    @property
    def step_time_s(self) -> float | None:
        """Seconds of a step; None if the point failed."""
        return self.data.get("step_time_s")

    @property
    def parts_s(self) -> dict[str, float]:
        """Seconds of a step by their cause; they sum to `step_time_s`. Empty if the point failed."""
        return dict(self.data.get("parts_s", {}))

    @property
    def verdict(self) -> str:
        """One line: what limits a step, and what would help most."""
        return str(self.data.get("verdict", ""))

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


@dataclass(frozen=True)
class Solution:
    """Where a result is what it should be. ``str()`` is the text of `paceline solve`.

    Attributes:
        text: the answers for people.
        data: the same as a structure, as `paceline solve --json` prints it (docs/how-to/solve.md).
        warnings: what there is to warn of.
    """

    text: str
    data: dict[str, Any] = field(repr=False)
    warnings: tuple[str, ...] = ()

    @property
    def answers(self) -> list[dict[str, Any]]:
        """Each crossing, jump, equality or hidden one, in ascending order; empty if there is none."""
        return list(self.data["answers"])

    @property
    def value(self) -> str | None:
        """The first answer, as scenarios write it ("3.2Gbps", 16); None if there is none."""
        at = self.answers[0].get("at") if self.answers else None
        return at.get("value") if isinstance(at, Mapping) else None

    @property
    def number(self) -> float | None:
        """The first answer in bits per second, seconds or bytes, or as it is; None if there is none."""
        at = self.answers[0].get("at") if self.answers else None
        return at.get("number") if isinstance(at, Mapping) else None

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


@dataclass(frozen=True)
class Calibration:
    """Constants of a cluster that explain what was measured. ``str()`` is the text of `paceline calibrate`.

    A scenario may have it in place of the file of a testbed: ``{"cluster": {"testbed": calibration, "nodes": 64}, ...}``.

    Attributes:
        text: rows before and after, constants, noise, and what the rows leave open, for people.
        data: the testbed, as `paceline calibrate --out` writes it.
        notes: what the measured files had besides.
    """

    text: str
    data: dict[str, Any] = field(repr=False)
    notes: tuple[str, ...] = ()

    @property
    def constants(self) -> list[dict[str, Any]]:
        """Each constant that was free: "path", "value", "low" and "high" of its interval, "low_is_open", "high_is_open", "range"."""
        return list(self.data["constants"])

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Each measured column of a row: "row", "column", "measured", "before" (or None), "fitted", "error", "misfit"."""
        return list(self.data["rows"])

    def testbed(self) -> dict[str, Any]:
        """Returns a copy of the testbed, which may be changed."""
        return copy.deepcopy(self.data)

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes the testbed into a file, which scenarios name as ``"cluster": {"testbed": ...}`` and `paceline plot` draws.

        Replaces a testbed of this name, and no other file: raises ScenarioError there.
        """
        name = arguments.path(file, "file")
        if os.path.exists(name) and not _is_testbed(name):
            raise arguments.refuse("file", name, "exists and is not a testbed written by paceline calibrate; name another")
        with open(name + ".tmp", "w", encoding="utf-8", newline="") as stream:
            stream.write(json.dumps(self.data, indent=2, ensure_ascii=False) + "\n")
        os.replace(name + ".tmp", name)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


@dataclass(frozen=True)
class Diagnosis:
    """Which single cause explains measured numbers. ``str()`` is the text of `paceline diagnose`.

    Attributes:
        text: the numbers, the causes, the measurement that tells them apart, and what helps, for people.
        data: the same as a structure, as `paceline diagnose --json` prints it (docs/how-to/diagnose.md).
    """

    text: str
    data: dict[str, Any] = field(repr=False)

    @property
    def answers(self) -> list[dict[str, Any]]:
        """What explains the numbers, the most plausible first: "name", "share", "either" (the causes, with the "patch" of the
        scenario that each of them is) and "advice". Empty if nothing does."""
        return list(self.data["answers"])

    @property
    def next(self) -> dict[str, Any] | None:
        """The measurement that would tell answers apart: "what", "measured" (as `measured` takes it, without the number),
        "expected" by answer. None if nothing that was tried tells."""
        found: dict[str, Any] | None = self.data["next"]
        return found

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


def _is_testbed(name: str) -> bool:
    try:
        with open(name, encoding="utf-8") as stream:
            there = json.load(stream)
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(there, dict) and "constants" in there and "cluster" in there


def check(scenario: Scenario, overrides: Overrides | None = None, *, pick: Picks = ()) -> Check:
    """Reads every point of a scenario, and says what would run. Runs nothing.

    Takes a scenario, overrides and picks as `paceline.run` does. Raises ScenarioError if something is wrong.
    """
    made = read_input(scenario, overrides, pick)
    try:
        text, _, warnings = answer(_engine.check(made.file, made.text, made.objects, made.settings, made.picks,
                                                 made.find))
    except ScenarioError as error:
        raise made.at_its_place(error) from None
    return Check(text, tuple(warnings))


def explain(scenario: Scenario, point: int | None = None, overrides: Overrides | None = None, *, pick: Picks = (),
            threads: int | None = None) -> Explanation:
    """Explains where the time of a step goes, by about ten short runs that each remove one cost more.

    Args:
        scenario, overrides, pick: as in `paceline.run`.
        point: the number of the point, as in results.csv; needed if there are several.
        threads: runs that go side by side. Default: the cores, at most 4.

    Raises ScenarioError.
    """
    runs = min(4, positive(None, "threads")) if threads is None else positive(threads, "threads")
    study = read(read_input(scenario, overrides, pick), 1)
    number_of_point = None if point is None else arguments.whole(point, "point", 0, study.points - 1)
    text, data, warnings = answer(_engine.explain(study, number_of_point, runs))
    return Explanation(text, json.loads(data), tuple(warnings))


def solve(scenario: Scenario, vary: str | Mapping[str, Sequence[Any]], find: str, equals: float | None = None, *,
          against: Overrides | None = None, times: float = 1.0, overrides: Overrides | None = None, pick: Picks = (),
          grid: int | None = None, scale: str | None = None, tolerance: float = 1e-4, jobs: int | None = None,
          threads: int | None = None, cache: str | os.PathLike[str] | None = None) -> Solution:
    """Finds the values of one quantity at which a result is what it should be.

    Args:
        scenario, overrides, pick: as in `paceline.run`; they leave one point.
        vary: the quantity and its range: ``{"cluster.fabric.link.bandwidth": ("1Gbps", "100Gbps")}``, or as a text
            "path=from..to".
        find: the column of results.csv to compare, such as "step_time_s" (seconds) or "speedup".
        equals: the number that it should be. Either this, or `against`.
        against: settings of another scenario, whose column it should equal, such as ``{"algorithm.kind": "dense"}``.
        times: so many times the other's column.
        grid: values looked at before bisection. Default: 25; whole numbers: all up to 200.
        scale: "log" or "linear". Default: log where a range above 0 spans a factor above 10.
        tolerance: how narrow bisection makes a bracket, relative.
        jobs, threads: as in `paceline.run`.
        cache: a folder for finished points, from which the next call takes them. Default: none.

    Raises ScenarioError.
    """
    asked: dict[str, Any] = {
        "vary": _range_of(vary, "vary"), "find": arguments.text(find, "find"),
        "equals": None if equals is None else arguments.number(equals, "equals"),
        "times": arguments.number(times, "times"),
        "grid": None if grid is None else arguments.whole(grid, "grid", 2, 100000),
        "scale": None if scale is None else arguments.choice(scale, "scale", ("log", "linear")),
        "tolerance": arguments.number(tolerance, "tolerance", 1e-12, 0.1)}
    pool = positive(jobs, "jobs"), positive(threads, "threads")
    kept_in = "" if cache is None else arguments.path(cache, "cache")
    made = read_input(scenario, overrides, pick)
    question = {**asked, "file": made.file, "settings": made.settings, "picks": made.picks,
                "against": settings_of(against, "against", made)}
    try:
        text, data, warnings = answer(_engine.solve(question, made.text, made.objects, *pool, kept_in, made.find))
    except ScenarioError as error:
        raise made.at_its_place(error) from None
    warn(warnings)
    return Solution(text, json.loads(data), tuple(warnings))


def calibrate(scenario: Scenario, rows: Any, free: str | Sequence[str] | Mapping[str, Sequence[Any]], *,
              overrides: Overrides | None = None, pick: Picks = (), level: float = 0.9, noise: float = 0.05,
              jobs: int | None = None) -> Calibration:
    """Fits constants of a scenario to what was measured, with intervals, as a testbed that scenarios can name.

    Args:
        scenario, overrides, pick: as in `paceline.run`. They say what the rows do not.
        rows: what was measured: a dict for each row, ``{"nodes": 8, "step_time_s": 0.214}``, or a DataFrame. Keys are
            columns of results.csv that were measured (in its units, or "214ms"), paths of the scenario, axes of its sweep,
            and "name". Or a path of a file: CSV, or the output of nccl-tests, OSU, iperf3 --json or torch.profiler. Or a
            list of such dicts and paths.
        free: the constants, each with its range: ``{"cluster.fabric.link.bandwidth": ("1Gbps", "40Gbps")}``, or as texts
            "path=from..to".
        level: of the intervals, from 0.5 to 0.999.
        noise: of a row, relative, where there are too few rows to tell.
        jobs: points that run side by side. Default: the cores.

    Raises ScenarioError.
    """
    asked: dict[str, Any] = {
        "rows": _measured(rows), "free": _ranges_of(free), "level": arguments.number(level, "level", 0.5, 0.999),
        "noise": arguments.number(noise, "noise", 1e-4, 1)}
    side_by_side = positive(jobs, "jobs")
    made = read_input(scenario, overrides, pick)
    question = {**asked, "file": made.file, "settings": made.settings, "picks": made.picks}
    today = time.strftime("%Y-%m-%d", time.gmtime())
    try:
        text, data, notes = answer(_engine.calibrate(question, made.text, made.objects, side_by_side, today,
                                                  made.find))
    except ScenarioError as error:
        raise made.at_its_place(error) from None
    return Calibration(text, json.loads(data), tuple(notes))


def diagnose(scenario: Scenario, measured: str | Sequence[str], *, overrides: Overrides | None = None, pick: Picks = (),
             noise: float = 0.05, advise: bool = True, jobs: int | None = None) -> Diagnosis:
    """Tells which single cause explains measured numbers, what would tell causes apart, and what helps under each.

    Args:
        scenario, overrides, pick: as in `paceline.run`; they leave one point.
        measured: what was measured, a text for each number: "step=4s", "nodes=1:step=520ms", "throughput=120",
            "all-reduce=256MiB:nodes=2:step=1s" (docs/how-to/diagnose.md).
        noise: of a measured number, relative, from 0.001 to 0.5.
        advise: also simulate what helps.
        jobs: points that run side by side. Default: the cores.

    Raises ScenarioError.
    """
    asked: dict[str, Any] = {
        "measured": arguments.texts(measured, "measured"), "noise": arguments.number(noise, "noise", 1e-3, 0.5),
        "advise": arguments.flag(advise, "advise")}
    side_by_side = positive(jobs, "jobs")
    made = read_input(scenario, overrides, pick)
    question = {**asked, "file": made.file, "settings": made.settings, "picks": made.picks}
    try:
        text, data, _ = answer(_engine.diagnose(question, made.text, made.objects, side_by_side, made.find))
    except ScenarioError as error:
        raise made.at_its_place(error) from None
    return Diagnosis(text, json.loads(data))


def _measured(rows: Any) -> list[tuple[str, str | None]]:
    """Returns names of files and, for rows that are here, texts of CSV."""
    if isinstance(rows, (str, os.PathLike)):
        return [(arguments.path(rows, "rows"), None)]
    several = [rows] if isinstance(rows, Mapping) or _is_frame(rows) else rows
    if isinstance(several, (list, tuple)) and len(several) == 0:
        raise arguments.refuse("rows", rows, "empty; give a dict for each row, such as {\"nodes\": 8, \"step_time_s\": 0.214}")
    if not isinstance(several, (list, tuple)):
        raise arguments.refuse("rows", rows, "not a list of dicts, such as [{\"nodes\": 8, \"step_time_s\": 0.214}], "
                                                 "and not a path")
    files: list[tuple[str, str | None]] = []
    table: list[Mapping[str, Any]] = []
    for one in several:
        if _is_frame(one):
            table += one.astype(object).where(one.notna(), None).to_dict("records")
        elif isinstance(one, Mapping):
            table.append(one)
        else:
            files.append((arguments.path(one, "rows"), None))
    return [(f"rows[{i}]", _csv_of(row, f"rows[{i}]")) for i, row in enumerate(table)] + files


def _is_frame(value: Any) -> bool:
    return hasattr(value, "columns") and hasattr(value, "to_dict")


def _csv_of(row: Mapping[str, Any], place: str) -> str:
    """Returns a table of CSV of one row, whose first column is its name."""
    given = arguments.mapping(row, place, '{"nodes": 8, "step_time_s": 0.214}')
    name = _cell(given.get("name"), place).strip() or place
    if name.startswith("#"):
        raise arguments.refuse(place, name, "no name: \"#\" begins a comment")
    cells = {"name": name, **{key: _cell(cell, place) for key, cell in given.items() if key != "name" and cell is not None}}
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([list(cells), list(cells.values())])
    return stream.getvalue()


def _cell(value: Any, name: str) -> str:
    """Returns a cell as a row of a measured file has it; empty where there is None."""
    given = arguments.plain(value)
    if given is None:
        return ""
    if isinstance(given, bool):
        return "true" if given else "false"
    return arguments.text_or_number(given, name)


def _ranges_of(free: Any) -> list[str]:
    if isinstance(free, Mapping):
        return [_range_of({path: ends}, "free") for path, ends in free.items()]
    return arguments.texts(free, "free")


def _range_of(vary: Any, name: str) -> str:
    """Returns "path=from..to"."""
    if not isinstance(vary, Mapping):
        return arguments.text(vary, name)
    if len(vary) != 1:
        raise arguments.refuse(name, vary, "not one path with its range, such as {\"cluster.nodes\": (2, 64)}")
    where, ends = next(iter(vary.items()))
    if hasattr(ends, "tolist"):
        ends = ends.tolist()
    if not isinstance(ends, (tuple, list)) or len(ends) != 2:
        raise arguments.refuse(name, ends, "not the two ends of a range, such as (2, 64)")
    low, high = (arguments.text_or_number(one, name) for one in ends)
    return f"{arguments.text(where, name)}={low}..{high}"


def lists() -> dict[str, list[dict[str, Any]]]:
    """Returns what can be named in a scenario, by kind: "algorithms", "codecs", "aggregations", "fabrics", "profiles", ...

    Each entry has a "name" and, where there are any, a "summary" and "keys".
    """
    return _engine.lists()


def list_text(name: str = "") -> str:
    """Returns a list as `paceline list` prints it, or all of them."""
    return _engine.list_text(arguments.choice(name, "name", ("", *_engine.list_names())))


def schema() -> dict[str, Any]:
    """Returns the JSON schema of scenarios: every key with its description, range and default."""
    made: dict[str, Any] = json.loads(_engine.schema())
    return made

"""The questions of the command line: check, explain, solve, list."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import _engine
from ._errors import ScenarioError
from ._progress import answer
from ._run import positive, read, warn
from ._scenario import Overrides, Picks, Scenario, read_input, settings_of


@dataclass(frozen=True)
class Check:
    """What would run. ``str()`` is the text of `paceline check`.

    Attributes:
        text: the points, closed forms of their steps, mixings, time and memory.
        warnings: what there is to warn of; docs/warnings.md tells what to do.
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


def check(scenario: Scenario, overrides: Overrides | None = None, *, pick: Picks = ()) -> Check:
    """Reads every point of a scenario, and says what would run. Runs nothing.

    Takes a scenario, overrides and picks as `paceline.run` does. Raises ScenarioError if something is wrong.
    """
    made = read_input(scenario, overrides, pick)
    try:
        text, _, warnings = answer(_engine.check(made.file, made.text, made.objects, made.settings, made.picks))
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
    if point is not None and (isinstance(point, bool) or not isinstance(point, int) or point < 0):
        raise ScenarioError(f"point: {point!r} is no number of a point; they count from 0", "point")
    study = read(read_input(scenario, overrides, pick), 1)
    text, data, warnings = answer(_engine.explain(study, point, runs))
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
        find: the column of results.csv to look at, such as "step_time_s" (seconds) or "speedup".
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
    if isinstance(vary, Mapping):
        if len(vary) != 1 or not all(isinstance(ends, (tuple, list)) and len(ends) == 2 for ends in vary.values()):
            raise ScenarioError("vary: is one path with its range, such as {\"cluster.nodes\": (2, 64)}", "vary")
        path, (low, high) = next(iter(vary.items()))
        vary = f"{path}={low}..{high}"
    if scale not in (None, "log", "linear"):
        raise ScenarioError(f"scale: {scale!r} is neither \"log\" nor \"linear\"", "scale")
    if not 1e-12 <= tolerance <= 0.1:
        raise ScenarioError(f"tolerance: {tolerance!r} is not a number from 1e-12 to 0.1", "tolerance")
    if grid is not None and not 2 <= grid <= 100000:
        raise ScenarioError(f"grid: {grid!r} is not a whole number from 2 to 100000", "grid")
    made = read_input(scenario, overrides, pick)
    question = {"file": made.file, "settings": made.settings, "picks": made.picks, "vary": vary, "find": find,
                "equals": equals, "against": settings_of(against, made), "times": times, "grid": grid, "scale": scale,
                "tolerance": tolerance}
    pool = positive(jobs, "jobs"), positive(threads, "threads")
    try:
        text, data, warnings = answer(_engine.solve(question, made.text, made.objects, *pool,
                                                    "" if cache is None else os.fspath(cache)))
    except ScenarioError as error:
        raise made.at_its_place(error) from None
    warn(warnings)
    return Solution(text, json.loads(data), tuple(warnings))


def lists() -> dict[str, list[dict[str, Any]]]:
    """Returns what can be named in a scenario: by kind ("algorithms", "fabrics", "profiles", ...), the entries with
    "name" and, where there are any, "summary" and "keys"."""
    return _engine.lists()


def list_text(name: str = "") -> str:
    """Returns a list as `paceline list` prints it, or all of them."""
    known = _engine.list_names()
    if name and name not in known:
        raise ScenarioError(f"\"{name}\" is not a list; known: {', '.join(known)}", "list")
    return _engine.list_text(name)


def schema() -> dict[str, Any]:
    """Returns the JSON schema of scenarios: every key with its description, range and default."""
    made: dict[str, Any] = json.loads(_engine.schema())
    return made

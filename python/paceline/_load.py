"""Reads results that `paceline run` or `paceline.run` has left in a folder."""

from __future__ import annotations

import csv
import io
import json
import os
from typing import Any

from . import _arguments as arguments
from ._errors import ScenarioError
from ._frames import numbers
from ._study import Study


def load(folder: str | os.PathLike[str]) -> Study:
    """Returns the results that `paceline run` or `paceline.run` has left in a folder.

    Raises ScenarioError if there are none.
    """
    path = arguments.path(folder, "folder")
    if not os.path.isdir(path):
        raise ScenarioError(f"{path}: no such folder; name one that paceline run has written", path)
    texts = {name: _text_in(path, name)
             for name in ("results.csv", "timeline.csv", "summary.csv", "comparisons.csv", "table.txt", "manifest.json")}
    if texts["results.csv"] is None:
        raise ScenarioError(f"{path}: has no results.csv; name a folder that paceline run has written", path)
    manifest = _manifest_in(texts["manifest.json"], path)
    for name, text in texts.items():
        if name.endswith(".csv") and text is not None:
            _check_table(text, f"{path}/{name}", path)
    header = next(csv.reader(io.StringIO(texts["results.csv"])))
    if "outcome" not in header or header[0] != "point":
        raise ScenarioError(f"{path}/results.csv: is not of paceline", path)
    axes = [name for name in header[1:header.index("outcome")] if name not in ("job", "algorithm", "nodes")]
    points = {point["point"]: point for point in manifest.get("points", [])}
    size = len(points) or max(texts["results.csv"].count("\n") - 1, 0)

    def more(number: int) -> dict[str, Any]:
        point = points.get(number, {})
        return {"details": point.get("details", ""), "wall_clock_s": point.get("wall_clock_s", 0.0),
                "events": point.get("events", 0), "scenario": point.get("scenario", {})}

    tables = {name: text for name, text in texts.items() if text is not None and name != "manifest.json"}
    swept = _swept(points.values())
    return Study(title=manifest.get("title", ""), file=manifest.get("scenario", path), axes=[*axes, *swept], size=size,
                 complete=bool(manifest.get("complete", True)), folder=path, warnings=(),
                 wall_clock_s=manifest.get("wall_clock_s", 0.0), tables=tables, more=more,
                 manifest=lambda: texts["manifest.json"] or "{}")


def _swept(points: Any) -> list[str]:
    """Returns the axes that share a column with what every row has: cluster.nodes and algorithm, if they vary."""
    swept = []
    scenarios = [point.get("scenario", {}) for point in points]
    for path in ("cluster.nodes", "algorithm"):
        values = set()
        for scenario in scenarios:
            at: Any = scenario
            for key in path.split("."):
                at = at.get(key, {}) if isinstance(at, dict) else {}
            values.add(json.dumps(at))
        if len(values) > 1:
            swept.append(path)
    return swept


def _check_table(text: str, file: str, folder: str) -> None:
    """Raises ScenarioError unless every row of a table has the cells of its header, and its numbers are numbers."""
    def refuse(row: int, problem: str) -> ScenarioError:
        return ScenarioError(f"{file}: row {row} {problem}; run the study again", folder)

    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        raise ScenarioError(f"{file}: cannot be read: {error}", folder) from None
    if not rows:
        raise ScenarioError(f"{file}: is empty; run the study again", folder)
    header = rows[0]
    whole = [header.index(name) for name in ("point", "nodes", "devices", "points") if name in header]
    others = [i for i, name in enumerate(header) if name in numbers()]
    for number, row in enumerate(rows[1:], 1):
        if len(row) != len(header):
            raise refuse(number, f"has {len(row)} cells; the header has {len(header)}")
        for i in (*whole, *others):
            if not _is_number(row[i], i in whole):
                raise refuse(number, f"has \"{row[i][:40]}\" as {header[i]}, which is not a {'whole ' * (i in whole)}number")


def _is_number(text: str, whole: bool) -> bool:
    if whole:
        return text.isascii() and text.isdigit() and len(text) <= 18
    try:
        float(text or "0")
    except ValueError:
        return False
    return True


def _text_in(folder: str, name: str) -> str | None:
    try:
        with open(os.path.join(folder, name), encoding="utf-8-sig", newline="") as stream:
            return stream.read()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{folder}/{name}: cannot be read: {error}", folder) from None


def _manifest_in(text: str | None, folder: str) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        manifest = json.loads(text)
    except ValueError as error:
        raise ScenarioError(f"{folder}/manifest.json: is not JSON: {error}", folder) from None
    if not isinstance(manifest, dict) or manifest.get("program") != "paceline":
        raise ScenarioError(f"{folder}/manifest.json: is not a manifest of paceline", folder)
    points = manifest.get("points", [])
    if not isinstance(points, list) or not all(isinstance(one, dict) and isinstance(one.get("point"), int) and
                                               isinstance(one.get("scenario", {}), dict) for one in points):
        raise ScenarioError(f"{folder}/manifest.json: has no list of points as paceline writes it", folder)
    return manifest

"""Reads the results folder of a study for the figures: points, axes, lines.

An axis is what the study sweeps. Its values are texts as in results.csv: a quantity with a unit
("10Gbps"), a number, or a label. Points that differ only in the seed form one point of a figure,
with a mean and a band (bands.py).

A job besides the main one has rows of its own. They differ also in what the main job runs, so these
studies have an axis "beside": the main job's algorithm, empty for the main job itself.
"""

import csv
import json
import os
import re
from collections import Counter
from dataclasses import dataclass, field

from .bands import mean_and_band
from .quantities import number, quantity, value_text

# Outcomes of points that have results to show; analysis/measures/metrics.hpp lists the failures.
WHOLE = {"finished", "target", "time-limit", "diverged", "main-ended"}

AXIS_LABELS = {
    "nodes": "nodes",
    "cluster.devices": "devices",
    "cluster.fabric.link": "link",
    "cluster.fabric.link.bandwidth": "link bandwidth",
    "cluster.fabric.link.latency": "link latency",
    "cluster.fabric.link.preset": "link",
    "cluster.failures.mean_between": "mean time between failures of a node",
    "workload.batch": "batch of a worker",
}

# Axes whose labels are clear without the axis name: "AlexNet", but "stragglers: none".
SPEAK_FOR_THEMSELVES = {"algorithm", "beside", "cluster", "fabric", "kind", "link", "model", "preset", "profile",
                        "workload"}

COLUMN_LABELS = {
    "step_time_s": "time per step (s)",
    "model_step_time_s": "time per step, closed form (s)",
    "sim_time_s": "simulated time (s)",
    "time_to_target_s": "simulated time to the target (s)",
    "compute_s": "computing per step (s)",
    "exposed_comm_s": "exposed communication per step (s)",
    "speedup": "speedup over one worker (x)",
    "efficiency": "efficiency (speedup per worker)",
    "samples_per_s": "throughput (samples/s)",
    "tokens_per_s": "throughput (tokens/s)",
    "mfu": "model FLOPs utilization (share of the peak)",
    "cost": "cost (currency of price)",
    "cost_to_target": "cost to the target (currency of price)",
    "energy_kwh": "energy (kWh)",
    "energy_to_target_kwh": "energy to the target (kWh)",
    "device_hours": "device time (hours)",
    "goodput": "goodput (share of samples)",
    "memory_share": "memory (share of the device's)",
    "bytes_sent_per_node_per_step": "sent per node and step (bytes)",
    "bytes_received_per_node_per_step": "received per node and step (bytes)",
    "bytes_sent_per_node": "sent per node (bytes)",
    "train_loss": "training loss (mean per sample)",
    "test_loss": "test loss (mean per sample)",
    "test_accuracy": "test accuracy (%)",
    "relative_error": "relative error (ratio)",
    "consensus_distance": "consensus distance (norm)",
    "iteration": "steps (number)",
    "epoch": "epochs (number)",
}

# In these columns more is better; in all others, less.
MORE_IS_BETTER = {"speedup", "efficiency", "samples_per_s", "tokens_per_s", "mfu", "speedup_to_target", "test_accuracy",
                  "compression_ratio", "participation"}


class Misfit(Exception):
    """Raised when this study cannot have a figure; says why."""


class WrongInput(Exception):
    """Raised for a wrong folder, option or name; says what would be right."""


def axis_label(axis):
    return AXIS_LABELS.get(axis, axis.split(".")[-1].replace("_", " "))


def column_label(column):
    if column in COLUMN_LABELS:
        return COLUMN_LABELS[column]
    for suffix, unit in (("_s", "s"), ("_gb", "GB"), ("_share", "share of time")):
        if column.endswith(suffix):
            return f"{column[:-len(suffix)].replace('_', ' ')} ({unit})"
    return f"{column.replace('_', ' ')} (number)"


def point_text(axis, value):
    """Names a value together with its axis, for the head of a panel: "16 nodes", "batch 64"."""
    if axis in ("nodes", "cluster.devices"):
        one = axis_label(axis)[:-1] if value == "1" else axis_label(axis)
        return f"{value} {one}"
    kind = quantity(value)
    if kind is None and axis.split(".")[-1] not in SPEAK_FOR_THEMSELVES:
        return f"{axis_label(axis)}: {value}"
    if kind is None or kind[0] == "bandwidth":
        return value_text(value)
    return f"{axis_label(axis)} {value_text(value)}"


@dataclass
class Line:
    """One curve: for each x, the mean over the seeds and its band."""
    xs: list = field(default_factory=list)
    ys: list = field(default_factory=list)
    low: list = field(default_factory=list)
    high: list = field(default_factory=list)

    def has_band(self):
        return any(high > low for low, high in zip(self.low, self.high))


@dataclass
class Study:
    """The points that a figure draws, after --where."""
    folder: str
    title: str
    rows: list  # dicts of texts; only rows that have a step
    axes: list  # axes with more than one value, except the seed
    failed: Counter  # number of points left out, by outcome
    seeds: int
    timeline: dict  # point -> its rows, in order
    scenarios: dict  # point -> its resolved scenario
    band: str = "sd"  # of bands.BANDS
    comparisons: dict = field(default_factory=dict)  # two points -> the ends of "times as fast"

    def values(self, axis, rows=None):
        """Returns the values of an axis: quantities in ascending order, labels in the study's order."""
        seen = list(dict.fromkeys(row[axis] for row in (self.rows if rows is None else rows)))
        quantities = [quantity(text) for text in seen]
        if all(quantities) and len({kind for kind, _ in quantities}) == 1:
            return [text for _, text in sorted(zip(quantities, seen), key=lambda pair: pair[0])]
        return seen

    def kind(self, axis):
        """Returns the kind of an axis's values: bandwidth, time, size, number, or label."""
        kinds = {(quantity(row[axis]) or ("label",))[0] for row in self.rows}
        return kinds.pop() if len(kinds) == 1 else "label"

    def has(self, column):
        return any(number(row.get(column)) is not None for row in self.rows)

    def columns(self):
        """Returns the measured columns that hold at least one number."""
        names = list(self.rows[0])
        behind = names.index("outcome") + 1
        return [name for name in names[behind:] if self.has(name)]

    def ends(self, value):
        """Returns the columns with the ends of a column's interval, or None."""
        names = (f"{value}_low", f"{value}_high")
        return names if not callable(value) and all(name in self.rows[0] and self.has(name) for name in names) else None

    def line(self, rows, x, value, band=None):
        """Returns `value` (a column, or a function of a row) against `x` over these rows, with the study's band.

        Where the column has an interval, the band reaches over it, too."""
        of_row = value if callable(value) else lambda row: number(row[value])
        ends = self.ends(value) if band is None else None
        at = {}
        for row in rows:
            y = of_row(row)
            if y is not None:
                bounds = [number(row[end]) for end in ends] if ends else [y, y]
                at.setdefault(quantity(row[x])[1], []).append((y, *(y if b is None else b for b in bounds)))
        line = Line()
        for position in sorted(at):
            ys, lows, highs = zip(*at[position])
            mean, low, high = mean_and_band(ys, band or self.band)
            line.xs.append(position)
            line.ys.append(mean)
            line.low.append(min(low, sum(lows) / len(lows)) if ends else low)
            line.high.append(max(high, sum(highs) / len(highs)) if ends else high)
        return line


def select(rows, choice):
    """Returns the rows with these values on these axes; `choice` holds (axis, value) pairs."""
    return [row for row in rows if all(row[axis] == value for axis, value in choice)]


def read_csv(path):
    try:
        with open(path, newline="", encoding="utf-8-sig") as stream:  # as spreadsheets save it
            reader = csv.DictReader(stream, strict=True)
            rows = list(reader)
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise WrongInput(f"{path}: cannot be read: {error}") from error
    for i, row in enumerate(rows):
        if None in row or None in row.values():
            raise WrongInput(f"{path}: row {i + 1} does not have as many cells as the header; run the study again")
    return [{name: printable(unmarked(text)) for name, text in row.items()} for row in rows]


def unmarked(text):
    """Removes the apostrophe that keeps a spreadsheet from running a text as a formula (analysis/measures/csv.hpp)."""
    return re.sub(r"^'('*[=+\-@\t])", r"\1", text)


def note_figures(folder, names):
    """Adds figures to the list of those that the next run with other results removes, figures.txt."""
    path = os.path.join(folder, "figures.txt")
    if os.path.isfile(path):
        with open(path, encoding="utf-8", errors="replace") as stream:
            names = stream.read().splitlines() + names
    save_bytes(path, "".join(f"{name}\n" for name in sorted(set(names))).encode())


def save_bytes(path, content):
    """Writes a file under a new temporary name and then renames it. Throws WrongInput."""
    temporary = f"{path}.{os.urandom(8).hex()}.tmp"
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        try:
            with open(handle, "wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(temporary, path)
        except OSError:
            os.remove(temporary)
            raise
    except OSError as error:
        raise WrongInput(f"{path}: cannot be written: {error.strerror}; name a folder with --out") from error


def printable(text):
    """Removes line breaks and control characters, which a figure cannot show."""
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def shown(text):
    """Returns a text in one line, with control characters spelled out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in str(text))


def read_manifest(path):
    try:
        with open(path, encoding="utf-8") as stream:
            manifest = json.load(stream)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise WrongInput(f"{path}: cannot be read: {error}") from error
    if not isinstance(manifest, dict):
        raise WrongInput(f"{path}: is not a manifest of paceline")
    return manifest


def full_name(name, axes):
    """Returns the axis that a user means by its path, or by an ending of the path that no other axis shares."""
    if name == "cluster.nodes":
        return "nodes"
    ends = [axis for axis in axes if axis == name or axis.endswith("." + name)]
    if name in axes:
        return name
    if len(ends) == 1:
        return ends[0]
    raise WrongInput(f"no axis \"{name}\"; this study has: {', '.join(axes) or 'none'}")


def same_value(text, wanted):
    return text == wanted or (quantity(text) is not None and quantity(text) == quantity(wanted))


def keep_where(rows, axes, where):
    """Returns the rows that the "AXIS=VALUE" filters allow; several values of one axis are alternatives."""
    allowed = {}
    for condition in where:
        name, equals, value = condition.partition("=")
        if not equals:
            raise WrongInput(f"--where {condition}: is not AXIS=VALUE, such as nodes=64")
        axis = full_name(name, axes)
        if not any(same_value(row[axis], value) for row in rows):
            known = ", ".join(dict.fromkeys(row[axis] for row in rows))
            raise WrongInput(f"--where {condition}: no such value; {axis} has: {known}")
        allowed.setdefault(axis, []).append(value)
    return [row for row in rows
            if all(any(same_value(row[axis], value) for value in values) for axis, values in allowed.items())]


def varies(rows, axis):
    return len({row[axis] for row in rows}) > 1


def determines(rows, one, other):
    """Returns whether each value of `one` goes with a single value of `other`."""
    pairs = {(row[one], row[other]) for row in rows}
    return len(pairs) == len({value for value, _ in pairs})


def axes_that_count(rows, axes):
    """Returns the axes that vary, except those that another axis determines."""
    axes = [axis for axis in axes if axis != "seed" and varies(rows, axis)]
    if "nodes" in axes and any(axis.split(".")[0] in ("cluster", "job", "other_jobs") and
                               determines(rows, axis, "nodes") for axis in axes if axis != "nodes"):
        axes.remove("nodes")  # "cluster": "16 nodes, restart", and machines with devices
    return [axis for axis in axes
            if not (axis.startswith("algorithm.") and "algorithm" in axes and
                    determines(rows, axis, "algorithm") and determines(rows, "algorithm", axis))]


def name_neighbors(rows):
    """Adds "beside" to rows that have a "job": what the main job of the point runs, empty for the main job."""
    of_main = {row["point"]: row["algorithm"] for row in rows if row["job"] == "main"}
    for row in rows:
        main = of_main.get(row["point"], "")
        row["beside"] = "" if row["job"] == "main" else f"beside {main}"


def has_no_step(row):
    """Returns whether a run failed, or was cut before a step was complete: nothing of it can be drawn."""
    if row["outcome"] not in WHOLE:
        return True
    steps = number(row.get("iterations"))
    return (row["outcome"] not in ("finished", "target") and number(row.get("step_time_s")) is None
            and steps is not None and steps <= 1)


def read_study(folder, where=(), band="sd"):
    """Reads the folder that `paceline run` wrote. Throws WrongInput."""
    if not os.path.isdir(folder):
        raise WrongInput(f"{folder}: no such folder; name one that paceline run has written")
    path = os.path.join(folder, "results.csv")
    rows = read_csv(path)
    if rows is None:
        raise WrongInput(f"{folder}: has no results.csv; name a folder that paceline run has written")
    if not rows:
        raise WrongInput(f"{path}: has no points")
    names = list(rows[0])
    for name in ("point", "algorithm", "nodes", "outcome"):
        if name not in names:
            raise WrongInput(f"{path}: has no column \"{name}\"; is it results.csv of paceline run?")
    axes = names[1:names.index("outcome")]
    if "job" in axes:
        name_neighbors(rows)
        axes.append("beside")
    rows = keep_where(rows, axes, where)
    if not rows:
        raise WrongInput(f"{path}: no point matches --where {' --where '.join(where)}")
    failed = Counter(row["outcome"] for row in rows if has_no_step(row))
    rows = [row for row in rows if not has_no_step(row)]
    if not rows:
        told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(failed.items()))
        raise WrongInput(f"{path}: all points failed ({told}); there is nothing to draw")
    manifest = read_manifest(os.path.join(folder, "manifest.json"))
    scenarios = {str(point.get("point")): point.get("scenario", {}) for point in manifest.get("points", [])}
    points = {row["point"] for row in rows}
    timeline = {}
    for row in read_csv(os.path.join(folder, "timeline.csv")) or []:
        if row["point"] in points:
            timeline.setdefault(row["point"], []).append(row)
    comparisons = {}
    for row in read_csv(os.path.join(folder, "comparisons.csv")) or []:
        low, high = number(row["times_as_fast_low"]), number(row["times_as_fast_high"])
        comparisons[row["point"], row["against"]] = (low, high)
        comparisons[row["against"], row["point"]] = (1 / high, 1 / low)
    return Study(folder, printable(str(manifest.get("title") or "")), rows, axes_that_count(rows, axes), failed,
                 len({row["seed"] for row in rows}) if "seed" in axes else 1, timeline, scenarios, band, comparisons)

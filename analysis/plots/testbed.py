"""Draws a testbed of paceline calibrate: what was measured against what is predicted, and the constants that were fitted.

There is a panel for each measured column. A row on the diagonal is predicted exactly. Below are the constants, each
with its interval within the range that it was free in.
"""

import json
import math
import os
from dataclasses import dataclass

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from .common import AXIS_LABELS, WrongInput, column_label, printable
from .quantities import engineering, number, quantity
from .style import COLORS, IDEAL, MOST_PANELS, WIDTHS, Canvas, finish, log_scale, plain

USES = ("format", "out", "title", "width")  # the options that this figure has

MISFIT = COLORS[1]
MOST_NAMES = 8  # of rows that nothing explains, in a panel
LOOKED_FOR = "a testbed of paceline calibrate, which has \"constants\", \"rows\" and \"cluster\""


@dataclass
class Row:
    name: str
    column: str
    measured: float
    before: float | None
    fitted: float
    misfit: bool


@dataclass
class Constant:
    path: str
    kind: str  # of quantities.quantity
    value: float
    low: float
    high: float
    low_is_open: bool
    high_is_open: bool
    range: tuple

    def place(self, value):
        """Returns where a value is in the range: 0 at its beginning, 1 at its end."""
        begin, end = self.range
        way = math.log if begin > 0 else float
        return min(max((way(value) - way(begin)) / (way(end) - way(begin)), 0), 1) if value >= begin else 0


@dataclass
class Testbed:
    title: str
    date: str
    level: float
    noise: float
    noise_is_assumed: bool
    constants: list
    rows: list

    def texts(self):
        return [self.title, self.date, *(row.name for row in self.rows), *(row.column for row in self.rows),
                *(constant.path for constant in self.constants)]


def load(path):
    try:
        with open(path, encoding="utf-8") as stream:
            return json.load(stream)
    except OSError as error:
        raise WrongInput(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise WrongInput(f"{path}: is not JSON; a file to draw is {LOOKED_FOR}") from error


def text_at(value):
    return printable(value) if isinstance(value, str) else ""


def above_zero(row, name, place, optional=False):
    if optional and row.get(name) is None:
        return None
    value = None if isinstance(row.get(name), bool) else number(row.get(name))
    if value is None or value <= 0:
        raise WrongInput(f"{place}.{name}: is not a number above 0; calibrate again")
    return value


def read_row(row, place):
    if not isinstance(row, dict):
        raise WrongInput(f"{place}: is not an object; calibrate again")
    return Row(text_at(row.get("row")), text_at(row.get("column")), above_zero(row, "measured", place),
               above_zero(row, "before", place, optional=True), above_zero(row, "fitted", place),
               row.get("misfit") is True)


def read_constant(constant, place):
    """Returns a constant whose values are of one kind, in a range that is not empty. Throws WrongInput."""
    fields = constant if isinstance(constant, dict) else {}
    between = fields.get("range")
    between = between if isinstance(between, list) and len(between) == 2 else [None, None]
    read = [None if isinstance(text, bool) else quantity(str(text))
            for text in (fields.get("value"), fields.get("low"), fields.get("high"), *between)]
    if None in read or len({kind for kind, _ in read}) != 1 or not read[3][1] < read[4][1]:
        raise WrongInput(f"{place}: has no value, low, high and range of one unit; calibrate again")
    value, low, high, begin, end = (one for _, one in read)
    return Constant(text_at(fields.get("path")), read[0][0], value, low, high, fields.get("low_is_open") is True,
                    fields.get("high_is_open") is True, (begin, end))


def read_testbed(path):
    """Reads the file that `paceline calibrate --out` wrote. Throws WrongInput."""
    content = load(path)
    missing = [f"\"{name}\"" for name, kind in (("constants", list), ("rows", list), ("cluster", dict))
               if not isinstance(content, dict) or not isinstance(content.get(name), kind)]
    if missing:
        raise WrongInput(f"{path}: has no {', '.join(missing)}; a file to draw is {LOOKED_FOR}")
    rows = [read_row(row, f"{path}: rows[{i}]") for i, row in enumerate(content["rows"])]
    if not rows:
        raise WrongInput(f"{path}: has no rows; a file to draw is {LOOKED_FOR}")
    constants = [read_constant(one, f"{path}: constants[{i}]") for i, one in enumerate(content["constants"])]
    noise = content.get("noise") if isinstance(content.get("noise"), dict) else {}
    return Testbed(text_at(content.get("title")) or os.path.splitext(os.path.basename(path))[0],
                   text_at(content.get("date")), number(content.get("level")) or 0.9,
                   max(number(noise.get("share")) or 0, 0), noise.get("assumed") is True, constants, rows)


def by_column(rows):
    """Returns {column: its rows}, in the order of the file."""
    columns = {}
    for row in rows:
        columns.setdefault(row.column, []).append(row)
    if len(columns) > MOST_PANELS:
        raise WrongInput(f"{len(columns)} measured columns are too many (at most {MOST_PANELS})")
    return columns


def limits_of(rows):
    """Returns the ends of both axes, with room around all values: a factor of 3 or more."""
    values = [value for row in rows for value in (row.measured, row.before, row.fitted) if value]
    middle = math.sqrt(min(values)) * math.sqrt(max(values))
    room = max(math.sqrt(max(values) / min(values)) * 1.2, math.sqrt(3))
    return middle / room, middle * room


def log_ticks(panel, limits):
    decades = math.log10(limits[1] / limits[0])
    for which in "xy":
        log_scale(panel, which, 10, decades)
        if decades < 1.5:
            axis = getattr(panel, f"{which}axis")
            first, last = (math.floor(math.log10(limit)) for limit in limits)
            steps = (1, 1.5, 2, 3, 5, 7) if decades < 0.8 else (1, 2, 5)
            axis.set_major_locator(FixedLocator([float(f"{step}e{power}") for power in range(first, last + 1)
                                                 for step in steps]))
            axis.set_minor_locator(NullLocator())
            axis.set_major_formatter(FuncFormatter(plain))
        getattr(panel, f"set_{which}lim")(*limits)


def draw_noise(panel, made, testbed, limits):
    if testbed.noise > 0:
        low, high = ([limit * math.exp(sign * testbed.noise) for limit in limits] for sign in (-1, 1))
        band = panel.fill_between(limits, low, high, color="0.92", linewidth=0, zorder=0)
        assumed = ", assumed" if testbed.noise_is_assumed else ""
        made.add_to_legend(band, f"noise of a row ({100 * testbed.noise:.3g} %{assumed})")
    panel.plot(limits, limits, **IDEAL)


def name_misfits(panel, rows, limits):
    """Writes the names of the rows that nothing explains beside them, on the side where there is room."""
    rows = sorted(rows, key=lambda row: -abs(math.log(row.fitted / row.measured)))[:MOST_NAMES]
    for row in rows:
        right = row.measured > math.sqrt(limits[0]) * math.sqrt(limits[1])
        above = row.before is None or row.before < row.fitted  # where no line comes from
        panel.annotate(row.name, (row.measured, row.fitted), xytext=(3 if right else -3, 4 if above else -4),
                       va="bottom" if above else "top", textcoords="offset points", ha="right" if right else "left",
                       fontsize=6, color=MISFIT)


def draw_rows(panel, made, testbed, column, rows):
    limits = limits_of(rows)
    log_ticks(panel, limits)
    draw_noise(panel, made, testbed, limits)
    known = [row for row in rows if row.before is not None]
    for row in known:
        panel.plot([row.measured] * 2, [row.before, row.fitted], color="0.85", linewidth=0.6, zorder=2)
    looks = [("before", known, "before", {"marker": "o", "color": "0.6", "markerfacecolor": "white", "zorder": 3}),
             ("after", [row for row in rows if not row.misfit], "fitted",
              {"marker": "o", "color": COLORS[0], "zorder": 5}),
             ("after; nothing explains it", [row for row in rows if row.misfit], "fitted",
              {"marker": "X", "color": MISFIT, "markersize": 5, "zorder": 6})]
    for label, drawn, field, look in looks:
        if drawn:
            line, = panel.plot([row.measured for row in drawn], [getattr(row, field) for row in drawn],
                               linestyle="none", **look)
            made.add_to_legend(line, label)
    name_misfits(panel, looks[2][1], limits)
    panel.set_box_aspect(1)
    panel.set_xlabel(f"measured {column_label(column)}")
    panel.set_ylabel(f"predicted {column_label(column)}")


def end_of(panel, constant, which, y):
    """Draws an end of an interval: a cap, or where it is open an arrow out of the range."""
    value, is_open = getattr(constant, which), getattr(constant, f"{which}_is_open")
    if is_open:
        at, out = (0, -0.035) if which == "low" else (1, 0.035)
        panel.annotate("", (at + out, y), xytext=(at, y), annotation_clip=False,
                       arrowprops={"arrowstyle": "-|>", "color": COLORS[0], "linewidth": 1.6, "shrinkA": 0,
                                   "shrinkB": 0, "mutation_scale": 7})
    else:
        panel.plot([constant.place(value)], [y], marker="|", color=COLORS[0], markersize=6, zorder=3)


def interval_text(constant):
    """Returns "6.77 Gbps", with what of its interval is inside of the range."""
    def said(value):
        return engineering(constant.kind, value)
    if constant.low_is_open and constant.high_is_open:
        told = "left open"
    elif constant.low_is_open:
        told = f"at most {said(constant.high)}"
    elif constant.high_is_open:
        told = f"at least {said(constant.low)}"
    else:
        told = f"{said(constant.low)} to {said(constant.high)}"
    return f"{said(constant.value)} ({told})"


def draw_constants(panel, testbed):
    """Draws the constants below each other, each in its own range."""
    for y, constant in enumerate(testbed.constants):
        panel.plot([0, 1], [y, y], color="0.8", linewidth=0.8, zorder=1)
        low = 0 if constant.low_is_open else constant.place(constant.low)
        high = 1 if constant.high_is_open else constant.place(constant.high)
        panel.plot([low, high], [y, y], color=COLORS[0], linewidth=1.6, zorder=2, solid_capstyle="butt")
        for which in ("low", "high"):
            end_of(panel, constant, which, y)
        panel.plot([constant.place(constant.value)], [y], marker="o", color=COLORS[0], zorder=4)
        label = AXIS_LABELS.get(constant.path, constant.path)
        panel.text(0, y - 0.22, f"{label}: {interval_text(constant)}", ha="left", va="bottom", fontsize=6)
        for value, side in zip(constant.range, ("left", "right")):
            panel.text(0 if side == "left" else 1, y + 0.16, engineering(constant.kind, value), ha=side, va="top",
                       fontsize=5.5, color="0.45")
    panel.set_xlim(-0.06, 1.06)
    panel.set_ylim(len(testbed.constants) - 0.4, -0.65)
    panel.grid(False)
    panel.set_xticks([])
    panel.set_yticks([])
    for spine in panel.spines.values():
        spine.set_visible(False)


def notes_of(testbed):
    """Returns what to say below the figure."""
    def median(errors):
        errors = sorted(errors)
        half = len(errors) // 2
        return errors[half] if len(errors) % 2 else (errors[half - 1] + errors[half]) / 2
    before = [abs(row.before / row.measured - 1) for row in testbed.rows if row.before is not None]
    after = [abs(row.fitted / row.measured - 1) for row in testbed.rows]
    told = f"median error {100 * median(after):.3g} %"
    if len(before) == len(after):
        told = f"median error {100 * median(before):.3g} % before, {100 * median(after):.3g} % after"
    ends = "; arrows: the measurements leave that end open" if any(
        one.low_is_open or one.high_is_open for one in testbed.constants) else ""
    intervals = f"; bars: {100 * testbed.level:.3g} % intervals within the range of a constant{ends}"
    date = f"calibrated {testbed.date}: " if testbed.date else ""
    return [f"{date}{told}{intervals if testbed.constants else ''}"]


def begin_canvas(testbed, options, count):
    """Returns a canvas with a panel for each column, and one over the whole width for the constants."""
    columns = min(count, 3)
    rows = -(-count // columns)
    width = WIDTHS[options.width or ("double" if columns > 1 else "single")]
    heights = [min(width / columns, 3.0)] * rows
    if testbed.constants:
        heights.append(0.1 + 0.36 * len(testbed.constants))
    figure = Figure(figsize=(width, sum(heights)))
    FigureCanvasAgg(figure)  # measures texts
    grid = figure.add_gridspec(len(heights), columns, height_ratios=heights)
    panels = [figure.add_subplot(grid[i // columns, i % columns]) for i in range(count)]
    if testbed.constants:
        panels.append(figure.add_subplot(grid[rows, :]))
    title = testbed.title if options.title is None else options.title
    return Canvas(figure, panels, width, title, height=sum(heights))


def draw(testbed, options):
    columns = by_column(testbed.rows)
    made = begin_canvas(testbed, options, len(columns))
    for panel, (column, rows) in zip(made.panels, columns.items()):
        draw_rows(panel, made, testbed, column, rows)
    if testbed.constants:
        draw_constants(made.panels[-1], testbed)
    made.notes += notes_of(testbed)
    return finish(made)

"""Draws a column over two quantities, such as nodes and bandwidth, as a map with its values in the cells.

With --ratio A B the map shows A's value divided by B's, for two algorithms. If the study has intervals, a cell begins with
"≈" where it is not sure which of the two is faster.
"""

import math

from matplotlib.colors import LogNorm, Normalize

from .common import Misfit, WrongInput, axis_label, column_label, full_name, select
from .quantities import in_one_unit, number
from .style import canvas, finish, head, lay_out, short

ABOUT = "a column (speedup) over nodes and bandwidth, or the ratio of two algorithms (--ratio)"
USES = ("x", "y", "value", "ratio")  # its own options

MOST_CELLS = 14  # along one axis


def quantities(study):
    return [axis for axis in study.axes if study.kind(axis) != "label"]


def across(study, options):
    """Returns the axes along x and y; either is None if no axis of the study fits."""
    known = quantities(study)
    x = full_name(options.x, study.axes) if options.x else None
    y = full_name(options.y, study.axes) if options.y else None
    if y is None:
        y = next((axis for axis in ("cluster.devices", "nodes") if axis in known and axis != x), None)
    if x is None:
        rest = [axis for axis in known if axis != y]
        of_bandwidth = [axis for axis in rest if study.kind(axis) == "bandwidth"]
        x = next(iter(of_bandwidth or rest), None)
    return x, y


def misfit(study, options):
    x, y = across(study, options)
    if x is None or y is None or x == y:
        return ("it needs two swept quantities, such as cluster.nodes and a bandwidth; this study has: "
                f"{', '.join(quantities(study)) or 'none'}; choose with --x and --y")
    for axis in (x, y):
        count = len(study.values(axis))
        if count > MOST_CELLS:
            return f"{axis} has {count} values, more than {MOST_CELLS}; choose some with --where"
        if not options.chosen and count < 3:
            return f"{axis} has only {count} values, too few to draw by default"
    value = options.value or "speedup"
    if value not in study.columns():
        return f"no column {value} with numbers; this study has: {', '.join(study.columns())}"
    return None


def ratio_of(study, options):
    """Returns the two algorithms of --ratio, or None."""
    for name in options.ratio or []:
        if name not in {row["algorithm"] for row in study.rows}:
            known = ", ".join(study.values("algorithm"))
            raise WrongInput(f"--ratio: no algorithm \"{name}\"; this study has: {known}")
    return options.ratio


def cell_value(rows, value):
    """Returns the mean over the seeds, or None."""
    values = [number(row[value]) for row in rows]
    values = [v for v in values if v is not None]
    return sum(values) / len(values) if values else None


def table(study, rows, x, y, value, ratio):
    """Returns the values by [y][x], None where there is none."""
    def at(x_value, y_value):
        here = select(rows, [(x, x_value), (y, y_value)])
        if not ratio:
            return cell_value(here, value)
        one, other = (cell_value(select(here, [("algorithm", name)]), value) for name in ratio)
        return one / other if one is not None and other else None
    return [[at(x_value, y_value) for x_value in study.values(x)] for y_value in study.values(y)]


def unsure_cells(study, rows, x, y, ratio):
    """Returns the places [(i, j)] of cells where the interval of "times as fast" contains 1, as a mean over the seeds."""
    found = set()
    for j, y_value in enumerate(study.values(y)):
        for i, x_value in enumerate(study.values(x)):
            here = select(rows, [(x, x_value), (y, y_value)])
            mine, theirs = ([row["point"] for row in select(here, [("algorithm", name)])] for name in ratio)
            ends = [study.comparisons[a, b] for a in mine for b in theirs if (a, b) in study.comparisons]
            if ends and sum(low for low, _ in ends) <= len(ends) <= sum(high for _, high in ends):
                found.add((i, j))
    return found


def scale_of(tables):
    """Returns a color scale from the least to the largest value, logarithmic if they span a decade or more."""
    values = [v for rows in tables for row in rows for v in row if v is not None]
    least, largest = min(values), max(values)
    if least > 0 and largest >= 10 * least:
        return LogNorm(least, largest)
    return Normalize(least, largest if largest > least else least + 1)


def draw_panel(panel, rows, norm, unsure):
    shown = [[math.nan if v is None else v for v in row] for row in rows]
    image = panel.imshow(shown, norm=norm, cmap="cividis", aspect="auto", origin="lower", interpolation="nearest")
    for j, row in enumerate(rows):
        for i, value in enumerate(row):
            dark = value is not None and norm(value) < 0.55
            text = "-" if value is None else short(value)
            panel.text(i, j, f"≈{text}" if (i, j) in unsure else text, ha="center", va="center", fontsize=6,
                       color="white" if dark else "black")
    panel.grid(False)
    return image


def draw(study, options):
    reason = misfit(study, options)
    if reason:
        raise Misfit(reason)
    (x, y), value, ratio = across(study, options), options.value or "speedup", ratio_of(study, options)
    layout = lay_out(study, options, [x, y, "algorithm"] if ratio else [x, y], lines=[])
    tables = [table(study, select(study.rows, choice), x, y, value, ratio) for choice in layout.panels]
    unsure = [unsure_cells(study, select(study.rows, choice), x, y, ratio) if ratio else set() for choice in layout.panels]
    made = canvas(study, options, len(layout.panels), layout.columns, lines=1,
                  heights=max(1.5, 0.6 + 0.2 * len(study.values(y))))
    norm = scale_of(tables)
    (x_unit, x_texts), (y_unit, y_texts) = in_one_unit(study.values(x)), in_one_unit(study.values(y))
    for panel, rows, cells in zip(made.panels, tables, unsure):
        draw_panel(panel, rows, norm, cells)
        panel.set_xticks(range(len(x_texts)), x_texts)
        panel.set_yticks(range(len(y_texts)), y_texts)
        panel.tick_params(length=0)
        for spine in panel.spines.values():
            spine.set_visible(False)
    head(made, layout, study, f"{axis_label(x)} ({x_unit})", f"{axis_label(y)} ({y_unit})")
    what = column_label(value)
    made.notes.append(f"cells: {what}" + (f", {ratio[0]} divided by {ratio[1]}" if ratio else ""))
    if any(unsure):
        made.notes.append("≈: too close to call (90 % prediction interval)")
    return finish(made)

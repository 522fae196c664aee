"""Plots a column against a quantity of the scenario, such as the bandwidth, and marks the crossovers.

A mark shows where a different line becomes the best one. Between two points of the study, the step time is assumed
to be a + b / bandwidth (or a + b * latency, a + b * size), like the closed forms of steps, and a speedup to be
1 / (a + b / bandwidth); other columns are interpolated linearly in the logarithms of both axes. The lines are drawn
accordingly. A crossover is an estimate, written with "~": a step that hides its communication has a bend somewhere.
"""

import itertools
import math
from dataclasses import dataclass

from .common import MORE_IS_BETTER, Misfit, axis_label, column_label, full_name, select
from .quantities import engineering, in_one_unit, quantity
from .style import (canvas, draw_target, finish, head, lay_out, line_style, log_scale, name_of, scale_values, targets,
                    ticks_at)

ABOUT = "a column (step time) against bandwidth or another quantity, crossovers marked"
USES = ("x", "value", "scale", "target")  # its own options

SAME = 1e-9  # lines whose relative difference is smaller count as equal
TIMES = {"step_time_s", "model_step_time_s", "exposed_comm_s", "sim_time_s", "time_to_target_s"}
RATES = {"speedup", "efficiency", "samples_per_s", "speedup_to_target"}


def quantities(study):
    """Returns the axes that can lie along x: all values are positive and of one kind."""
    return [axis for axis in study.axes if study.kind(axis) != "label" and
            all(quantity(value)[1] > 0 for value in study.values(axis))]


def across(study, options):
    if options.x:
        return full_name(options.x, study.axes)
    of_bandwidth = [axis for axis in quantities(study) if study.kind(axis) == "bandwidth"]
    return max(of_bandwidth, key=lambda axis: len(study.values(axis)), default=None)


def misfit(study, options):
    x = across(study, options)
    others = ", ".join(quantities(study)) or "none"
    if x is None:
        return f"no bandwidth is swept; choose an axis with --x (this study has of quantities: {others})"
    if x not in quantities(study):
        return f"the values of {x} are not positive quantities of one kind; axes that are: {others}"
    if not options.chosen and len(study.values(x)) < 3:
        return f"{x} has only {len(study.values(x))} values, too few to draw by default"
    value = options.value or "step_time_s"
    if value not in study.columns():
        return f"no column {value} with numbers; this study has: {', '.join(study.columns())}"
    return None


@dataclass
class Straight:
    """Coordinates (u, v) in which lines are straight between points; less v is better."""
    u: object
    x: object  # the inverse of u
    v: object
    y: object  # the inverse of v


def straight(kind, value):
    if kind != "number" and value in TIMES | RATES:
        u = (lambda x: 1 / x) if kind == "bandwidth" else (lambda x: x)
        v = (lambda y: 1 / y) if value in RATES else (lambda y: y)
        return Straight(u, u, v, v)
    sign = -1 if value in MORE_IS_BETTER else 1
    return Straight(math.log, math.exp, lambda y: sign * math.log(y), lambda v: math.exp(sign * v))


def height(line, u, begin, end):
    """Returns the height of a straight piece at u, which lies between its ends."""
    part = (u - begin) / (end - begin)
    return (1 - part) * line[begin] + part * line[end]


def meeting(one, other, begin, end):
    """Returns where two straight pieces cross, as a list; empty if they only touch."""
    gaps = [one[u] - other[u] for u in (begin, end)]
    return [begin + (end - begin) * gaps[0] / (gaps[0] - gaps[1])] if gaps[0] * gaps[1] < 0 else []


def best_pieces(lines):
    """Returns (begin, end, best line, its heights there) for each piece between points and crossings."""
    best = None
    every = sorted({u for line in lines for u in line})
    for left, right in zip(every, every[1:]):
        there = [i for i, line in enumerate(lines) if left in line and right in line]
        places = {left, right}.union(*(meeting(lines[i], lines[j], left, right) for i in there for j in there if i < j))
        for begin, end in itertools.pairwise(sorted(places)):
            middle = {i: height(lines[i], (begin + end) / 2, left, right) for i in there}
            tied = [i for i in there if middle[i] <= min(middle.values()) + SAME * abs(min(middle.values()))]
            if tied:
                best = best if best in tied else tied[0]
                yield begin, end, best, [height(lines[best], u, left, right) for u in (begin, end)]


def crossovers(lines, shape):
    """Finds where the best of `lines` (dicts x -> y) changes, by ascending x.

    Returns a list of (x, y, line below x, line above x, whether x is a point of the study). Equal lines count as one.
    """
    points = {shape.u(x): x for line in lines for x in line}
    pieces = list(best_pieces([{shape.u(x): shape.v(y) for x, y in line.items()} for line in lines]))
    found = []
    for (_, end, before, ends), (begin, _, after, begins) in zip(pieces, pieces[1:]):
        meet = math.isclose(ends[1], begins[0], rel_tol=1e-6, abs_tol=1e-12)  # otherwise a line begins or ends here
        if end == begin and before != after and meet:
            found.append((points.get(end, shape.x(end)), shape.y(begins[0]), before, after, end in points))
    falling = len(points) > 1 and shape.u(max(points.values())) < shape.u(min(points.values()))
    return [(x, y, b, a, exact) for x, y, a, b, exact in reversed(found)] if falling else found


def curve(xs, ys, shape):
    """Returns the line through these points that is straight in `straight`, finely enough to look smooth."""
    fine_x, fine_y = list(xs[:1]), list(ys[:1])
    for (x0, y0), (x1, y1) in itertools.pairwise(zip(xs, ys)):
        ends = {shape.u(x0): shape.v(y0), shape.u(x1): shape.v(y1)}
        for step in range(1, 13):
            x = x0 * (x1 / x0) ** (step / 12) if step < 12 else x1
            fine_x.append(x)
            fine_y.append(shape.y(height(ends, shape.u(x), shape.u(x0), shape.u(x1))))
    return fine_x, fine_y


def mark(panel, kind, crossing, more_is_better):
    x, y, _, _, exact = crossing
    panel.plot([x], [y], marker="o", markersize=5.5, markerfacecolor="none", markeredgecolor="0.1", linestyle="none",
               zorder=6)
    panel.axvline(x, color="0.55", linewidth=0.6, linestyle=(0, (1, 2)), zorder=1)
    panel.annotate(("" if exact else "~") + engineering(kind, x), (x, 0.02 if more_is_better else 0.98),
                   xycoords=("data", "axes fraction"), xytext=(-1.5, 0), textcoords="offset points", rotation=90,
                   ha="right", va="bottom" if more_is_better else "top", fontsize=6, color="0.2")


def draw_panel(panel, made, study, choice, layout, x, value):
    rows = select(study.rows, choice)
    shape = straight(study.kind(x), value)
    lines, names = [], []
    for i, of_line in enumerate(layout.lines):
        line = study.line(select(rows, of_line), x, value)
        if not line.xs:
            continue
        positive = min(line.ys) > 0
        look = line_style(i)
        path = curve(line.xs, line.ys, shape) if positive else (line.xs, line.ys)
        drawn, = panel.plot(*path, **look, markevery=12 if positive else 1)
        made.add_to_legend(drawn, name_of(of_line, study) or "simulated")
        if line.has_band():
            panel.fill_between(line.xs, line.low, line.high, color=look["color"], alpha=0.2, linewidth=0)
        if positive:
            lines.append(dict(zip(line.xs, line.ys)))
            names.append(name_of(of_line, study))
    for crossing in crossovers(lines, shape):
        mark(panel, study.kind(x), crossing, value in MORE_IS_BETTER)
        made.marked.append((name_of(choice, study), crossing, names))


def describe(study, x, made):
    """Describes the crossovers in words, one line each."""
    for panel, (place, _, before, after, exact) in ((p, c) for p, c, _ in made.marked):
        names = next(n for p, c, n in made.marked if p == panel and c[0] == place)
        where = ("" if exact else "~") + engineering(study.kind(x), place)
        print(f"crossover{' at ' if panel else ''}{panel}: {where}: {names[before]} below, {names[after]} above")


def draw(study, options):
    reason = misfit(study, options)
    if reason:
        raise Misfit(reason)
    x, value = across(study, options), options.value or "step_time_s"
    layout = lay_out(study, options, [x])
    made = canvas(study, options, len(layout.panels), layout.columns, lines=len(layout.lines))
    made.marked = []
    positions = [quantity(text)[1] for text in study.values(x)]
    unit, numbers = in_one_unit(study.values(x))
    for panel, choice in zip(made.panels, layout.panels):
        draw_panel(panel, made, study, choice, layout, x, value)
        for aim in targets(options, value):
            draw_target(panel, made, aim, f"{aim:g}")
        if options.scale != "linear":
            log_scale(panel, "x", 10)
        ticks_at(panel.xaxis, positions, numbers, options.scale != "linear")
    scale_values(made.panels, options.scale, 10, 10)
    if made.marked:
        made.notes.append("circles: another line becomes the best; ~: an estimate, between points of the study")
    describe(study, x, made)
    head(made, layout, study, f"{axis_label(x)} ({unit})", column_label(value))
    return finish(made)

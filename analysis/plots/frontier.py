"""Plots two columns against each other, such as time and money, and marks the points that no other point beats in both.

A point of the frontier is one with no point of its panel that is as good in both columns and better in one. Points of
one line belong to the same algorithm (or what else makes lines), in the order of the study.
"""

from .common import MORE_IS_BETTER, Misfit, WrongInput, axis_label, column_label, point_text, select
from .quantities import number
from .style import canvas, finish, head, lay_out, line_style, name_of, scale_values

ABOUT = "a column (cost) against another (sim_time_s), and the points that no other beats in both"
USES = ("x", "value", "scale")  # its own options


def columns(study, options):
    """Returns the column along x, and the one along y."""
    known = study.columns()
    x = options.x or ("time_to_target_s" if "time_to_target_s" in known and options.value is None and
                      "cost_to_target" in known else "sim_time_s")
    y = options.value or next((name for name in ("cost_to_target", "cost", "energy_kwh") if name in known), "cost")
    return x, y


def along(study):
    """Returns the axis whose values lie on one line: the last that is not the algorithm, if there is one."""
    others = [axis for axis in study.axes if axis != "algorithm" and study.kind(axis) != "label"]
    return others[-1] if others else None


def misfit(study, options):
    for value in columns(study, options):
        if value not in study.columns():
            return (f"no column {value} with numbers; this study has: {', '.join(study.columns())}; choose with --x "
                    "and --value")
    if len(study.rows) < 2:
        return "it has one point, and a frontier needs several"
    return None


def points_of(rows, x, y):
    """Returns (x, y) of each row that has both."""
    pairs = [(number(row[x]), number(row[y])) for row in rows]
    return [pair for pair in pairs if None not in pair]


def frontier(points, signs=(1, 1)):
    """Returns the points that no other point beats, by ascending x. A sign of -1: more is better."""
    best, kept = None, []
    for a, b in sorted(set(points), key=lambda p: (signs[0] * p[0], signs[1] * p[1])):
        if best is None or signs[1] * b < best:
            best = signs[1] * b
            kept.append((a, b))
    return sorted(kept)


def draw_panel(panel, made, study, choice, layout, x, y):
    rows = select(study.rows, choice)
    everything = []
    for i, of_line in enumerate(layout.lines):
        points = points_of(select(rows, of_line), x, y)
        if not points:
            continue
        everything += points
        look = {**line_style(i), "linewidth": 0.7}
        drawn, = panel.plot(*zip(*points), **look)
        made.add_to_legend(drawn, name_of(of_line, study) or "simulated")
    signs = [-1 if name in MORE_IS_BETTER else 1 for name in (x, y)]
    best = frontier(everything, signs)
    if best:
        panel.plot(*zip(*best), marker="o", markersize=7, markerfacecolor="none", markeredgecolor="0.1",
                   linestyle="none", zorder=6)
    for row in rows:
        here = points_of([row], x, y)
        if here and here[0] in best:
            names = [row["algorithm"] if "algorithm" in study.axes else ""]
            if study.line_axis:
                names.append(point_text(study.line_axis, row[study.line_axis]))
            print(f"frontier: {', '.join(name for name in names if name)}: {x} {here[0][0]:.6g}, {y} {here[0][1]:.6g}")


def draw(study, options):
    reason = misfit(study, options)
    if reason:
        raise Misfit(reason)
    x, y = columns(study, options)
    if x == y:
        raise WrongInput(f"--x {x}: is also the column along y; choose another with --value")
    study.line_axis = along(study)
    layout = lay_out(study, options, [study.line_axis] if study.line_axis else [])
    made = canvas(study, options, len(layout.panels), layout.columns, lines=len(layout.lines))
    for panel, choice in zip(made.panels, layout.panels):
        draw_panel(panel, made, study, choice, layout, x, y)
    scale_values(made.panels, options.scale, 10, 10)
    made.notes.append("circles: no other point is better in both" +
                      (f"; lines go over {axis_label(study.line_axis)}" if study.line_axis else ""))
    head(made, layout, study, column_label(x), column_label(y))
    return finish(made)

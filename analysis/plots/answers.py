"""Draws what `paceline solve --out` has answered: a column against the varied quantity, and where it is what was asked for.

Each row of the question is a line through the points that the search has run; the marks are its answers.
"""

import os

from .common import Misfit, WrongInput, axis_label, column_label, read_csv
from .quantities import engineering, in_one_unit, number, quantity
from .style import canvas, draw_target, finish, head, lay_out, line_style, log_scale, name_of, scale_values, ticks_at

ABOUT = "a column against the quantity that paceline solve varied, with the answers marked (needs solve --out)"
USES = ("scale",)  # its own options

FIELDS = ("vary", "column", "target", "answer", "at", "number", "value", "what")
MARKED = ("crossing", "jump", "hidden", "equal")
LONGEST_TICK = 4  # characters; bisection looks at longer numbers, which stay without a tick


def file_of(study):
    return os.path.join(study.folder, "answers.csv")


def read_answers(study):
    """Returns the rows of answers.csv, and what was asked: the axis that varied, the column and the target. Throws WrongInput."""
    path = file_of(study)
    rows = read_csv(path)
    if not rows or not set(FIELDS) <= set(rows[0]):
        raise WrongInput(f"{path}: is not answers.csv of paceline solve; run it again with --out")
    for row in rows:  # results.csv calls this axis by its column
        if "cluster.nodes" in row:
            row["nodes"] = row.pop("cluster.nodes")
    varied = "nodes" if rows[0]["vary"] == "cluster.nodes" else rows[0]["vary"]
    return rows, varied, rows[0]["column"], number(rows[0]["target"])


def misfit(study, options):
    if not os.path.isfile(file_of(study)):
        return "it needs answers.csv, which paceline solve --out writes"
    _, varied, column, _ = read_answers(study)
    if varied not in study.axes or study.kind(varied) == "label":
        return f"{varied}, which was varied, has fewer than two values that are quantities here"
    if column not in study.columns():
        return f"no point has a {column}"
    return None


def answers_of(line, rows):
    """Returns the answers of a line: those with its values on the axes that answers.csv has."""
    return [row for row in rows if row["answer"] in MARKED and number(row["value"]) is not None and
            all(row[axis] == value for axis, value in line if axis in row)]


def draw_panel(panel, made, study, choice, layout, asked):
    rows, varied, column, target = asked
    for i, of_line in enumerate(layout.lines):
        chosen = choice + of_line
        of_choice = [row for row in study.rows if all(row[axis] == value for axis, value in chosen)]
        line = study.line(of_choice, varied, column)
        if not line.xs:
            continue
        look = line_style(i)
        drawn, = panel.plot(line.xs, line.ys, **look, markevery=max(1, len(line.xs) // 8))
        made.add_to_legend(drawn, name_of(of_line, study) or "simulated")
        for answer in answers_of(chosen, rows):
            x = quantity(answer["at"])[1]
            panel.plot([x], [number(answer["value"])], marker="o", markersize=6.5, markerfacecolor="none",
                       markeredgecolor=look["color"], linestyle="none", zorder=6)
            panel.axvline(x, color=look["color"], linewidth=0.6, linestyle=(0, (1, 2)), zorder=1)
            panel.annotate(engineering(study.kind(varied), x), (x, 0.02), xycoords=("data", "axes fraction"),
                           xytext=(-1.5, 0), textcoords="offset points", rotation=90, ha="right", va="bottom", fontsize=6,
                           color="0.2")
    if target is not None:
        draw_target(panel, made, target, f"{target:g}")


def is_logarithmic(positions):
    """Returns whether the search was: its points spread over decades rather than evenly."""
    return min(positions) > 0 and max(positions) > 10 * min(positions)


def draw(study, options):
    reason = misfit(study, options)
    if reason:
        raise Misfit(reason)
    asked = read_answers(study)
    _, varied, column, _ = asked
    layout = lay_out(study, options, [varied])
    made = canvas(study, options, len(layout.panels), layout.columns, lines=len(layout.lines))
    values = study.values(varied)
    positions = [quantity(text)[1] for text in values]
    unit, numbers = in_one_unit(values)
    ticks = [(place, text) for place, text in zip(positions, numbers) if len(text) <= LONGEST_TICK]
    log = is_logarithmic(positions) and options.scale != "linear"
    for panel, choice in zip(made.panels, layout.panels):
        draw_panel(panel, made, study, choice, layout, asked)
        if log:
            log_scale(panel, "x", 10)
        ticks_at(panel.xaxis, *zip(*(ticks or zip(positions, numbers))), log)
    scale_values(made.panels, options.scale, 10, 10)
    made.notes.append("circles: answers of paceline solve")
    head(made, layout, study, f"{axis_label(varied)} ({unit})", column_label(column))
    return finish(made)

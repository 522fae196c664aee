"""Plots the speedup (or another column) against the number of nodes: simulated, ideal, and by the closed form."""

from .common import Misfit, axis_label, column_label, select
from .quantities import number, quantity
from .style import (CLOSED_FORM, IDEAL, canvas, draw_target, finish, head, lay_out, line_style, log_scale, name_of,
                    scale_values, target_style, targets, ticks_at)

ABOUT = "speedup or another column against nodes, with the ideal line and the closed form"
USES = ("value", "scale", "target")  # its own options


def across(study):
    return "cluster.devices" if "cluster.devices" in study.axes else "nodes"


def misfit(study, options):
    if across(study) not in study.axes:
        return "the number of nodes does not vary; sweep cluster.nodes"
    if study.kind(across(study)) != "number":
        return f"the values of {across(study)} are not numbers"
    value = options.value or "speedup"
    if not options.value and not study.has(value):
        return "the column speedup is empty; name another with --value"
    if value not in study.columns():
        return f"no column {value} with numbers; this study has: {', '.join(study.columns())}"
    return None


def workers(row):
    """Returns the number of devices that train: the speedup divided by it is the efficiency."""
    speedup, efficiency = number(row.get("speedup")), number(row.get("efficiency"))
    return speedup / efficiency if speedup and efficiency else None


def closed_form(value):
    """Returns the column by the closed form of a step, as a function of a row, or None if there is no form."""
    def of_row(row):
        here, step, model = (number(row.get(name)) for name in (value, "step_time_s", "model_step_time_s"))
        if None in (here, step, model) or model <= 0:
            return None
        return model if value == "step_time_s" else here * step / model
    return of_row if value in ("speedup", "efficiency", "samples_per_s", "step_time_s") else lambda row: None


IDEAL_OF = {"speedup": workers, "efficiency": lambda row: 1.0 if workers(row) else None}


def draw_panel(panel, made, study, x, value, choice, layout):
    rows = select(study.rows, choice)
    ideal = study.line(rows, x, IDEAL_OF.get(value, lambda row: None), band="minmax")
    if ideal.xs and all(high - low < 1e-6 * high for low, high in zip(ideal.low, ideal.high)):
        made.add_to_legend(panel.plot(ideal.xs, ideal.ys, **IDEAL)[0], "ideal")
    for i, of_line in enumerate(layout.lines):
        mine = select(rows, of_line)
        line = study.line(mine, x, value)
        if not line.xs:
            continue
        drawn, = panel.plot(line.xs, line.ys, **line_style(i))
        made.add_to_legend(drawn, name_of(of_line, study) or "simulated")
        if line.has_band():
            panel.fill_between(line.xs, line.low, line.high, color=drawn.get_color(), alpha=0.2, linewidth=0)
        model = study.line(mine, x, closed_form(value))
        if model.xs:
            made.closed = panel.plot(model.xs, model.ys, **CLOSED_FORM)[0]


def draw_targets(panel, made, study, options, x, value, choice):
    """Draws lines at the targets; one of efficiency is a share of the ideal speedup."""
    for aim in targets(options, value):
        draw_target(panel, made, aim, f"{aim:g}")
    if value != "speedup":
        return
    ideal = study.line(select(study.rows, choice), x, workers)
    for aim in targets(options, "efficiency", drawn=False):
        label = f"target {100 * aim:g} % efficiency"
        made.add_to_legend(panel.plot(ideal.xs, [aim * y for y in ideal.ys], **target_style(made, label))[0], label)


def draw(study, options):
    reason = misfit(study, options)
    if reason:
        raise Misfit(reason)
    x, value = across(study), options.value or "speedup"
    layout = lay_out(study, options, [x])
    made = canvas(study, options, len(layout.panels), layout.columns, lines=len(layout.lines))
    made.closed = None
    values = [quantity(text)[1] for text in study.values(x)]
    scale = options.scale or ("log" if min(values) > 0 and max(values) >= 8 * min(values) else "linear")
    for panel, choice in zip(made.panels, layout.panels):
        draw_panel(panel, made, study, x, value, choice, layout)
        draw_targets(panel, made, study, options, x, value, choice)
        if scale == "log":
            log_scale(panel, "x", 2)
        ticks_at(panel.xaxis, values, study.values(x), scale == "log")
    if value == "speedup":  # like the nodes' axis, so that the ideal is a straight line
        scale_values(made.panels, scale, 2, 10)
    else:
        scale_values(made.panels, options.scale, 10, 10)
    if made.closed:
        made.add_to_legend(made.closed, "closed form")
    head(made, layout, study, f"{axis_label(x)} (number)", column_label(value))
    return finish(made)

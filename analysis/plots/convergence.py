"""Plots loss and accuracy against simulated time (or steps, epochs, bytes), with seeds as bands.

A line is the mean over the seeds with its band (bands.py). Seeds are evaluated at different times: each is
interpolated linearly between evaluations, and a line covers the times that all of its seeds cover. A run that
diverged ends at a cross. Other jobs do not train, so the figure has the main job alone.
"""

from dataclasses import replace

import numpy

from .bands import mean_and_band
from .common import Misfit, WrongInput, axes_that_count, column_label, select
from .quantities import UNITS, number
from .style import canvas, draw_target, finish, lay_out, line_style, name_of, scale_values, targets

ABOUT = "loss and accuracy against simulated time, seeds as bands, the target"
USES = ("x", "value", "scale", "target")  # its own options

METRICS = ["train_loss", "test_loss", "test_accuracy", "relative_error"]
ALONG = {"time": "sim_time_s", "iteration": "iteration", "epoch": "epoch", "bytes": "bytes_sent_per_node"}
TARGETS = {"train_loss": "target_loss", "test_loss": "target_test_loss", "test_accuracy": "target_accuracy"}


def cells(study, column):
    return [number(row.get(column)) for rows in study.timeline.values() for row in rows]


def metrics(study, options):
    """Returns the columns of timeline.csv that get a panel: those with at least two numbers."""
    if options.value:
        return [options.value]
    return [name for name in METRICS if sum(cell is not None for cell in cells(study, name)) > 1]


def misfit(study, options):
    if not study.timeline:
        return "there is no timeline.csv: nothing was trained"
    if options.x and options.x not in ALONG:
        return f"--x {options.x}: this kind is drawn along {', '.join(ALONG)}"
    for name in [ALONG[options.x or "time"]] + metrics(study, options):
        if not any(cell is not None for cell in cells(study, name)):
            return f"timeline.csv has nothing in column {name}"
    if not metrics(study, options):
        return "timeline.csv has neither losses nor an accuracy"
    if max(len(rows) for rows in study.timeline.values()) < 3:
        return "timeline.csv has fewer than three evaluations of each point; set measure.every"
    return None


def scale_of_time(study):
    """Returns the unit of simulated time that suits the longest run."""
    longest = max(cell or 0 for cell in cells(study, "sim_time_s"))
    for unit in ("d", "h", "min", "s", "ms"):
        if longest >= 2 * UNITS["time"][unit]:
            return unit, 1 / UNITS["time"][unit]
    return "us", 1e6


def curve(study, point, along, metric):
    """Returns the evaluations of one run that have both numbers, as arrays."""
    pairs = [(number(row[along]), number(row[metric])) for row in study.timeline.get(point, [])]
    pairs = [pair for pair in pairs if None not in pair]
    return numpy.array(sorted(dict(pairs).items())).reshape(-1, 2)


def over_seeds(curves, band="sd"):
    """Returns positions, means and the ends of their bands wherever all seeds have values."""
    curves = [points for points in curves if len(points)]
    if not curves:
        return None
    begin, end = max(c[0, 0] for c in curves), min(c[-1, 0] for c in curves)
    positions = numpy.unique(numpy.concatenate([c[:, 0] for c in curves]))
    positions = positions[(positions >= begin) & (positions <= end)]
    if not len(positions):
        return None
    values = numpy.array([numpy.interp(positions, c[:, 0], c[:, 1]) for c in curves])
    return positions, *numpy.array([mean_and_band(list(column), band) for column in values.T]).T


def target(study, metric):
    """Returns the target of the study's time-to-target, if all of its points have the same."""
    key = TARGETS.get(metric)
    found = {scenario.get(part, {}).get(key) for scenario in study.scenarios.values() for part in ("measure", "stop")
             if isinstance(scenario.get(part), dict) and key in scenario[part]}
    return found.pop() if key and len(found) == 1 else None


def draw_panel(panel, made, study, choice, layout, along, metric, factors, aims):
    rows = select(study.rows, choice)
    for i, of_line in enumerate(layout.lines):
        mine = select(rows, of_line)
        points = dict.fromkeys(row["point"] for row in mine)
        line = over_seeds([curve(study, point, along, metric) for point in points], study.band)
        if line is None:
            continue
        x, mean, low, high = line[0] * factors[0], *(part * factors[1] for part in line[1:])
        drawn, = panel.plot(x, mean, **line_style(i), markevery=max(1, len(x) // 6))
        made.add_to_legend(drawn, name_of(of_line, study) or "simulated")
        if (high > low).any():
            panel.fill_between(x, low, high, color=drawn.get_color(), alpha=0.18, linewidth=0)
        if any(row["outcome"] == "diverged" for row in mine):
            cross, = panel.plot(x[-1:], mean[-1:], marker="x", markersize=6, color=drawn.get_color(), linestyle="none")
            made.add_to_legend(cross, "diverged")
    for aim in aims:
        draw_target(panel, made, aim * factors[1], f"{aim * factors[1]:g}{' %' if metric == 'test_accuracy' else ''}")


def aims_of(study, options, metric, alone):
    """Returns the targets of --target, or else that of the study."""
    if not alone and any("=" not in text for text in options.target or []):
        raise WrongInput("--target: the figure has several columns; name one, such as test_accuracy=0.9")
    given = targets(options, metric)
    of_study = target(study, metric)
    return given or ([] if of_study is None else [of_study])


def of_main_job(study):
    if "job" not in study.rows[0]:
        return study
    rows = [row for row in study.rows if row["job"] == "main"]
    if not rows:
        raise Misfit("only the main job trains; this figure needs it")
    return replace(study, rows=rows, axes=axes_that_count(rows, study.axes))


def draw(study, options):
    reason = misfit(study, options)
    if reason:
        raise Misfit(reason)
    study = of_main_job(study)
    along = ALONG[options.x or "time"]
    unit, x_factor = scale_of_time(study) if along == "sim_time_s" else (None, 1)
    x_label = f"simulated time ({unit})" if unit else column_label(along)
    drawn = metrics(study, options)
    layout = lay_out(study, options, [])
    if len(layout.panels) * len(drawn) > 24:
        raise Misfit(f"{len(layout.panels)} times {len(drawn)} panels are too many; choose some with --where "
                     "or one column with --value")
    # One row per metric if a few combinations fit side by side, otherwise one row per combination.
    by_metric = 1 < len(layout.panels) <= 4
    if by_metric:
        panels, columns = [(metric, choice) for metric in drawn for choice in layout.panels], len(layout.panels)
    else:
        panels, columns = [(metric, choice) for choice in layout.panels for metric in drawn], len(drawn)
    made = canvas(study, options, len(panels), columns, share_x="col" if by_metric else False,
                  share_y="row" if by_metric else False, lines=len(layout.lines))
    for i, (panel, (metric, choice)) in enumerate(zip(made.panels, panels)):
        factors = (x_factor, 100 if metric == "test_accuracy" else 1)
        aims = aims_of(study, options, metric, len(drawn) == 1)
        draw_panel(panel, made, study, choice, layout, along, metric, factors, aims)
        if i < columns or not by_metric:
            panel.set_title(name_of(choice, study))
        if i + columns >= len(panels) or not by_metric:
            panel.set_xlabel(x_label)
        if i % columns == 0 or not by_metric:
            panel.set_ylabel(column_label(metric))
    for metric in drawn:
        if metric != "test_accuracy":
            of_metric = [panel for panel, (name, _) in zip(made.panels, panels) if name == metric]
            scale_values(of_metric, options.scale, 10, 30)
    return finish(made)

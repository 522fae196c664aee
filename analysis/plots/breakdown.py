"""Where the time of a step goes: stacked bars of computing, of waiting for the network, for others, for the dead.

The parts are the shares of results.csv times the time per step, so that they add up to it. Without shares
there are two: computing, and communication that no computing hides.
"""

from dataclasses import replace

from matplotlib.patches import Patch

from common import Misfit, number, select
from style import canvas, finish, lay_out, name_of

ABOUT = "stacked bars of the time per step: computing, network, stragglers, failures"

MOST_BARS = 60
CROWDED = 30  # bars in a panel, before only the largest number of nodes is drawn unasked
BAR_HEIGHT = 0.13  # inches

# Name, color, hatch: told apart in gray, too.
PARTS = {
    "computing": ("#56B4E9", ""),
    "computing, undone": ("#B5DDF4", "xxxx"),
    "exposed communication": ("#E69F00", "////"),
    "waiting for the network": ("#E69F00", "////"),
    "waiting for stragglers": ("#009E73", "...."),
    "waiting for the dead": ("#CC79A7", "\\\\\\\\"),
    "away": ("0.8", ""),
    "checkpoints": ("#0072B2", "----"),
}


def parts_of(row, by_shares):
    """Seconds of a step by part, or None where the row has no step."""
    get = lambda name: number(row.get(name)) or 0.0
    step = get("step_time_s")
    if not step:
        return None
    if not by_shares:
        return {"computing": get("compute_s"), "exposed communication": get("exposed_comm_s")}
    shares = {"waiting for the network": get("waiting_network_share"),
              "waiting for stragglers": get("waiting_stragglers_share"),
              "waiting for the dead": get("waiting_dead_share"),
              "away": get("away_share"), "checkpoints": get("checkpoint_share")}
    computing = max(0.0, 1 - sum(shares.values()))
    shares.update({"computing": computing * (1 - get("undone_share")), "computing, undone": computing * get("undone_share")})
    return {name: step * share for name, share in shares.items()}


def has_shares(study):
    """Whether all points tell how workers waited: jobs beside the main one do not."""
    return all(number(row.get("waiting_network_share")) is not None for row in study.rows
               if number(row.get("step_time_s")) is not None)


def misfit(study, options):
    if not study.has("step_time_s"):
        return "the column step_time_s is empty"
    return None


def mean_parts(rows, by_shares):
    every = [parts for parts in (parts_of(row, by_shares) for row in rows) if parts]
    return {name: sum(parts[name] for parts in every) / len(every) for name in every[0]} if every else {}


def at_most_nodes(study):
    """The study at its largest number of nodes alone."""
    largest = study.values("nodes")[-1]
    return replace(study, rows=select(study.rows, [("nodes", largest)]),
                   axes=[axis for axis in study.axes if axis != "nodes"]), largest


def group_axis(study):
    """What the bars of a panel are grouped by: nodes, or the only other axis if it has many values."""
    others = [axis for axis in study.axes if axis != "algorithm"]
    if "nodes" in others or not others:
        return "nodes" if others else None
    many = len(study.values(others[0])) > 4 and len(study.values(others[0])) * len(study.values("algorithm")) <= MOST_BARS
    return others[0] if len(others) == 1 and many else None


def bars_of(study, rows, group, by_shares):
    """(label, parts) from top to bottom; parts are None for the head of a group."""
    for value in study.values(group, rows) if group else [None]:
        here = select(rows, [(group, value)]) if group else rows
        head = name_of([(group, value)], study) if group else ""
        if group and "algorithm" in study.axes:
            yield head, None
        for algorithm in study.values("algorithm", here):
            parts = mean_parts(select(here, [("algorithm", algorithm)]), by_shares)
            yield (algorithm if "algorithm" in study.axes or not group else head), parts


def draw_panel(panel, made, bars, names, tallest):
    """Horizontal bars, one below the other, each with its length in seconds."""
    longest = max((sum(parts.values()) for _, parts in bars if parts), default=1)
    for place, (_, parts) in enumerate(bars):
        left = 0
        for name, (color, hatch) in PARTS.items():
            width = (parts or {}).get(name, 0)
            if name not in names or width <= 0:
                continue
            panel.barh(place, width, left=left, height=0.78, color=color, hatch=hatch, edgecolor="0.25", linewidth=0.3)
            made.add_to_legend(Patch(facecolor=color, hatch=hatch, edgecolor="0.25", linewidth=0.3), name)
            left += width
        if parts:
            panel.text(left + 0.01 * longest, place, f"{left:.3g}", ha="left", va="center_baseline", fontsize=5.5)
    panel.set_yticks(range(len(bars)), [label for label, _ in bars])
    for text, (_, parts) in zip(panel.get_yticklabels(), bars):
        text.set_fontweight("bold" if parts is None else "normal")
    panel.set_ylim(tallest - 0.4, -0.6)
    panel.set_xlim(0, 1.14 * longest)
    panel.grid(False, axis="y")
    panel.tick_params(axis="y", length=0)


def draw(study, options):
    reason = misfit(study, options)
    if reason:
        raise Misfit(reason)
    note = None
    if "nodes" in study.axes and len(study.values("nodes")) * len(study.values("algorithm")) > CROWDED:
        study, largest = at_most_nodes(study)
        note = f"at {name_of([('nodes', largest)], study)}, the most of the study (--where nodes=... for others)"
    group, by_shares = group_axis(study), has_shares(study)
    layout = lay_out(study, options, [], MOST_BARS, lines=[group, "algorithm"])
    panels = [list(bars_of(study, select(study.rows, choice), group, by_shares)) for choice in layout.panels]
    same = all([label for label, _ in bars] == [label for label, _ in panels[0]] for bars in panels)
    columns = min(layout.columns, 3) if same else 1
    tallest = max(len(bars) for bars in panels)
    made = canvas(study, options, len(panels), columns, share_x=False, share_y=same, lines=20,
                  row_height=0.55 + BAR_HEIGHT * tallest)
    longest = max(sum(parts.values()) for bars in panels for _, parts in bars if parts)
    shown = {name for bars in panels for _, parts in bars for name, width in (parts or {}).items()
             if width > 1e-4 * longest}
    for panel, choice, bars in zip(made.panels, layout.panels, panels):
        draw_panel(panel, made, bars, shown, tallest)
        panel.set_title(name_of(choice, study))
        panel.set_xlabel("time per step (s)")
    made.legend = {name: made.legend[name] for name in PARTS if name in made.legend}
    if note:
        made.notes.append(note)
    return finish(made)

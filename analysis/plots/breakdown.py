"""Shows where the time of a step goes: stacked bars of computing and of waiting for the network, others or the dead.

The parts are the shares in results.csv times the time per step, so that they add up to it. Without shares there are
two parts: computing, and communication that computing does not hide.
"""

from dataclasses import replace

from matplotlib.patches import Patch

from .common import Misfit, select
from .quantities import number
from .style import canvas, finish, lay_out, name_of, short

ABOUT = "stacked bars of the time per step: computing, network, stragglers, failures"
USES = ()  # its own options

MOST_BARS = 60
CROWDED = 50  # with more bars in the figure, only the largest number of nodes is drawn
GROUPED = 24  # with more bars in a panel, groups other than nodes get their own panels
FAR_APART = 100  # if the longest bar of a panel exceeds the shortest by more, bars show shares
BAR_HEIGHT = 0.13  # inches

# Name, color, hatch: the hatches can be told apart in gray, too.
PARTS = {
    "computing": ("#56B4E9", ""),
    "computing, undone": ("#B5DDF4", "|||"),
    "exposed communication": ("#E69F00", "////"),
    "waiting for the network": ("#E69F00", "////"),
    "waiting for stragglers": ("#009E73", "\\\\\\"),
    "waiting for the dead": ("#CC79A7", "xxx"),
    "away": ("0.8", ""),
    "checkpoints": ("#0072B2", "---"),
}


def parts_of(row, by_shares):
    """Returns the seconds of a step by part, or None where the row has no step."""
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
    undone = computing * get("undone_share")
    shares.update({"computing": computing - undone, "computing, undone": undone})
    return {name: step * share for name, share in shares.items()}


def has_shares(study):
    """Returns whether all points record how workers waited; jobs other than the main one do not."""
    return all(number(row.get("waiting_network_share")) is not None for row in study.rows
               if number(row.get("step_time_s")) is not None)


def misfit(study, options):
    by_shares = has_shares(study)
    if not any(sum((parts_of(row, by_shares) or {}).values()) > 0 for row in study.rows):
        return "no point has a step_time_s with its parts: compute_s and exposed_comm_s, or shares"
    return None


def mean_parts(rows, by_shares):
    every = [parts for parts in (parts_of(row, by_shares) for row in rows) if parts]
    return {name: sum(parts[name] for parts in every) / len(every) for name in every[0]} if every else {}


def at_most_nodes(study):
    """Returns the study restricted to its largest number of nodes."""
    largest = study.values("nodes")[-1]
    return replace(study, rows=select(study.rows, [("nodes", largest)]),
                   axes=[axis for axis in study.axes if axis != "nodes"]), largest


def group_axis(study):
    """Returns the axis that groups the bars of a panel: nodes, or the last other axis if that is not too many bars."""
    others = [axis for axis in study.axes if axis != "algorithm"]
    if "nodes" in others or not others:
        return "nodes" if others else None
    bars = len(study.values(others[-1])) * len(study.values("algorithm"))
    return others[-1] if bars <= (MOST_BARS if len(others) == 1 else GROUPED) else None


def bars_of(study, rows, group, by_shares):
    """Returns (label, parts) from top to bottom; parts are None for the head of a group."""
    for value in study.values(group, rows) if group else [None]:
        here = select(rows, [(group, value)]) if group else rows
        head = name_of([(group, value)], study) if group else ""
        if group and "algorithm" in study.axes:
            yield head, None
        for algorithm in study.values("algorithm", here):
            parts = mean_parts(select(here, [("algorithm", algorithm)]), by_shares)
            yield (algorithm if "algorithm" in study.axes or not group else head), parts


def far_apart(panels):
    """Returns whether a panel has bars that would vanish beside its longest."""
    totals = [[sum(parts.values()) for _, parts in bars if parts] for bars in panels]
    return any(max(lengths) > FAR_APART * min(length for length in lengths if length > 0)
               for lengths in totals if lengths and max(lengths) > 0)


def draw_panel(panel, made, bars, names, factor, as_shares):
    """Draws horizontal bars, one below the other, each followed by its time per step."""
    ends = [sum(parts.values()) if parts else 0 for _, parts in bars]
    longest = 100 if as_shares else max(ends) * factor or 1
    for place, (_, parts) in enumerate(bars):
        left = 0
        for name in PARTS:
            seconds = (parts or {}).get(name, 0)
            width = 100 * seconds / ends[place] if as_shares and ends[place] > 0 else seconds * factor
            if name not in names or width <= 0:
                continue
            color, hatch = PARTS[name]
            look = {"hatch": hatch, "edgecolor": "0.25", "linewidth": 0.3}
            panel.barh(place, width, left=left, height=0.78, color=color, **look)
            made.add_to_legend(Patch(facecolor=color, **look), name)
            left += width
        if parts:
            panel.text(left + 0.01 * longest, place, short(ends[place] * factor), va="center_baseline", fontsize=5.5)
    panel.set_yticks(range(len(bars)), [label for label, _ in bars])
    for text, (_, parts) in zip(panel.get_yticklabels(), bars):
        text.set_fontweight("bold" if parts is None else "normal")
    panel.set_ylim(len(bars) - 0.4, -0.6)
    panel.set_xlim(0, 1.14 * longest)
    if as_shares:
        panel.set_xticks(range(0, 101, 20))
    panel.grid(False, axis="y")
    panel.tick_params(axis="y", length=0)


def visible(panels):
    """Returns the parts that are visible in some bar."""
    return {name for bars in panels for _, parts in bars if parts
            for name, seconds in parts.items() if seconds > 1e-3 * sum(parts.values())}


def draw(study, options):
    reason = misfit(study, options)
    if reason:
        raise Misfit(reason)
    points = len({tuple(row[axis] for axis in study.axes) for row in study.rows})
    note = None
    if "nodes" in study.axes and points > CROWDED:
        study, largest = at_most_nodes(study)
        note = f"at {name_of([('nodes', largest)], study)}, the largest of the study (--where nodes=... for others)"
    group, by_shares = group_axis(study), has_shares(study)
    layout = lay_out(study, options, [], MOST_BARS, lines=[group, "algorithm"])
    panels = [list(bars_of(study, select(study.rows, choice), group, by_shares)) for choice in layout.panels]
    same = all([label for label, _ in bars] == [label for label, _ in panels[0]] for bars in panels)
    heights = [0.55 + BAR_HEIGHT * len(bars) for bars in panels]
    made = canvas(study, options, len(panels), min(layout.columns, 3) if same else 1, share_x=False, share_y=same,
                  lines=20, heights=heights[0] if same else heights)
    longest = max((sum(parts.values()) for bars in panels for _, parts in bars if parts), default=0)
    if longest <= 0:
        raise Misfit(f"no point has a time per step{', ' + note if note else ''}")
    unit, factor = ("s", 1) if longest >= 0.1 else ("ms", 1e3) if longest >= 1e-4 else ("us", 1e6)
    as_shares = far_apart(panels)
    for panel, choice, bars in zip(made.panels, layout.panels, panels):
        draw_panel(panel, made, bars, visible(panels), factor, as_shares)
        panel.set_title(name_of(choice, study))
        panel.set_xlabel("share of the time per step (%)" if as_shares else f"time per step ({unit})")
    made.legend = {name: made.legend[name] for name in PARTS if name in made.legend}
    made.notes.append(f"after each bar: time per step ({unit})" + (f"; {note}" if note else ""))
    return finish(made)

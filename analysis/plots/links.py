"""Draws links.csv (paceline run --links): how much of each link is used over time, a panel for each point.

Rows are links and columns are intervals; the color is the share of the link's capacity that was used, by all jobs together.
"""

import csv
import os
from dataclasses import replace

import matplotlib
from matplotlib.patches import Patch

from .common import Misfit, WrongInput, axes_that_count
from .quantities import number
from .style import Layout, canvas, finish, head

ABOUT = "how much of each link is used over time (of a run with --links)"
USES = ()  # its own options

MOST_POINTS = 6
MOST_LINKS = 24  # of a panel
FIELDS = ("point", "link", "from_s", "to_s", "utilization")
COLORS = matplotlib.colormaps["cividis"]


def file_of(study):
    return os.path.join(study.folder, "links.csv")


def by_point(study):
    """Returns the study with one row for each point: the main job's, or where --where leaves none of these, another's."""
    rows = [row for row in study.rows if row.get("job") == "main"] or study.rows
    rows = list({row["point"]: row for row in reversed(rows)}.values())[::-1]
    return replace(study, rows=rows, axes=axes_that_count(rows, study.axes), seeds=1)  # no map is a mean over seeds


def misfit(study, options):
    study = by_point(study)
    if not os.path.isfile(file_of(study)):
        return "it needs links.csv, which paceline run --links writes"
    if len(study.rows) > MOST_POINTS:
        axes = [axis for axis in study.axes if len(study.values(axis)) > 1]
        chosen = f" with --where {axes[-1]}={study.values(axes[-1])[-1]}" if axes else ""
        return f"{len(study.rows)} points are more than {MOST_POINTS}; choose some{chosen}"
    return None


def read_links(study):
    """Returns {point: {link: [(from, to, utilization), ...]}} of the study's points. Throws WrongInput."""
    path = file_of(study)
    wanted = {row["point"] for row in study.rows}
    found = {}
    try:
        with open(path, newline="", encoding="utf-8-sig") as stream:
            rows = csv.reader(stream)
            header = next(rows, [])
            if not set(FIELDS) <= set(header):
                raise WrongInput(f"{path}: is not links.csv of paceline run --links; run it again")
            places = [len(header) - 1 - header[::-1].index(name) for name in FIELDS]
            places[0] = 0  # an axis may be called like a column; the point comes first, the others last
            for row in rows:
                if len(row) != len(header):
                    raise WrongInput(f"{path}: has a row of {len(row)} fields instead of {len(header)}; "
                                     "run the study again")
                point, link, *texts = (row[place] for place in places)
                if point not in wanted:
                    continue
                values = [number(text) for text in texts]
                if None in values:
                    raise WrongInput(f"{path}: {', '.join(texts)} are not three numbers; run the study again")
                found.setdefault(point, {}).setdefault(link, []).append(tuple(values))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise WrongInput(f"{path}: cannot be read: {error}") from error
    return found


def busiest(links):
    """Returns the names of the most used links, in the order of the file; of equals, first those between switches."""
    def mean(intervals):
        length = intervals[-1][1] - intervals[0][0]
        return sum((to - begin) * use for begin, to, use in intervals) / length if length > 0 else 0
    most = set(sorted(links, key=lambda name: (-round(mean(links[name]), 6), " -> " not in name))[:MOST_LINKS])
    return [name for name in links if name in most]


def unit_of(seconds):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return unit, scale
    return "ns", 1e-9


def draw_panel(panel, links, names, scale):
    intervals = links[names[0]]
    edges = [begin / scale for begin, _, _ in intervals] + [intervals[-1][1] / scale]
    rows = [[use for _, _, use in links[name]] for name in names]
    panel.pcolormesh(edges, [i - 0.5 for i in range(len(names) + 1)], rows, cmap=COLORS, vmin=0, vmax=1,
                     rasterized=True)
    panel.set_yticks(range(len(names)), names, fontsize=5)
    panel.tick_params(length=0)
    panel.invert_yaxis()
    panel.grid(False)
    for spine in panel.spines.values():
        spine.set_visible(False)


def choice_of(study, row):
    """Returns what distinguishes a point from the others, for the head of its panel."""
    axes = [axis for axis in row if axis in study.axes or axis == "seed"]
    return tuple((axis, row[axis]) for axis in axes if len({one[axis] for one in study.rows}) > 1)


def draw(study, options):
    reason = misfit(study, options)
    if reason:
        raise Misfit(reason)
    study = by_point(study)
    found = read_links(study)
    rows = [row for row in study.rows if found.get(row["point"])]
    if not rows:
        raise Misfit("no link of these points carried traffic; a single worker sends nothing")
    shown = [busiest(found[row["point"]]) for row in rows]
    columns = {1: 1, 2: 2, 4: 2}.get(len(rows), 3)
    layout = Layout([choice_of(study, row) for row in rows], [], columns, False)
    made = canvas(study, options, len(rows), columns, share_x=False, share_y=False, lines=6,
                  heights=max(1.2, 0.6 + 0.085 * max(len(names) for names in shown)))
    longest = max(intervals[-1][1] for row in rows for intervals in found[row["point"]].values())
    unit, scale = unit_of(longest)
    for panel, row, names in zip(made.panels, rows, shown):
        draw_panel(panel, found[row["point"]], names, scale)
    head(made, layout, study, f"simulated time ({unit})", "")
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        made.add_to_legend(Patch(color=COLORS(share)), f"{share:.0%} used")
    most = max(len(found[row["point"]]) for row in rows)
    if most > MOST_LINKS:
        made.notes.append(f"the {MOST_LINKS} most used links of a point, of {most} that carried traffic")
    return finish(made)

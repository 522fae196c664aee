"""Fixes how every figure looks, and how it is written.

Sizes suit papers: a column of 3.4 inches, two columns of 7. Colors are Okabe and Ito's, which color-blind readers
can tell apart. Each line also has its own marker and dashes, so that it can be read in gray. The same study gives
the same bytes: nothing depends on the clock, the user's matplotlibrc or a random number.
"""

import io
import itertools
import math
import textwrap
from dataclasses import dataclass, field

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from .bands import BANDS
from .common import Misfit, WrongInput, full_name, point_text, save_bytes, select
from .fonts import FIRST, fonts_for
from .quantities import number

WIDTHS = {"single": 3.4, "double": 7.0}  # inches
PANEL_HEIGHT = 2.1  # inches, including what is around a panel
AROUND = 0.5  # inches of it
MOST_PANELS = 16
MOST_LINES = 16
CROWDED = 6  # with more lines in a panel, another axis gets its own panels

COLORS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "<", ">"]
DASHES = ["-", (0, (5, 1.5)), (0, (6, 1.5, 1.5, 1.5)), (0, (3, 1.2)), (0, (8, 2, 1.5, 2, 1.5, 2))]
IDEAL = {"color": "0.6", "linewidth": 0.8, "linestyle": "-", "zorder": 1}
CLOSED_FORM = {"color": "0.15", "linewidth": 0.7, "linestyle": (0, (2, 2)), "zorder": 4}

SETTINGS = {
    "font.family": FIRST,  # comes with matplotlib
    "font.size": 7,
    "text.parse_math": False,  # a label is not a formula
    "axes.titlesize": 7,
    "axes.labelsize": 7,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "legend.fontsize": 6.5,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "0.9",
    "grid.linewidth": 0.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.5,
    "hatch.linewidth": 0.5,
    "legend.frameon": False,
    "svg.fonttype": "path",  # looks the same on machines without the font
    "svg.hashsalt": "paceline",
    "pdf.fonttype": 42,  # fonts are embedded, and text stays text
    "savefig.dpi": 300,
}


TARGET_DASHES = [(0, (1, 1.5)), (0, (5, 2, 1, 2)), (0, (7, 3)), (0, (3, 1, 1, 1, 1, 1))]


def begin(texts=()):
    """Call once before any figure: applies the settings above, and nothing from the user's matplotlibrc.

    `texts` are the titles and labels to draw. Returns their characters that no installed font has.
    """
    matplotlib.rcdefaults()
    names, missing = fonts_for(texts)
    matplotlib.rcParams.update({**SETTINGS, "font.family": names})
    return missing


def targets(options, column, drawn=True):
    """Returns the numbers of --target for a column of a figure, which it draws or (`drawn`) does not.

    A target is NUMBER, for the column that is drawn, or COLUMN=NUMBER. Those used are added to
    options.targets_used. Throws WrongInput.
    """
    found = []
    for text in options.target or []:
        name, equals, value = text.rpartition("=")
        if number(value) is None:
            raise WrongInput(f"--target {text}: is not NUMBER or COLUMN=NUMBER, such as efficiency=0.9")
        if name == column or (drawn and not equals):
            found.append(number(value))
            options.targets_used.add(text)
    return found


def target_style(made, label):
    """Returns the look of a target, which is the same in all panels, and others than those of other targets."""
    known = [name for name in made.legend if name.startswith("target ")]
    place = known.index(label) if label in known else len(known)
    return {"color": "0.3", "linewidth": 0.8, "linestyle": TARGET_DASHES[place % len(TARGET_DASHES)], "zorder": 2}


def draw_target(panel, made, value, text):
    label = f"target {text}"
    made.add_to_legend(panel.axhline(value, **target_style(made, label)), label)


def line_style(i):
    """Returns the look of the i-th line of a study, which is the same in all of its panels."""
    return {"color": COLORS[i % len(COLORS)], "marker": MARKERS[i % len(MARKERS)],
            "linestyle": DASHES[i % len(DASHES)], "zorder": 3}


@dataclass
class Layout:
    """Assigns axes to panels, or to the lines of a panel."""
    panels: list  # each a tuple of (axis, value)
    lines: list  # likewise
    columns: int
    grid: bool  # with two axes of panels: rows are the first, columns the second


def product(study, axes):
    return [tuple(zip(axes, values)) for values in itertools.product(*(study.values(axis) for axis in axes))]


def line_axes(study, rest):
    """Returns the axes whose values share a panel: the algorithm, and more unless a panel gets crowded."""
    rest = [axis for axis in rest if axis != "job"]  # which always gets its own panels
    first = [axis for axis in ("algorithm", "beside") if axis in rest] or rest[-1:]
    lines = list(first)
    count = len(product(study, lines))
    for axis in reversed([axis for axis in rest if axis not in first]):
        if count * len(study.values(axis)) <= CROWDED:
            lines.append(axis)
            count *= len(study.values(axis))
    return lines


def lay_out(study, options, without, most_lines=MOST_LINES, lines=None):
    """Divides the axes that are not drawn along (`without`) into panels and lines. Throws Misfit.

    Axes named by --panels are panels and all others lines; else `lines` are lines, if given.
    """
    rest = [axis for axis in study.axes if axis not in without]
    if options.panels is not None:
        named = [full_name(axis, study.axes) for axis in options.panels]
        lines = [axis for axis in rest if axis not in named]
    elif lines is not None:
        lines = [axis for axis in rest if axis in lines]
    else:
        lines = line_axes(study, rest)
    panel_axes = [axis for axis in rest if axis not in lines]
    filled = lambda choice: bool(select(study.rows, choice))
    panels = [choice for choice in product(study, panel_axes) if filled(choice)]
    curves = [choice for choice in product(study, lines) if filled(choice)]
    if len(panels) > MOST_PANELS:
        raise Misfit(f"{len(panels)} panels are too many (at most {MOST_PANELS}); {choose(study, panel_axes)}")
    if len(curves) > most_lines:
        raise Misfit(f"{len(curves)} lines in a panel are too many (at most {most_lines}); "
                     f"{choose(study, lines)}")
    grid = len(panel_axes) == 2 and len(panels) == math.prod(len(study.values(axis)) for axis in panel_axes)
    if grid and len(study.values(panel_axes[1])) > 4:
        grid = False
    columns = len(study.values(panel_axes[1])) if grid else {1: 1, 2: 2, 3: 3, 4: 2}.get(len(panels), 3)
    if not grid and len(panels) > 9:
        columns = 4
    return Layout(panels, curves, columns, grid)


def choose(study, axes):
    axis = max(axes, key=lambda name: len(study.values(name)))
    return f"choose some with --where {axis}={study.values(axis)[-1]}"


def name_of(choice, study):
    """Names a panel or a line by the values it stands for."""
    return ", ".join(point_text(axis, value) for axis, value in choice if value)


@dataclass
class Canvas:
    """A figure in progress: its panels, and what will be put around them."""
    figure: Figure
    panels: list  # matplotlib axes, row by row
    width: float
    title: str
    legend: dict = field(default_factory=dict)  # label -> handle, in order
    notes: list = field(default_factory=list)
    height: float = PANEL_HEIGHT  # height of all rows of panels

    def add_to_legend(self, handle, label):
        self.legend.setdefault(label, handle)


def canvas(study, options, count, columns, heights=PANEL_HEIGHT, share_x=True, share_y=True, lines=1):
    """Returns a figure with `count` empty panels; `heights` in inches is one per row, or one for all rows."""
    rows = -(-count // columns)
    heights = heights if isinstance(heights, list) else [heights] * rows
    wide = columns > 1 or lines > 5
    width = WIDTHS[options.width or ("double" if wide else "single")]
    figure = Figure(figsize=(width, sum(heights)))
    FigureCanvasAgg(figure)  # measures texts
    grid = figure.subplots(rows, columns, sharex=share_x, sharey=share_y, squeeze=False,
                           gridspec_kw={"height_ratios": [height - AROUND for height in heights]})
    panels = list(grid.flat)
    for unused in panels[count:]:
        unused.remove()
    for i, panel in enumerate(panels[:count]):  # the last of each column names its axis
        if i + columns >= count:
            panel.xaxis.set_tick_params(labelbottom=True)
    title = study.title if options.title is None else options.title
    made = Canvas(figure, panels[:count], width, title, height=sum(heights))
    if study.failed:
        told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(study.failed.items()))
        made.notes.append(f"points left out: {told}")
    if study.seeds > 1:
        band = BANDS[study.band]
        made.notes.append(f"mean of {study.seeds} seeds" + (f"; bands, if any: {band}" if band else ""))
    if "step_time_s_low" in study.rows[0]:
        made.notes.append("bands: 90 % prediction intervals")
    return made


def head(made, layout, study, x_label, y_label):
    """Names panels by what they stand for, and their axes at the left and bottom edges."""
    room = int(16.5 * made.width / layout.columns)
    for i, (panel, choice) in enumerate(zip(made.panels, layout.panels)):
        row_name = name_of(choice[:1], study) + "\n" if layout.grid else ""
        if not layout.grid or i < layout.columns:
            panel.set_title(textwrap.fill(name_of(choice[1:] if layout.grid else choice, study), room))
        if i % layout.columns == 0:
            panel.set_ylabel(row_name + y_label)
        if i + layout.columns >= len(made.panels):
            panel.set_xlabel(x_label)


def legend_below(canvas_, renderer):
    """Adds a legend with as many columns as the width holds, and returns its height in inches."""
    figure = canvas_.figure
    # matplotlib hides labels that begin with "_".
    labels = [" " + label if label.startswith("_") else label for label in canvas_.legend]
    handles = list(canvas_.legend.values())
    if not labels:
        return 0
    dpi = figure.dpi
    for columns in range(min(len(labels), 6), 0, -1):
        legend = figure.legend(handles, labels, loc="lower center", ncol=columns, handlelength=2.6,
                               columnspacing=1.4, bbox_to_anchor=(0.5, 0), borderaxespad=0.3)
        box = legend.get_window_extent(renderer)
        if box.width <= 0.98 * canvas_.width * dpi or columns == 1:
            return box.height / dpi + 0.06
        legend.remove()
    return 0


def finish(canvas_):
    """Puts title, legend and notes around the panels, and makes room for them."""
    figure = canvas_.figure
    title = "\n".join(textwrap.wrap(canvas_.title.replace(" %", "\u00a0%"), int(canvas_.width * 16.5),
                                    break_on_hyphens=False))
    notes = "\n".join(textwrap.fill(note, int(canvas_.width * 20)) for note in canvas_.notes)
    title_height = 0.13 * (title.count("\n") + 1) + 0.06 if title else 0.04
    notes_height = 0.11 * (notes.count("\n") + 1) + 0.04 if notes else 0
    figure.set_size_inches(canvas_.width, canvas_.height)
    legend_height = legend_below(canvas_, figure.canvas.get_renderer())
    height = canvas_.height + title_height + notes_height + legend_height
    figure.set_size_inches(canvas_.width, height)
    for legend in figure.legends:
        legend.set_bbox_to_anchor((0.5, notes_height / height), transform=figure.transFigure)
    if title:
        figure.text(0.5, 1 - 0.04 / height, title, ha="center", va="top", fontsize=7.5)
    if notes:
        figure.text(0.01, 0.02 / height, notes, ha="left", va="bottom", fontsize=5.5, color="0.35")
    figure.tight_layout(pad=0.4, w_pad=0.8, h_pad=0.8,
                        rect=(0, (legend_height + notes_height) / height, 1, 1 - title_height / height))
    return figure


def power(value, digits):
    return f"{value:.{digits}e}".replace("e-0", "e-").replace("e+0", "e")


def plain(value, _position=None):
    """Formats a tick as people write it: 0.25, 1, 64, 4096."""
    return f"{value:.10g}" if 1e-3 <= abs(value) < 1e5 or value == 0 else power(value, 0)


def short(value):
    """Formats three digits, which fit into a cell or behind a bar."""
    if value == 0:
        return "0"
    if 0.01 <= abs(value) < 99.95:
        return f"{value:#.3g}".rstrip(".")
    return f"{value:.0f}" if 1 <= abs(value) < 1e5 else power(value, 1)


def ticks_at(axis, positions, labels, log):
    """Puts ticks where there are points, and labels only those far enough from the previous label."""
    place = math.log if log else float
    begin, end = place(positions[0]), place(positions[-1])
    room = 0.035 + 0.022 * max(len(label) for label in labels)
    texts, last = {}, None
    for position, label in zip(positions, labels):
        part = (place(position) - begin) / (end - begin) if end > begin else 0
        if last is None or part - last >= room:
            texts[position], last = label, part
    axis.set_major_locator(FixedLocator(positions))
    axis.set_major_formatter(FuncFormatter(lambda value, _: texts.get(value, "")))
    axis.set_minor_locator(NullLocator())


def log_scale(panel, which, base, decades=9):
    """Makes the "x" or "y" axis of a panel logarithmic, with plain numbers."""
    getattr(panel, f"set_{which}scale")("log", base=base)
    axis = getattr(panel, f"{which}axis")
    axis.set_major_locator(LogLocator(base=base, subs=(1, 2, 5) if base == 10 and decades < 2 else (1,), numticks=9))
    axis.set_major_formatter(FuncFormatter(plain))
    axis.set_minor_formatter(NullFormatter())
    if base == 2:
        axis.set_minor_locator(NullLocator())


def scale_values(panels, scale, base, wide):
    """Scales y axes that panels share: logarithmic on request, or if the values span a factor of `wide`."""
    values = [y for panel in panels for line in panel.lines
              if line.get_transform() == panel.transData for y in line.get_ydata()]
    if scale == "linear" or not values or min(values) <= 0 or (scale is None and max(values) < wide * min(values)):
        return
    for panel in panels:
        log_scale(panel, "y", base, math.log10(max(values) / min(values)))


def save(figure, path, format_):
    """Writes a figure under a temporary name and then renames it. Throws WrongInput."""
    metadata = {"svg": {"Date": None, "Creator": "paceline plot"},
                "pdf": {"CreationDate": None, "Creator": "paceline plot"},
                "png": {"Software": "paceline plot"}}[format_]
    buffer = io.BytesIO()
    figure.savefig(buffer, format=format_, metadata=metadata)
    save_bytes(path, buffer.getvalue())

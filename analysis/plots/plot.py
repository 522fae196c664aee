"""paceline plot: draws the results of a study. `paceline plot --help` lists the options.

Each kind of figure is a script next to this one with ABOUT (a line of help), misfit(study, options) (why the
study cannot have this figure, or None), USES (its own options) and draw(study, options) (a matplotlib Figure).
To add a kind, write such a script and add it to KINDS. Scripts use only the standard library, numpy and
matplotlib. A file instead of a folder is a testbed of paceline calibrate, which has one figure (testbed.py).
"""

import argparse
import os
import sys
import warnings

from . import answers, bandwidth, breakdown, convergence, frontier, heatmap, links, speedup, style, testbed
from .bands import BANDS
from .common import Misfit, WrongInput, note_figures, read_study, shown

KINDS = {"speedup": speedup, "convergence": convergence, "bandwidth": bandwidth, "heatmap": heatmap,
         "breakdown": breakdown, "links": links, "answers": answers, "frontier": frontier}
OWN_OPTIONS = ["x", "y", "value", "ratio", "scale", "target"]  # options that not every kind has
FORMATS = ["svg", "png", "pdf"]


def parse(arguments):
    parser = argparse.ArgumentParser(prog="paceline plot", add_help=True, allow_abbrev=False)
    parser.add_argument("folder")
    parser.add_argument("kinds", nargs="*")
    parser.add_argument("--out")
    parser.add_argument("--format", default=",".join(FORMATS))
    parser.add_argument("--where", action="append", default=[])
    parser.add_argument("--panels", action="append")
    parser.add_argument("--x")
    parser.add_argument("--y")
    parser.add_argument("--value")
    parser.add_argument("--ratio", nargs=2)
    parser.add_argument("--target", action="append")
    parser.add_argument("--band", choices=list(BANDS), default="sd")
    parser.add_argument("--scale", choices=["linear", "log"])
    parser.add_argument("--width", choices=["single", "double"])
    parser.add_argument("--title")
    parsed = parser.parse_args(arguments)
    parsed.targets_used = set()
    return parsed


def formats_of(text):
    formats = [name.strip() for name in text.split(",") if name.strip()]
    for name in formats:
        if name not in FORMATS:
            raise WrongInput(f"--format {text}: no format \"{name}\"; known: {', '.join(FORMATS)}")
    if not formats:
        raise WrongInput(f"--format: does not name a format; known: {', '.join(FORMATS)}")
    return list(dict.fromkeys(formats))


def refuse_unused(options):
    """Refuses an option that none of the requested kinds has."""
    for name in OWN_OPTIONS:
        users = [kind for kind, script in KINDS.items() if name in script.USES]
        if getattr(options, name) is not None and options.chosen and not set(users) & set(options.kinds):
            raise WrongInput(f"--{name}: {', '.join(options.kinds)} has no such option; these kinds have it: {', '.join(users)}")


def texts_of(study, options):
    """Returns all texts of a study that a figure may draw."""
    names = [text for row in study.rows for axis in study.axes for text in (axis, row[axis])]
    return {study.title if options.title is None else options.title, *names}


def tell_of_missing(characters):
    if characters:
        named = ", ".join(f"{c} (U+{ord(c):04X})" for c in characters[:10])
        more = ", ..." if len(characters) > 10 else ""
        print(f"paceline: warning: no installed font has {named}{more}; figures show boxes there: "
              "apt-get install fonts-noto-core fonts-noto-cjk", file=sys.stderr)


def study_of(options):
    """Reads the study that the options are about. Throws WrongInput if they do not fit each other."""
    for kind in options.kinds:
        if kind not in KINDS:
            raise WrongInput(f"no kind of figure \"{kind}\"; known: {', '.join(KINDS)}")
    options.chosen = bool(options.kinds)
    refuse_unused(options)
    return read_study(options.folder, options.where, options.band)


def figure_of(options):
    """Returns the first of the requested kinds, or of those that fit, and its matplotlib Figure. Writes nothing.

    For programs that show figures themselves, such as the Python module. Throws WrongInput.
    """
    study = study_of(options)
    style.begin(texts_of(study, options))
    misfits = {}
    for kind in options.kinds or KINDS:
        try:
            figure = KINDS[kind].draw(study, options)
        except Misfit as reason:
            misfits[kind] = str(reason)
            continue
        refuse_unused_targets(options, [kind])
        return kind, figure
    raise WrongInput(f"{options.folder}: " + refusal(study, options, misfits))


def refuse_unused_targets(options, figures):
    for text in options.target or []:
        if text not in options.targets_used:
            raise WrongInput(f"--target {text}: no figure of these has that column: {', '.join(figures)}; choose it "
                             "with --value")


def make_folder(out):
    try:
        os.makedirs(out, exist_ok=True)
    except OSError as error:
        raise WrongInput(f"{out}: the folder cannot be created: {error.strerror}; name another with --out") from error


def refuse_for_a_testbed(options):
    """Refuses kinds, and options that the figure of a testbed does not have."""
    if options.kinds:
        raise WrongInput(f"{options.folder}: a testbed has one figure; name no kind, not {', '.join(options.kinds)}")
    usual = parse([options.folder])
    for name, value in vars(usual).items():
        if name not in testbed.USES and getattr(options, name) != value:
            raise WrongInput(f"--{name}: the figure of a testbed has no such option; it has: "
                             f"{', '.join(f'--{used}' for used in testbed.USES)}")


def draw_testbed(options):
    """Draws a file that paceline calibrate wrote, and prints the files."""
    formats = formats_of(options.format)
    refuse_for_a_testbed(options)
    calibrated = testbed.read_testbed(options.folder)
    title = [] if options.title is None else [options.title]
    tell_of_missing(style.begin(calibrated.texts() + title))
    figure = testbed.draw(calibrated, options)
    folder, name = os.path.split(options.folder)
    if options.out:
        make_folder(options.out)
    stem = os.path.splitext(name)[0]
    for format_ in formats:
        path = os.path.join(options.out or folder, f"{stem}.{format_}")
        style.save(figure, path, format_)
        print(shown(path))


def draw_all(options):
    """Draws the requested kinds, or all that fit, and prints the files."""
    if os.path.isfile(options.folder):
        draw_testbed(options)
        return
    formats = formats_of(options.format)
    study = study_of(options)
    out = options.out or options.folder
    make_folder(out)
    tell_of_missing(style.begin(texts_of(study, options)))
    figures, misfits = {}, {}
    for kind in dict.fromkeys(options.kinds or KINDS):
        try:
            figures[kind] = KINDS[kind].draw(study, options)
        except Misfit as reason:
            misfits[kind] = str(reason)
    if misfits and (options.chosen or not figures):
        raise WrongInput(f"{options.folder}: " + refusal(study, options, misfits))
    refuse_unused_targets(options, figures)
    for kind, figure in figures.items():
        for name in formats:
            path = os.path.join(out, f"{kind}.{name}")
            style.save(figure, path, name)
            print(shown(path))
    if os.path.realpath(out) == os.path.realpath(options.folder):
        note_figures(out, [f"{kind}.{name}" for kind in figures for name in formats])
    for kind, reason in misfits.items():
        print(shown(f"not drawn: {kind}: {reason}"))


def refusal(study, options, misfits):
    if not options.chosen:
        return "no figure fits this study: " + "; ".join(f"{kind}: {why}" for kind, why in misfits.items())
    fit = [kind for kind, script in KINDS.items() if kind not in misfits and script.misfit(study, options) is None]
    kind, reason = next(iter(misfits.items()))
    return f"{kind} cannot be drawn: {reason}; what fits this study: {', '.join(fit) or 'no kind'}"


def main():
    warnings.simplefilter("ignore")  # warnings of matplotlib, for instance about glyphs missing from a font
    try:
        draw_all(parse(sys.argv[1:]))
        sys.stdout.flush()
    except WrongInput as error:
        print(f"paceline: {shown(error)}", file=sys.stderr)
        return 2
    except OSError as error:  # standard output is full, closed or a pipe that nobody reads
        if not isinstance(error, BrokenPipeError):
            print(f"paceline: standard output cannot be written: {error.strerror}", file=sys.stderr)
        os._exit(1)  # Python would try to write it again
    except MemoryError:
        print("paceline: there is not enough memory to draw this; use --where to draw less", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0

"""paceline plot: draws the results of a study. `paceline plot --help` lists the options.

Each kind of figure is a script next to this one with ABOUT (a line of help), misfit(study, options) (why the
study cannot have this figure, or None), USES (its own options) and draw(study, options) (a matplotlib Figure).
To add a kind, write such a script and add its name to KINDS. Scripts use only the standard library, numpy and
matplotlib.
"""

import argparse
import importlib
import os
import sys
import warnings

try:
    import style
except ModuleNotFoundError as error:
    if error.name not in ("matplotlib", "numpy"):
        raise
    print(f"paceline: plot needs {error.name}; apt-get install python3-matplotlib", file=sys.stderr)
    sys.exit(2)
from common import Misfit, WrongInput, read_study

KINDS = ["speedup", "convergence", "bandwidth", "heatmap", "breakdown"]
OWN_OPTIONS = ["x", "y", "value", "ratio", "scale"]  # options that not every kind has
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
    parser.add_argument("--scale", choices=["linear", "log"])
    parser.add_argument("--width", choices=["single", "double"])
    parser.add_argument("--title")
    return parser.parse_args(arguments)


def formats_of(text):
    formats = [name.strip() for name in text.split(",") if name.strip()]
    for name in formats:
        if name not in FORMATS:
            raise WrongInput(f"--format {text}: no format \"{name}\"; known: {', '.join(FORMATS)}")
    if not formats:
        raise WrongInput(f"--format: names no format; known: {', '.join(FORMATS)}")
    return list(dict.fromkeys(formats))


def refuse_unused(options):
    """Refuses an option that none of the requested kinds has."""
    for name in OWN_OPTIONS:
        users = [kind for kind in KINDS if name in importlib.import_module(kind).USES]
        if getattr(options, name) is not None and options.chosen and not set(users) & set(options.kinds):
            raise WrongInput(f"--{name}: {', '.join(options.kinds)} has no such option; of these kinds it is: "
                             f"{', '.join(users)}")


def draw_all(options):
    """Draws the requested kinds, or all that fit, and prints the files."""
    formats = formats_of(options.format)
    for kind in options.kinds:
        if kind not in KINDS:
            raise WrongInput(f"no kind of figure \"{kind}\"; known: {', '.join(KINDS)}")
    options.chosen = bool(options.kinds)
    refuse_unused(options)
    study = read_study(options.folder, options.where)
    out = options.out or options.folder
    try:
        os.makedirs(out, exist_ok=True)
    except OSError as error:
        raise WrongInput(f"{out}: the folder cannot be made: {error.strerror}; name another with --out") from error
    style.begin()
    figures, misfits = {}, {}
    for kind in dict.fromkeys(options.kinds or KINDS):
        try:
            figures[kind] = importlib.import_module(kind).draw(study, options)
        except Misfit as reason:
            misfits[kind] = str(reason)
    if misfits and (options.chosen or not figures):
        raise WrongInput(f"{options.folder}: " + refusal(study, options, misfits))
    for kind, figure in figures.items():
        for name in formats:
            path = os.path.join(out, f"{kind}.{name}")
            style.save(figure, path, name)
            print(path)
    for kind, reason in misfits.items():
        print(f"not drawn: {kind}: {reason}")


def refusal(study, options, misfits):
    if not options.chosen:
        return "no figure fits this study: " + "; ".join(f"{kind}: {why}" for kind, why in misfits.items())
    fit = [kind for kind in KINDS if kind not in misfits and
           importlib.import_module(kind).misfit(study, options) is None]
    kind, reason = next(iter(misfits.items()))
    return f"{kind} cannot be drawn: {reason}; what fits this study: {', '.join(fit) or 'no kind'}"


def main():
    warnings.simplefilter("ignore")  # warnings of matplotlib, for instance about glyphs missing from a font
    try:
        draw_all(parse(sys.argv[1:]))
    except WrongInput as error:
        print(f"paceline: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Draws figures with the scripts of analysis/plots, which are those of `paceline plot`.

The scripts import each other by plain names (style, common, ...) and apply their own settings to matplotlib. Both are
undone after each figure: the names leave sys.modules, and the settings are the user's again.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from . import _arguments as arguments
from . import _engine
from ._errors import ScenarioError

if TYPE_CHECKING:
    import matplotlib.figure

    from ._study import Study

KINDS = ("speedup", "convergence", "bandwidth", "heatmap", "breakdown", "links")
NAMES = (*KINDS, "bands", "common", "fonts", "plot", "quantities", "style")  # modules of the scripts
FORMATS = ("svg", "png", "pdf")
OPTIONS = ("x", "y", "value", "ratio", "where", "target", "panels", "band", "scale", "width", "title")

_lock = threading.RLock()  # sys.modules and matplotlib's settings are of the whole process
_scripts: dict[str, Any] = {}


@contextlib.contextmanager
def _scripts_imported() -> Iterator[Any]:
    """Gives plot.py, with the scripts importable by their plain names."""
    hidden = {name: sys.modules.pop(name) for name in NAMES if name in sys.modules}
    sys.modules.update(_scripts)
    folder = _engine.plot_scripts()
    sys.path.insert(0, folder)
    writes = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        yield importlib.import_module("plot")
    finally:
        sys.dont_write_bytecode = writes
        sys.path.remove(folder)
        _scripts.update({name: sys.modules.pop(name) for name in NAMES if name in sys.modules})
        sys.modules.update(hidden)


def _several(value: Any) -> list[Any]:
    """Returns the elements of a list or an array, or the value alone."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _texts(value: Any, name: str) -> list[str]:
    """Returns the texts of an option that may be given several times."""
    if isinstance(value, Mapping):
        return [f"{arguments.text(key, name)}={arguments.text_or_number(one, name)}" for key, several in value.items()
                for one in _several(several)]
    return [arguments.text_or_number(one, name) for one in _several(value)]


def _words(kind: str | None, options: Mapping[str, Any]) -> list[str]:
    words = []
    for name, value in options.items():
        if name not in OPTIONS:
            raise ScenarioError(f"plot: no option \"{name}\"; known: {', '.join(OPTIONS)}", "plot", name)
        if value is None:
            continue
        if name in ("where", "target"):
            words += [f"--{name}={text}" for text in _texts(value, name)]
        elif name == "panels":
            words += [f"--panels={text}" for text in arguments.texts(value, name)]
        elif name == "ratio":
            two = arguments.texts(value, name)
            if len(two) != 2:
                raise arguments.refuse(name, value, "not two algorithms")
            words += ["--ratio", *two]
        else:
            word = arguments.choice(value, name, CHOICES[name]) if name in CHOICES else arguments.text(value, name)
            words.append(f"--{name}={word}")
    return [*words, "--", "folder", *([] if kind is None else [kind])]


CHOICES = {"band": ("sd", "ci", "minmax", "none"), "scale": ("linear", "log"), "width": ("single", "double")}


def draw(study: Study, kind: str | None, save: str | None, options: Mapping[str, Any]) -> matplotlib.figure.Figure:
    """Returns the figure; see Study.plot."""
    try:
        import matplotlib
    except ModuleNotFoundError:
        raise ModuleNotFoundError("figures need matplotlib: apt-get install python3-matplotlib") from None
    if kind is not None and kind not in KINDS:
        raise ScenarioError(f"plot: no kind of figure \"{kind}\"; known: {', '.join(KINDS)}", "plot", "kind")
    words = _words(kind, options)
    if save is not None and save.rpartition(".")[2] not in FORMATS:
        raise ScenarioError(f"plot: {save}: its name ends in none of .{', .'.join(FORMATS)}", "plot", "save")
    with _lock, contextlib.ExitStack() as stack:
        folder = study.folder
        if folder is None or kind != "links":  # tables of this object, whatever the folder holds by now
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="paceline-"))
            study.save(folder)
        stack.enter_context(matplotlib.rc_context())
        script = stack.enter_context(_scripts_imported())
        parsed = script.parse(words)
        parsed.folder = folder
        return _figure(script, parsed, study, save)


def _figure(script: Any, options: Any, study: Study, save: str | None) -> matplotlib.figure.Figure:
    try:
        _, figure = script.figure_of(options)
        if save is not None:
            script.style.save(figure, save, save.rpartition(".")[2])
    except script.WrongInput as error:
        raise ScenarioError(f"{study.title or study.file}: {str(error).removeprefix(f'{options.folder}: ')}",
                            "plot") from None
    made: matplotlib.figure.Figure = figure
    return made

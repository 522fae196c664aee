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
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

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


def _texts(value: Any) -> list[str]:
    """Returns the texts of an option that may be given several times."""
    if isinstance(value, Mapping):
        return [f"{name}={one}" for name, several in value.items()
                for one in (several if isinstance(several, (list, tuple)) else [several])]
    if isinstance(value, (list, tuple)):
        return [str(one) for one in value]
    return [str(value)]


def _arguments(kind: str | None, options: Mapping[str, Any]) -> list[str]:
    arguments = []
    for name, value in options.items():
        if name not in OPTIONS:
            raise ScenarioError(f"plot: no option \"{name}\"; known: {', '.join(OPTIONS)}", "plot", name)
        if value is None:
            continue
        if name in ("where", "target"):
            arguments += [f"--{name}={text}" for text in _texts(value)]
        elif name == "panels":
            arguments += [f"--panels={text}" for text in ([value] if isinstance(value, str) else value)]
        elif name == "ratio":
            if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
                raise ScenarioError("plot: ratio is two algorithms", "plot", "ratio")
            arguments += ["--ratio", *map(str, value)]
        elif name in CHOICES and value not in CHOICES[name]:
            raise ScenarioError(f"plot: {name} {value!r} is none of {', '.join(CHOICES[name])}", "plot", name)
        else:
            arguments.append(f"--{name}={value}")
    return [*arguments, "--", "folder", *([] if kind is None else [kind])]


CHOICES = {"band": ("sd", "ci", "minmax", "none"), "scale": ("linear", "log"), "width": ("single", "double")}


def draw(study: Study, kind: str | None, save: str | None, options: Mapping[str, Any]) -> matplotlib.figure.Figure:
    """Returns the figure; see Study.plot."""
    try:
        import matplotlib
    except ModuleNotFoundError:
        raise ModuleNotFoundError("figures need matplotlib: apt-get install python3-matplotlib") from None
    if kind is not None and kind not in KINDS:
        raise ScenarioError(f"plot: no kind of figure \"{kind}\"; known: {', '.join(KINDS)}", "plot", "kind")
    arguments = _arguments(kind, options)
    ending = "" if save is None else save.rpartition(".")[2]
    if save is not None and ending not in FORMATS:
        raise ScenarioError(f"plot: {save}: its name ends in none of .{', .'.join(FORMATS)}", "plot", "save")
    with _lock, contextlib.ExitStack() as stack:
        folder = study.folder
        if folder is None or kind != "links":  # tables of this object, whatever the folder holds by now
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="paceline-"))
            study.save(folder)
        stack.enter_context(matplotlib.rc_context())
        script = stack.enter_context(_scripts_imported())
        parsed = script.parse(arguments)
        parsed.folder = folder
        figure = _figure(script, parsed, study)
        if save is not None:
            script.style.save(figure, save, ending)
        return figure


def _figure(script: Any, options: Any, study: Study) -> matplotlib.figure.Figure:
    try:
        _, figure = script.figure_of(options)
    except script.WrongInput as error:
        raise ScenarioError(f"{study.title or study.file}: {str(error).removeprefix(f'{options.folder}: ')}",
                            "plot") from None
    made: matplotlib.figure.Figure = figure
    return made

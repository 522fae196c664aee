"""Draws figures with analysis/plots, the scripts of `paceline plot`, which are the package paceline.plots here.

They apply their own settings to matplotlib. After each figure the settings are the user's again.
"""

from __future__ import annotations

import contextlib
import tempfile
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import _arguments as arguments
from ._errors import ScenarioError

if TYPE_CHECKING:
    import matplotlib.figure

    from ._study import Study

OPTIONS = ("x", "y", "value", "ratio", "where", "target", "panels", "band", "scale", "width", "title")

_lock = threading.RLock()  # matplotlib's settings are of the whole process


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
    from .plots import plot, style
    if kind is not None and kind not in plot.KINDS:
        raise ScenarioError(f"plot: no kind of figure \"{kind}\"; known: {', '.join(plot.KINDS)}", "plot", "kind")
    words = _words(kind, options)
    if save is not None and save.rpartition(".")[2] not in plot.FORMATS:
        raise ScenarioError(f"plot: {save}: its name ends in none of .{', .'.join(plot.FORMATS)}", "plot", "save")
    with _lock, contextlib.ExitStack() as stack:
        folder = study.folder
        if folder is None or kind != "links":  # tables of this object, whatever the folder holds by now
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="paceline-"))
            study.save(folder)
        stack.enter_context(matplotlib.rc_context())
        parsed = plot.parse(words)
        parsed.folder = folder
        try:
            figure: matplotlib.figure.Figure = plot.figure_of(parsed)[1]
            if save is not None:
                style.save(figure, save, save.rpartition(".")[2])
        except plot.WrongInput as error:
            raise ScenarioError(f"{study.title or study.file}: {str(error).removeprefix(f'{folder}: ')}",
                                "plot") from None
        return figure

"""Waits for a job, shows how far it is, and stops it when the user does."""

from __future__ import annotations

import atexit
import sys
import time
import warnings
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from . import _engine
from ._errors import Stopped

STEP_S = 0.05  # the interpreter looks for signals so often
SHOWN_AFTER_S = 0.5  # quick studies show nothing

J = TypeVar("J", bound="_engine.Job")

# Jobs that threads of the interpreter may leave behind. They are stopped before it goes.
_under_way: weakref.WeakSet[Any] = weakref.WeakSet()


def _stop_all() -> None:
    for job in list(_under_way):
        job.stop()
    for job in list(_under_way):
        job.wait(10.0)


atexit.register(_stop_all)


def wait(job: J, show: Callable[[J], None] | None = None) -> J:
    """Waits until a job has ended, with the GIL released. Whatever is raised meanwhile stops the job."""
    _under_way.add(job)
    try:
        while not job.wait(STEP_S):
            if show is not None:
                show(job)
    except BaseException:
        job.stop()
        while not job.wait(STEP_S):
            pass
        raise
    finally:
        _under_way.discard(job)
    return job


def answer(job: Any) -> Any:
    """Waits for a job, and returns what it has made."""
    try:
        return wait(job).take()
    except Stopped:
        raise KeyboardInterrupt from None


def in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    ipython = shell.get_ipython() if shell is not None else None
    return ipython is not None and "IPKernelApp" in getattr(ipython, "config", {})


class Bar:
    """A progress bar of a study: tqdm's if it is there, in notebooks its widget; else a line on a terminal."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._begin = time.monotonic()
        self._tqdm: Any = None
        self._plain = False
        self._looked = False

    def show(self, job: _engine.RunJob) -> None:
        if time.monotonic() - self._begin < SHOWN_AFTER_S:
            return
        done, points, line = job.standing()
        if not self._looked:
            self._looked = True
            self._open(points)
        if self._tqdm is not None:
            self._tqdm.n = done
            self._tqdm.set_postfix_str(line.partition("  ")[2], refresh=False)
            self._tqdm.refresh()
        elif self._plain:
            sys.stderr.write(f"\r\x1b[K{line}")
            sys.stderr.flush()

    def close(self, done: int) -> None:
        if self._tqdm is not None:
            self._tqdm.n = done
            self._tqdm.close()
        elif self._plain:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def _open(self, points: int) -> None:
        notebook = in_notebook()
        terminal = sys.stderr is not None and sys.stderr.isatty()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that a notebook has no ipywidgets
                from tqdm.auto import tqdm

            self._tqdm = tqdm(total=points, desc=self._title or None, unit="point", leave=False,
                              disable=not (notebook or terminal), bar_format="{l_bar}{bar}| {n_fmt}/{total_fmt} {postfix}")
        except ImportError:
            self._plain = terminal and not notebook

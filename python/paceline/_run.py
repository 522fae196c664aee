"""Runs a study."""

from __future__ import annotations

import os
import warnings as python_warnings

from . import _arguments as arguments
from . import _engine
from ._errors import Interrupted, ScenarioError, ScenarioWarning, Stopped
from ._own import MethodError
from ._progress import Bar, answer, wait
from ._scenario import Input, Overrides, Picks, Scenario, read_input
from ._study import Study, study_of


def cores() -> int:
    return max(1, os.cpu_count() or 1)


def positive(number: int | None, name: str) -> int:
    return cores() if number is None else arguments.whole(number, name, 1, 1024)


def read(made: Input, jobs: int) -> _engine.Study:
    """Returns the study of an input, and warns of what there is to warn of."""
    try:
        study: _engine.Study = answer(_engine.read(made.file, made.text, made.objects, made.settings, made.picks, jobs,
                                             made.find))
    except ScenarioError as error:
        raise made.at_its_place(error) from None
    warn(study.warnings)
    return study


def warn(lines: list[str]) -> None:
    for line in lines:
        python_warnings.warn(line, ScenarioWarning, stacklevel=4)


def run(scenario: Scenario, overrides: Overrides | None = None, jobs: int | None = None,
        out: str | os.PathLike[str] | None = None, progress: bool = True, *, pick: Picks = (), threads: int | None = None,
        resume: bool = False, force: bool = False, models: bool = False) -> Study:
    """Runs every point of a scenario, and returns the results. The same scenario gives the bytes of `paceline run`.

    The GIL is released meanwhile, so studies run side by side in several threads. Ctrl-C ends a study within a second and
    raises `Interrupted`, whose ``study`` has the points that had finished.

    Args:
        scenario: a path, JSON text, or a dict. A dict may have Python objects in place of files: a profile as a dict, a
            trace as an array of shape (rows, 3) or a DataFrame, a mixing as a matrix of shape (workers, workers), data as
            ``(X, y)`` of shapes (samples, features) and (samples,). See docs/python.md.
        overrides: values by path, such as ``{"cluster.nodes": 8}``, as with ``--set``. They apply to every point; a list
            gives an axis of the sweep other values.
        jobs: points that run side by side. Default: the cores.
        out: a folder for results, with the same files as `paceline run` leaves. Points are kept there as they finish.
            Default: nothing is written.
        progress: whether a study that takes longer shows how far it is: by tqdm if it is installed.
        pick: of an axis, only these values: ``{"algorithm": "DGC"}`` or ``["algorithm=DGC"]``, as with ``--pick``.
        threads: threads that compute gradients, for all points together. Default: the cores.
        resume: take over the points that are finished in `out`.
        force: replace results of another scenario in `out`.
        models: keep the models of the workers at the end (``study.points[i].models``): 8 bytes per worker and parameter.
            Points that are taken over (`resume`) have none.

    Raises:
        ScenarioError: the scenario is wrong; nothing has run.
        OutputError: `out` cannot be written, is in use, or holds results of another scenario.
        Interrupted: the user pressed Ctrl-C.
    """
    pool = positive(jobs, "jobs"), positive(threads, "threads")
    folder = None if out is None else arguments.path(out, "out")
    bar_wanted = arguments.flag(progress, "progress")
    wishes = arguments.flag(resume, "resume"), arguments.flag(force, "force"), arguments.flag(models, "models")
    if wishes[0] and folder is None:
        raise ScenarioError("resume: needs out, the folder with the finished points", "resume")
    study = read(read_input(scenario, overrides, pick), pool[0])
    job = _engine.run(study, *pool, folder or "", *wishes)
    bar = Bar(study.title) if bar_wanted else None
    interrupted = False
    try:
        wait(job, bar.show if bar else None)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        if bar:
            bar.close(job.standing()[0])
    try:
        ran = job.take()
    except Stopped:
        raise KeyboardInterrupt from None
    made = study_of(ran, study, folder)
    if interrupted:
        raise Interrupted(made)
    return made


def check_method(scenario: Scenario, overrides: Overrides | None = None, *, pick: Picks = ()) -> None:
    """Runs every point of a scenario twice, and checks that a method of one's own gives the same results again.

    A method that remembers something between runs (a global, a default that changes, numpy's own random state) does not.
    Results of such a method would depend on the order of points. Takes a scenario, overrides and picks as `run` does.

    Raises MethodError, which names what differs, and what `run` raises.
    """
    first, second = (run(scenario, overrides, jobs=1, progress=False, pick=pick, models=True) for _ in range(2))
    for before, after in zip(first.points, second.points):
        differ = [name for name, value in before.metrics.items() if after.metrics.get(name) != value]
        if before.models is not None and after.models is not None and not (before.models == after.models).all():
            differ.append("the models")
        if before.outcome != after.outcome:
            differ.append("outcome")
        if differ:
            raise MethodError(f"point {before.number} differs when it is run again: {', '.join(differ)}; the method remembers "
                              "something from one run to the next", -1, -1, 0.0)

"""What can go wrong, as exceptions. The words are those of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

if TYPE_CHECKING:
    from ._study import Study


class Fault(NamedTuple):
    """One mistake: where, and what is wrong and would be right."""

    file: str
    path: str
    message: str


class ScenarioError(ValueError):
    """Mistakes in a scenario or in an argument, found before anything runs.

    ``str(error)`` is what ``paceline`` prints, a line for each mistake: file, path, what is wrong, and the fix.

    Attributes:
        faults: all mistakes that were found, as tuples of file, path and message.

    The others are those of the first mistake:
        file: the name of the scenario, or of a file that it names, or "command line" for an override.
        path: leads to the mistake, such as "cluster.nodes" or "sweep.seed[1]"; may be empty.
        problem: what is wrong, and what would be right.
        value: what stands there, as JSON has it; None if nothing does, or if it is large.
        suggestion: the known name, or the quantity with its unit, that was probably meant, or None.
    """

    def __init__(self, message: str, file: str = "", path: str = "", problem: str = "", value: Any = None,
                 suggestion: str | None = None, others: Sequence[tuple[Any, ...]] = ()) -> None:
        super().__init__("\n".join([message, *(other[0] for other in others)]))
        self.message = message
        self.file = file
        self.path = path
        self.problem = problem or message
        self.value = value
        self.suggestion = suggestion
        self.others = [tuple(other) for other in others]
        self.faults = [Fault(file, path, self.problem), *(Fault(*other[1:4]) for other in self.others)]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, *self.fields(), self.others)

    def fields(self) -> tuple[Any, ...]:
        """Returns file, path, problem, value and suggestion of the first mistake."""
        return self.file, self.path, self.problem, self.value, self.suggestion


class OutputError(OSError):
    """A folder for results cannot be written, is in use, or holds results of another scenario."""


class ScenarioWarning(UserWarning):
    """A result would be right and yet not what one thinks; docs/warnings.md lists the kinds."""


class Interrupted(KeyboardInterrupt):
    """A study was interrupted.

    Attributes:
        study: the :class:`Study` with the points that had finished.
    """

    def __init__(self, study: Study) -> None:
        super().__init__(f"{len(study.points)} of {study.size} points are done")
        self.study = study

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.study,)


class Stopped(Exception):
    """A job ended because it was asked to. It never leaves the package."""


def scenario_error(file: str, path: str, problem: str, value: Any = None) -> ScenarioError:
    """Returns the error of a mistake that is found before the engine sees the scenario."""
    where = f"{path}: " if path else ""
    return ScenarioError(f"{file}: {where}{problem}", file, path, problem, value)

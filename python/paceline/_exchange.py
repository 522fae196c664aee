"""Codecs and mixings of one's own: what is sent of a tensor, and who averages with whom."""

from __future__ import annotations

import inspect
import math
import numbers
import threading
from collections.abc import Callable, Mapping
from typing import Any, overload

from . import _engine
from ._own import MethodError, Own, options_of, place_of, refuse, said

KEYS_OF_EVERY_CODEC = ("kind", "label", "error_feedback", "coding_step", "leave_out", "coding")
KEYS_OF_EVERY_MIXING = ("kind", "label")
MOST_BYTES = 2**50


def _error_of(part: Own, where: str, raised: BaseException, step: int = -1) -> MethodError:
    file, line = place_of(raised)
    error = MethodError(f"{part.name}{where}: {said(raised)}", -1, step, -1.0, file, line)
    error.__cause__ = raised
    return error


class Codec(Own):
    """A codec of one's own, as `codec` makes it. Call it as the class that it was made of."""

    sort = "codec"

    def __init__(self, made_of: type) -> None:
        for needed in ("encode", "weigh", "decode"):
            if not callable(getattr(made_of, needed, None)):
                raise refuse(made_of, f"a codec has encode(v), weigh(size) and decode(message); {needed} is missing")
        super().__init__(made_of, options_of(made_of, 0, KEYS_OF_EVERY_CODEC))

    def make(self, options: Mapping[str, Any]) -> CodecObject | str:
        """Returns the codec with these options, or what is wrong. The engine calls it."""
        try:
            return CodecObject(self, self._made_of(**options))
        except Exception as raised:  # noqa: BLE001 - whatever the user's class does
            error = _error_of(self, " cannot be made", raised)
            return error.problem + (f" ({error.file}:{error.line})" if error.file else "")


class CodecObject:
    """The object of a codec, as the engine asks it: by one thread at a time."""

    def __init__(self, codec: Codec, made: Any) -> None:
        self._codec = codec
        self._made = made
        self._lock = threading.Lock()
        self._draws = len(inspect.signature(made.encode).parameters) > 1
        self.encode_passes = _passes(getattr(made, "encode_passes", 1), "encode_passes")
        self.decode_passes = _passes(getattr(made, "decode_passes", 1), "decode_passes")

    def bits(self, size: int) -> int:
        """Returns the bits of the message of a tensor. The engine calls it, and what follows."""
        def weigh() -> int:
            weight = self._made.weigh(size)
            if not isinstance(weight, numbers.Real) or not math.isfinite(weight) or not 0 <= float(weight) < MOST_BYTES:
                raise ValueError(f"returned {weight!r}; it is the bytes of a message, 0 or more")
            return round(8 * float(weight))

        return int(self._call(weigh, ".weigh"))

    def held(self, size: int) -> int:
        """Returns how many numbers the message of a tensor holds, which receivers write; all of them if the codec says nothing."""
        if not callable(getattr(self._made, "held", None)):
            return size

        def hold() -> int:
            held = self._made.held(size)
            if not isinstance(held, numbers.Integral) or not 0 <= int(held) <= size:
                raise ValueError(f"returned {held!r}; it is how many of {size} numbers a message holds")
            return int(held)

        return int(self._call(hold, ".held"))

    def apply(self, values: Any, draws: _engine.Draws) -> Any:
        """Returns what receivers decode of a tensor."""
        import numpy

        def code() -> Any:
            message = self._made.encode(values, draws) if self._draws else self._made.encode(values)
            decoded = numpy.asarray(self._made.decode(message), dtype=float).reshape(-1)
            if decoded.size != values.size:
                raise ValueError(f"decoded {decoded.size} numbers of a tensor of {values.size}")
            return decoded

        values = values.copy()
        return self._call(code, "")

    def _call(self, what: Callable[[], Any], where: str) -> Any:
        try:
            with self._lock:
                return what()
        except BaseException as raised:  # noqa: BLE001 - whatever the user's class does
            raise _error_of(self._codec, where, raised) from raised


def _passes(given: Any, name: str) -> int:
    if not isinstance(given, numbers.Integral) or not 0 <= int(given) <= 1000:
        raise ValueError(f"{name} is {given!r}; it is how often the entries are read and written, from 0 to 1000")
    return int(given)


def codec(made_of: type, /) -> Codec:
    """Makes a class a codec that scenarios can name (docs/how-to/your-own-method.md).

        @paceline.codec
        class Largest:
            def __init__(self, *, density=0.01):
                self.density = density

            def kept(self, size):
                return max(1, int(self.density * size))

            def encode(self, v):
                at = numpy.argsort(-abs(v), kind="stable")[:self.kept(v.size)]
                return at, v[at], v.size

            def weigh(self, size):
                return 8 * self.kept(size)

            def decode(self, message):
                at, values, size = message
                v = numpy.zeros(size)
                v[at] = values
                return v

        paceline.run({..., "algorithm": {"kind": "sgd", "codec": {"kind": Largest, "density": 0.1}}})

    It encodes a tensor, an array of one dimension, at a time. ``weigh`` returns the bytes of a message of ``size`` numbers,
    which are the same in every step; fractions of bytes add up over tensors. Messages do not add up: they are gathered, or
    travel by two-phase or servers. What a message leaves out is added to the next one, unless the scenario says
    "error_feedback": false.

    ``encode`` may take a random stream: ``def encode(self, v, draws)``. The time of coding is ``encode_passes`` and
    ``decode_passes``, 1 each by default, over the entries, times the scenario's "coding_step"; a codec with ``held(size)``
    says how many entries a message holds, which decoding goes over. One object codes for all workers, so it remembers nothing.
    """
    if not isinstance(made_of, type):
        raise refuse(made_of, "a codec is a class with encode, weigh and decode")
    return Codec(made_of)


class Mixing(Own):
    """A mixing of one's own, as `mixing` makes it. Call it as the function that it was made of.

    Attributes:
        period: the steps after which it repeats; 0: it does not.
    """

    sort = "mixing"

    def __init__(self, function: Callable[..., Any], period: int) -> None:
        super().__init__(function, options_of(function, 2, KEYS_OF_EVERY_MIXING), str(period))
        self.period = period

    def rows(self, step: int, workers: int, options: Mapping[str, Any]) -> list[list[tuple[int, float]]]:
        """Returns the weights that are not zero, row by row. The engine calls it."""
        import numpy

        try:
            w = numpy.asarray(self._made_of(step, workers, **options), dtype=float)
            if w.shape != (workers, workers):
                raise ValueError(f"returned shape {w.shape}; W of {workers} workers is {workers} x {workers}")
        except BaseException as raised:  # noqa: BLE001 - whatever the user's function does
            raise _error_of(self, "", raised, step) from raised
        rows, columns = numpy.nonzero(w)
        found: list[list[tuple[int, float]]] = [[] for _ in range(workers)]
        for i, j, weight in zip(rows.tolist(), columns.tolist(), w[rows, columns].tolist()):
            found[i].append((j, weight))
        return found


@overload
def mixing(function: Callable[..., Any], /) -> Mixing: ...
@overload
def mixing(*, period: int = ...) -> Callable[[Callable[..., Any]], Mixing]: ...


def mixing(function: Any = None, /, *, period: int = 0) -> Any:
    """Makes a function of the step and the number of workers a mixing that scenarios can name.

        @paceline.mixing
        def around(step, nodes):
            shift = numpy.roll(numpy.eye(nodes), step % (nodes - 1) + 1, axis=1)
            return (numpy.eye(nodes) + shift) / 2

        paceline.run({..., "algorithm": {"kind": "dsgd", "mixing": around}})

    It returns W, an array of shape (nodes, nodes): row i says with which weights worker i averages. Rows and columns sum to 1;
    for push-sum, which uses the edges alone, rows do. Options are keyword-only parameters: ``{"kind": around, ...}``.

    Args:
        period: the number of steps after which it repeats; 1: it is always the same. It is then checked before anything runs,
            and closed forms know it. Default: it does not repeat, and W of a step is checked in the step.
    """
    if isinstance(period, bool) or not isinstance(period, int) or period < 0:
        raise ValueError(f"period: {period!r} is not a number of steps")

    def make(function: Any) -> Mixing:
        parameters = list(inspect.signature(function).parameters.values()) if callable(function) else []
        if len([one for one in parameters if one.kind != one.KEYWORD_ONLY]) != 2:
            raise refuse(function, "a mixing is a function of the step and the number of workers: def around(step, nodes)")
        return Mixing(function, period)

    return make if function is None else make(function)


__all__ = ["Codec", "Mixing", "codec", "mixing"]

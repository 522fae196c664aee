"""What stands for vectors in a timing-only run, where nothing has values."""

from __future__ import annotations

from typing import Any


class NoValues:
    """Stands for `size` numbers in a timing-only run: arithmetic gives the same again, and messages weigh what they would.

    numpy's functions of entries (``numpy.sqrt``, ``numpy.zeros_like``, ...) accept it. What needs a value (a norm, a
    comparison, an entry) raises ValueError: guard it with ``if not self.timing_only``.
    """

    __slots__ = ("size",)
    __array_priority__ = 1000.0

    def __init__(self, size: int) -> None:
        self.size = size

    @property
    def shape(self) -> tuple[int]:
        """Returns the shape, of one dimension."""
        return (self.size,)

    @property
    def ndim(self) -> int:
        """Returns 1."""
        return 1

    @property
    def dtype(self) -> Any:
        """Returns numpy's float64."""
        import numpy

        return numpy.dtype("float64")

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        return f"<{self.size} numbers without values>"

    def _same(self, *_: Any, **__: Any) -> NoValues:
        """Returns this again."""
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _same
    __pow__ = __rpow__ = __iadd__ = __isub__ = __imul__ = __itruediv__ = __ipow__ = _same
    __neg__ = __pos__ = __abs__ = _same
    copy = astype = reshape = ravel = flatten = _same

    def fill(self, value: Any) -> None:
        """Does nothing."""

    def __setitem__(self, key: Any, value: Any) -> None:
        """Does nothing."""

    def __getitem__(self, key: Any) -> NoValues:
        if isinstance(key, slice):
            return NoValues(len(range(*key.indices(self.size))))
        if key is Ellipsis:
            return self
        raise self._needed("an entry")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **_: Any) -> NoValues:
        if method != "__call__" or ufunc.signature is not None or ufunc.nout != 1:
            raise self._needed(f"numpy.{ufunc.__name__}.{method}")
        if ufunc.types[0].endswith("?"):
            raise self._needed(f"numpy.{ufunc.__name__}")
        return self

    def __array_function__(self, function: Any, types: Any, given: tuple[Any, ...], named: dict[str, Any]) -> NoValues:
        if function.__name__ in ("zeros_like", "ones_like", "empty_like", "full_like", "copy", "clip", "where", "nan_to_num"):
            return self
        raise self._needed(f"numpy.{function.__name__}")

    def _needed(self, what: str) -> ValueError:
        return ValueError(f"{what} needs values, and a timing-only run has none: use it only if not self.timing_only")

    def _refuse(self, *_: Any, **__: Any) -> Any:
        """Raises ValueError."""
        raise self._needed("this")

    __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __float__ = __int__ = __iter__ = __matmul__ = __rmatmul__ = _refuse
    __array__ = tolist = item = sum = mean = max = min = any = all = dot = _refuse

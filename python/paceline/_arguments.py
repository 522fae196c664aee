"""Reads the arguments of calls. Each is what its call asks for, or a ScenarioError names it and says what it should be.

Numbers and texts of numpy and pandas are those that they hold, as in a DataFrame's cells. A number without a fraction is
whole. None of these functions imports numpy.
"""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Iterable, Mapping
from typing import Any

from ._errors import ScenarioError

SHOWN = 60  # characters of a value in a message


def shown(value: Any) -> str:
    """Returns a value as a message shows it: one short line."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # noqa: BLE001 - whatever the user's class does
        text = f"a {type(value).__name__}"
    return text if len(text) <= SHOWN else text[:SHOWN - 3] + "..."


def refuse(name: str, value: Any, what: str) -> ScenarioError:
    return ScenarioError(f"{name}: {shown(value)} is {what}", name)


def plain(value: Any) -> Any:
    """Returns what a scalar of numpy, or an array without dimensions, holds."""
    return value.item() if getattr(value, "ndim", None) == 0 and hasattr(value, "item") else value


def is_masked(value: Any) -> bool:
    """Returns whether a value is an array of numpy with a masked element, which holds no number there."""
    if not (hasattr(value, "mask") and hasattr(value, "filled")):
        return False
    import numpy

    return bool(numpy.any(value.mask))


def number(value: Any, name: str, least: float = -math.inf, most: float = math.inf) -> float:
    given = None if is_masked(value) else plain(value)
    if isinstance(given, numbers.Real) and not isinstance(given, bool):
        try:
            made = float(given)
        except OverflowError:
            made = math.inf
        if math.isfinite(made) and least <= made <= most:
            return made
    limits = "" if (least, most) == (-math.inf, math.inf) else f" from {least:g} to {most:g}"
    raise refuse(name, value, f"not a {'finite ' if not limits else ''}number{limits}")


def whole(value: Any, name: str, least: int, most: int) -> int:
    given: Any = None if is_masked(value) else plain(value)
    is_number = isinstance(given, numbers.Real) and not isinstance(given, bool)
    if is_number and least <= given < math.inf:
        made = int(math.floor(given))
        if made == given and made <= most:
            return made
    raise refuse(name, value, f"not a whole number from {least} to {most}")


def flag(value: Any, name: str) -> bool:
    given = plain(value)
    if not isinstance(given, bool):
        raise refuse(name, value, "neither True nor False")
    return given


def text(value: Any, name: str) -> str:
    given = plain(value)
    if not isinstance(given, str):
        raise refuse(name, value, "not a string")
    try:
        given.encode()
    except UnicodeEncodeError:
        raise refuse(name, value, "not a Unicode string: it has half a surrogate pair") from None
    return str(given)


def text_or_number(value: Any, name: str) -> str:
    """Returns a text as it is, and a number as its shortest text."""
    given = plain(value)
    if isinstance(given, str):
        return text(given, name)
    number(value, name)
    return f"{given}"


def choice(value: Any, name: str, known: Iterable[str]) -> str:
    given = text(value, name)
    if given not in known:
        raise refuse(name, value, f"none of {', '.join(known)}")
    return given


def path(value: Any, name: str) -> str:
    """Returns the name of a file or folder, which is not empty."""
    try:
        given = os.fsdecode(value)
    except TypeError:
        raise refuse(name, value, "not the name of a file or folder: give a string or a path") from None
    if given == "":
        raise ScenarioError(f"{name}: is empty; name a file or folder, or leave it out", name)
    if "\0" in given:
        raise refuse(name, value, "not the name of a file or folder: it has a NUL")
    return text(given, name)


def mapping(value: Any, name: str, example: str) -> Mapping[str, Any]:
    """Returns a dict whose keys are texts."""
    if not isinstance(value, Mapping):
        raise refuse(name, value, f"not a dict, such as {example}")
    return {text(key, f"a key of {name}"): inner for key, inner in value.items()}


def texts(value: Any, name: str) -> list[str]:
    """Returns the texts of a list, or of one text alone."""
    if isinstance(value, str):
        return [text(value, name)]
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (bytes, Mapping)) or hasattr(value, "columns") or not isinstance(value, Iterable):
        raise refuse(name, value, "not a list of strings")
    return [text(one, name) for one in value]

"""Turns what a user passes as a scenario into what the engine reads: a text, and contents in place of files.

A scenario is a path, JSON text, or a dict. In a dict, and in overrides, Python objects may stand in place of files:

====================  =====================================================================================
where                 what
====================  =====================================================================================
``profile``           a dict as in a profile file (docs/adding/profile.md)
``data``              ``(X, y)``, or a dict with "X" and "y" (see `_data`)
``file`` of a trace   an array of shape (rows, 3), a list of such rows, or a DataFrame with the named columns
``testbed``           a testbed as a dict, or what `paceline.calibrate` returned
``mixing``            a matrix W of shape (workers, workers): row i says what worker i takes from whom
``kind``              a method, problem, codec or mixing of one's own (`paceline.algorithm`, `paceline.problem`, ...);
                      without options, it may also stand in place of the object: ``"mixing": mine``
any other file        its content, as ``bytes``
====================  =====================================================================================

numpy's numbers and arrays, tuples, ranges and paths may stand wherever JSON has numbers, lists and texts.

An object becomes a named content: "python:" and a hash of it. The engine finds it by this name, and so do results that
are kept: they are those of the same content. Nothing here imports numpy or pandas.
"""

from __future__ import annotations

import json
import math
import numbers
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Union

from . import _arguments as arguments
from . import _engine
from ._errors import ScenarioError, scenario_error
from ._own import Find, Own, finder

Scenario = Union[str, "os.PathLike[str]", Mapping[str, Any]]
Overrides = Mapping[str, Any]
Picks = Union[Mapping[str, Any], Iterable[str]]

PLACES = {"method": "algorithm", "problem": "model", "codec": "codec", "mixing": "mixing"}  # of parts of one's own
BLANKS = " \t\r\n\ufeff"  # before JSON; the last is a byte-order mark
MOST_LEVELS = 32  # of nesting, as in app/json/json_file.hpp
ACCESS_COLUMNS = ("time_s", "up_mbps", "down_mbps")
ABSENCE_COLUMNS = ("node", "leaves_s", "returns_s")


@dataclass
class Input:
    """A scenario as the engine reads it."""

    file: str  # its name in errors; names of files are relative to its folder
    text: str
    settings: list[str] = field(default_factory=list)  # "path=JSON"
    picks: list[str] = field(default_factory=list)  # "axis=label"
    objects: dict[str, bytes] = field(default_factory=dict)  # contents by name
    places: dict[str, str] = field(default_factory=dict)  # name of a content: where the user wrote it
    parts: dict[str, Own] = field(default_factory=dict)  # of one's own, by kind
    kinds: dict[int, str] = field(default_factory=dict)  # of parts, by identity

    @property
    def find(self) -> Find:
        """Returns what finds parts of one's own for the engine."""
        return finder(self.parts)

    def at_its_place(self, error: ScenarioError) -> ScenarioError:
        """Returns an error with what is wrong in an object at the place of the object in the scenario."""
        first, *others = (self._at_its_place(*mistake) for mistake in [(error.message, *error.fields()), *error.others])
        message, file, path, problem, value, suggestion = first
        return ScenarioError(message, file, path, problem, value, suggestion, others)

    def _at_its_place(self, message: str, file: str, path: str, problem: str, *rest: Any) -> tuple[Any, ...]:
        place = self.places.get(file.rsplit("/", 1)[-1].split(" ", 1)[0])
        if place is None:
            return message, file, path, problem, *rest
        inside = path if not path or path.split()[0] in ("line", "byte") else f".{path}"
        path = f"{place} ({inside})" if inside and not inside.startswith(".") else place + inside
        return f"{self.file}: {path}: {problem}", self.file, path, problem, *rest


def read_input(scenario: Scenario, overrides: Overrides | None = None, pick: Picks = ()) -> Input:
    """Returns the input of the engine. Raises ScenarioError, and TypeError for what is no scenario at all."""
    if isinstance(scenario, Mapping):
        made = Input("scenario", "")
        made.text = json.dumps(_plain(scenario, "", made))
    elif isinstance(scenario, str) and scenario.lstrip(BLANKS)[:1] == "{":
        made = Input("scenario", arguments.text(scenario, "scenario"))
    elif isinstance(scenario, (str, os.PathLike)):
        file = arguments.path(scenario, "scenario")
        made = Input(file, _engine.text_of_file(file))
    else:
        raise TypeError(f"a scenario is a path, a dict or JSON text, not {type(scenario).__name__}")
    made.settings = settings_of(overrides, "overrides", made)
    made.picks = _picks(pick)
    return made


def settings_of(overrides: Overrides | None, name: str, made: Input) -> list[str]:
    """Returns the settings of overrides, which are the argument of this name."""
    given = arguments.mapping({} if overrides is None else overrides, name, '{"cluster.nodes": 8}')
    return [f"{path}={json.dumps(_plain(value, path, made))}" for path, value in given.items()]


def _picks(pick: Picks) -> list[str]:
    if not isinstance(pick, Mapping):
        return arguments.texts(pick, "pick")
    given = arguments.mapping(pick, "pick", '{"algorithm": "DGC"}')
    return [arguments.text(f"{axis}={arguments.plain(label)}", "pick") for axis, label in given.items()]


def _refuse(made: Input, path: str, problem: str, value: Any = None) -> ScenarioError:
    return scenario_error(made.file, path, problem, value)


def _key_of(path: str) -> str:
    """Returns the last key of a path, without indices of lists: "profile" for "sweep.workload.profile[1]"."""
    return path.rpartition(".")[2].partition("[")[0]


def _plain(value: Any, path: str, made: Input, level: int = 0) -> Any:
    """Returns a value as JSON has it."""
    if value is None or isinstance(value, (bool, str)):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        if not math.isfinite(value):
            raise _refuse(made, path, f"{value} is not a number in JSON; give a finite one")
        return float(value)
    _refuse_masked(value, path, made)
    if level > MOST_LEVELS:
        raise _refuse(made, path[:80], f"nested deeper than {MOST_LEVELS} levels")
    key = _key_of(path)
    special = _special(value, key, path, made)
    if special is not None:
        return _plain(special, path, made, level)
    if isinstance(value, Mapping):
        return _plain_mapping(value, path, made, level)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist"):  # of numpy and pandas: arrays and numbers
        return _plain(value.tolist(), path, made, level + 1)
    if isinstance(value, (Sequence, range)):
        return [_plain(one, f"{path}[{i}]", made, level + 1) for i, one in enumerate(value)]
    if callable(value):
        raise _refuse(made, path, f"{getattr(value, '__name__', 'this')} is not marked: write @paceline.algorithm, @paceline.problem, "
                                  "@paceline.codec or @paceline.mixing above it")
    raise _refuse(made, path, f"a {type(value).__name__} cannot be written as JSON; give a dict, a list, a string or a number")


def _refuse_masked(value: Any, path: str, made: Input) -> None:
    if arguments.is_masked(value):
        raise _refuse(made, path, "has masked elements, which are not numbers; fill them, or leave them out")


def _plain_mapping(value: Mapping[Any, Any], path: str, made: Input, level: int) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    if isinstance(value.get("kind"), Own) and "label" not in value:
        plain["label"] = value["kind"].name
    for key, inner in value.items():
        if not isinstance(key, str):
            raise _refuse(made, path, f"{key!r:.60} is not a key; keys are strings")
        plain[str(key)] = _plain(inner, f"{path}.{key}" if path else key, made, level + 1)
    return plain


def _special(value: Any, key: str, path: str, made: Input) -> Any:
    """Returns what stands in the scenario for an object in place of a file or a name; None if the value is none."""
    if isinstance(value, Own) and key == PLACES[value.sort]:
        return {"kind": value}
    if isinstance(value, Own):
        if id(value) not in made.kinds:  # hashing its source takes a while
            made.kinds[id(value)] = kind = value.kind
            made.parts[kind] = value
        return made.kinds[id(value)]
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _named(bytes(value), key, "", path, made)
    if key == "profile" and isinstance(value, Mapping) and ("transformer" not in value or "name" in value):
        text = json.dumps(_plain_mapping(value, path, made, 0)).encode()
        return _named(text, str(value.get("name", "profile")), ".json", path, made)
    if key == "testbed":
        content = getattr(value, "data", value)
        if isinstance(content, Mapping):
            return _named(json.dumps(_plain_mapping(content, path, made, 0)).encode(), "testbed", ".json", path, made)
    if key == "data" and (isinstance(value, tuple) or (isinstance(value, Mapping) and "X" in value)):
        return _data(value, path, made)
    if key == "mixing" and _is_table(value):
        return _mixing(value, path, made)
    if key == "file" and _is_table(value):
        columns = ABSENCE_COLUMNS if "failures" in path else ACCESS_COLUMNS
        return _named(_table(value, columns, path, made), key, ".csv", path, made)
    return None


def _named(content: bytes, word: str, ending: str, path: str, made: Input) -> str:
    """Returns the name of a content. Equal contents have equal names."""
    import hashlib  # loads OpenSSL, which takes a while

    clean = "".join(c if c.isalnum() and c.isascii() else "-" for c in word[:40]) or "object"
    name = f"python:{clean}-{hashlib.sha256(content).hexdigest()[:16]}{ending}"
    made.objects[name] = content
    made.places.setdefault(name, path)
    return name


def _is_table(value: Any) -> bool:
    """Returns whether a value is a DataFrame, an array of two dimensions, or a list of lists of no lists."""
    if hasattr(value, "columns") and hasattr(value, "to_dict"):
        return True
    if hasattr(value, "ndim"):
        return bool(value.ndim == 2)
    lists = (list, tuple)
    return isinstance(value, lists) and len(value) > 0 and all(
        isinstance(row, lists) and not any(isinstance(inner, lists) for inner in row) for row in value)


def _rows(value: Any, columns: Sequence[str] | None, path: str, made: Input) -> list[list[float]]:
    """Returns the rows of a table as numbers, the named columns of a DataFrame in their order."""
    _refuse_masked(value, path, made)
    if hasattr(value, "columns") and hasattr(value, "to_dict"):
        if columns is not None:
            missing = [name for name in columns if name not in value.columns]
            if missing:
                raise _refuse(made, path, f"the DataFrame has no column \"{missing[0]}\"; it needs {', '.join(columns)}")
            value = value[list(columns)]
        value = value.to_numpy()
    rows: list[list[float]] = value.tolist() if hasattr(value, "tolist") else [list(row) for row in value]
    width = len(columns) if columns is not None else len(rows[0]) if rows else 0
    for i, row in enumerate(rows):
        if len(row) != width:
            raise _refuse(made, f"{path}[{i}]", f"has {len(row)} numbers; a row has {width}")
        for j, number in enumerate(row):
            try:
                arguments.number(number, f"{path}[{i}]")
                row[j] = arguments.plain(number)
            except ScenarioError:
                raise _refuse(made, f"{path}[{i}]", f"{arguments.shown(number)} is not a finite number") from None
    return rows


def _csv(header: Sequence[str], rows: Iterable[Sequence[float]]) -> bytes:
    lines = [",".join(header)]
    lines += [",".join(map(repr, row)) for row in rows]
    return ("\n".join(lines) + "\n").encode()


def _table(value: Any, columns: Sequence[str], path: str, made: Input) -> bytes:
    return _csv(columns, _rows(value, columns, path, made))


def _mixing(value: Any, path: str, made: Input) -> dict[str, Any]:
    """Returns the explicit mixing of a matrix. Its rows sum to 1, as the rest of a row stays with its worker."""
    rows = _rows(value, None, path, made)
    for i, row in enumerate(rows):
        if len(row) != len(rows):
            raise _refuse(made, path, f"is a matrix of {len(rows)} x {len(row)}; a mixing is square")
        if abs(sum(row) - 1) > 1e-9:
            raise _refuse(made, f"{path}[{i}]", f"sums to {sum(row):.12g}; the weights of a worker sum to 1")
        if row[i] < 0:
            raise _refuse(made, f"{path}[{i}]", f"keeps {row[i]:.6g} of its own; a weight is not negative")
    edges = [[i, j, weight] for i, row in enumerate(rows) for j, weight in enumerate(row) if i != j and weight != 0]
    return {"kind": "explicit", "workers": len(rows), "directed": True, "edges": edges}


def _array(value: Any, what: str, path: str, made: Input) -> Any:
    """Returns a numpy array; numpy is there, because the user has one."""
    import numpy

    _refuse_masked(value, path, made)
    try:
        array = numpy.asarray(value)
        if array.dtype.kind == "O":  # of lists, of pandas: what its elements are
            array = _of_one_kind(array.ravel().tolist()).reshape(array.shape)
    except Exception:  # noqa: BLE001 - what numpy, pandas or the user's class raises is not for users
        raise _refuse(made, path, f"{what} is not an array of numbers: {arguments.shown(value)}; give rows of equal length, "
                                  "all of them numbers") from None
    kinds = "iufbU" if what in ("y", "y_test") else "iufb"
    if array.dtype.kind not in kinds:
        raise _refuse(made, path, f"{what} holds {array.dtype}; give numbers{' or names' if 'U' in kinds else ''}")
    if array.dtype.kind == "f" and not numpy.isfinite(array).all():
        raise _refuse(made, path, f"{what} has a number that is not finite")
    if array.dtype.kind in "fb":
        return array.astype(float if array.dtype.kind == "f" else int)
    return array


def _of_one_kind(values: list[Any]) -> Any:
    """Returns an array of numbers or of texts. Raises ScenarioError for others."""
    import numpy

    plain = [arguments.plain(value) for value in values]
    if not all(isinstance(value, str) for value in plain):
        for value in plain:
            arguments.number(value, "element")
    return numpy.array(plain)


def _data(value: Any, path: str, made: Input) -> dict[str, Any]:
    """Returns the data of a user: samples X, of shape (samples, ...), and y, of shape (samples,).

    Whole numbers and texts y are classes, those that occur; other numbers are targets. Beside "X" and "y", a dict takes the
    keys of CSV data: "partition", "test_share" (default 0.2), "standardize", "seed". Images, as uint8 of shape (samples, height, width),
    become IDX data, and need "X_test" and "y_test".
    """
    if isinstance(value, tuple):
        if len(value) != 2:
            raise _refuse(made, path, f"is a tuple of {len(value)}; data are (X, y)")
        value = {"X": value[0], "y": value[1]}
    given = dict(value)
    if "y" not in given:
        raise _refuse(made, path, "has \"X\" and no \"y\"")
    x, y = _array(given.pop("X"), "X", path, made), _array(given.pop("y"), "y", path, made)
    if x.ndim < 2 or y.ndim != 1 or len(x) != len(y) or x.size == 0:
        raise _refuse(made, path, f"X has shape {x.shape} and y {y.shape}; they are (samples, features) and (samples,)")
    if x.ndim == 3 and x.dtype.name == "uint8":
        return _images(x, y, given, path, made)
    for name in ("X_test", "y_test"):
        if name in given:
            raise _refuse(made, path, f"\"{name}\" is for images (uint8 of three dimensions); use \"test_share\" here")
    flat = x.reshape(len(x), -1)
    predicted = "target" if y.dtype.kind == "f" else "label"
    header = [f"x{i}" for i in range(flat.shape[1])] + ["y"]
    if y.dtype.kind == "U":
        y = _numbered(y)
    rows = [[*row, target] for row, target in zip(flat.tolist(), y.tolist())]
    name = _named(_csv(header, rows), "data", ".csv", path, made)
    return {"kind": "csv", "file": name, predicted: "y", **given}


def _numbered(names: Any) -> Any:
    """Returns the number of each name among those that occur, in order."""
    import numpy

    return numpy.unique(names, return_inverse=True)[1]


def _images(x: Any, y: Any, given: dict[str, Any], path: str, made: Input) -> dict[str, Any]:
    """Returns IDX data: big-endian headers, and bytes (yann.lecun.com/exdb/mnist)."""
    if "X_test" not in given or "y_test" not in given:
        raise _refuse(made, path, "images need \"X_test\" and \"y_test\", too")
    x_test = _array(given.pop("X_test"), "X_test", path, made)
    y_test = _array(given.pop("y_test"), "y_test", path, made)
    if y.dtype.kind == "U" and y_test.dtype.kind == "U" and y_test.ndim == 1:
        strange = sorted(set(y_test.tolist()) - set(y.tolist()))
        if strange:
            raise _refuse(made, path, f"y_test has {strange[0]!r:.40}, which y has not")
        numbered = _numbered([*y.tolist(), *y_test.tolist()])
        y, y_test = numbered[:len(y)], numbered[len(y):]
    for images, labels in ((x, y), (x_test, y_test)):
        if images.shape[1:] != x.shape[1:] or images.dtype.name != "uint8" or labels.shape != (len(images),) \
                or images.size == 0:
            raise _refuse(made, path, "training and test images are uint8 of one height and width, each with a label")
        if labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() > 255:
            raise _refuse(made, path, "labels of images are whole numbers from 0 to 255, or at most 256 names")

    def content(array: Any) -> bytes:
        sizes = b"".join(int(size).to_bytes(4, "big") for size in array.shape)
        return bytes([0, 0, 8, array.ndim]) + sizes + bytes(array.astype("uint8").tobytes())

    parts = {"train_images": x, "train_labels": y, "test_images": x_test, "test_labels": y_test}
    files = {key: _named(content(array), key, "", path, made) for key, array in parts.items()}
    return {"kind": "idx", **files, **given}

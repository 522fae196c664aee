"""Parts of one's own, which scenarios name: what all of them have, and what it means that one fails.

A part is a training method (_method), a problem (_problem), a codec or a mixing (_exchange). Its name in scenarios contains a
hash of its source, so that results that are kept are those of the same source.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import inspect
import json
import os
import sys
import threading
import traceback
import types
from collections.abc import Callable, Mapping
from typing import Any, Union

from . import _engine

PREFIX = "python:"  # of kinds that stand for objects


class MethodError(RuntimeError):
    """A method, problem, codec or mixing of one's own has failed. Its ``__cause__`` is the exception that it raised, if there is one.

    Attributes:
        problem: what is wrong, in a line.
        node: the worker; -1 if it is that of no one worker.
        step: the step that it was in; -1 before the first.
        now_s: the simulated time, in seconds; -1 if it is not known.
        file, line: where in its code; empty and 0 if it is not known.
    """

    def __init__(self, problem: str, node: int, step: int, now_s: float, file: str = "", line: int = 0) -> None:
        place = f"{file}:{line}: " if file else ""
        at = f", at {now_s:g} s" if now_s >= 0 else ""
        when = f" (node {node}, step {step}{at})" if node >= 0 else ""
        super().__init__(f"{place}{problem}{when}")
        self.problem = problem
        self.node = node
        self.step = step
        self.now_s = now_s
        self.file = file
        self.line = line

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problem, self.node, self.step, self.now_s, self.file, self.line)


HERE = os.path.dirname(os.path.abspath(__file__))


def failure(raised: BaseException, node: int, step: int, now_s: float) -> MethodError:
    """Returns the error of what a part has raised. The engine calls it."""
    if isinstance(raised, MethodError):  # of a part that another one has used
        return raised
    file, line = place_of(raised)
    error = MethodError(said(raised), node, step, now_s, file, line)
    error.__cause__ = raised
    return error


def place_of(raised: BaseException) -> tuple[str, int]:
    """Returns the file and the line of the user's code that has raised an exception; an empty text and 0 if there is none."""
    frames = [frame for frame in traceback.extract_tb(raised.__traceback__) if _is_file_of_user(frame.filename)]
    return (frames[-1].filename, frames[-1].lineno or 0) if frames else ("", 0)


def said(raised: BaseException) -> str:
    """Returns what an exception says, in a line."""
    return "".join(traceback.format_exception_only(type(raised), raised)).strip().splitlines()[-1]


_preparing = threading.Lock()


class Own:
    """A part of one's own, made of a function or a class.

    Attributes:
        name: its name.
        options: its options, as tuples of name, type ("number", "integer", "boolean", "text", "any"), and whether one has
            to be given.
        kind: its name in scenarios, which contains a hash of its source as it is now.
    """

    sort = ""

    def __init__(self, made_of: Callable[..., Any], options: list[tuple[str, str, bool]], settings: str = "") -> None:
        with _preparing:  # pybind11 imports numpy behind a lock of its own, which threads of points must not meet
            _engine.prepare_arrays()
        functools.update_wrapper(self, made_of, updated=())
        self.name: str = getattr(made_of, "__name__", self.sort)
        self.options = options
        self._made_of = made_of
        self._settings = settings
        self._also: list[Callable[..., Any]] = []  # functions that belong to it

    @property
    def kind(self) -> str:
        """Returns its name in scenarios, which contains a hash of its source as it is now."""
        seen: dict[int, Any] = {}
        texts = [text for part in (self._made_of, *self._also) for text in _source_of(part, seen)]
        content = self._settings + "\n" + "\n".join(texts)
        return f"{PREFIX}{self.name}-{hashlib.sha256(content.encode()).hexdigest()[:16]}"

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self._made_of(*given, **named)

    def __repr__(self) -> str:
        return f"<paceline {self.sort} {self.name}>"


def refuse(function: Any, problem: str) -> TypeError:
    return TypeError(f"{getattr(function, '__name__', 'this')}: {problem}")


def options_of(function: Callable[..., Any], first: int, taken: tuple[str, ...]) -> list[tuple[str, str, bool]]:
    """Returns the options of a function: its parameters from number `first` on, which are keyword-only."""
    options = []
    for parameter in list(inspect.signature(function).parameters.values())[first:]:
        if parameter.kind != parameter.KEYWORD_ONLY:
            raise refuse(function, f"options are keyword-only: write a * before {parameter.name}")
        if parameter.name in taken:
            raise refuse(function, f"{parameter.name} is already a key; give the option another name")
        options.append((parameter.name, _type_of(parameter), parameter.default is parameter.empty))
    return options


def _type_of(parameter: inspect.Parameter) -> str:
    """Returns the type of an option, by its annotation or else by its default."""
    names = {"bool": "boolean", "int": "integer", "float": "number", "str": "text"}
    annotation = parameter.annotation
    if annotation is not parameter.empty:
        return names.get(annotation if isinstance(annotation, str) else getattr(annotation, "__name__", ""), "any")
    given = type(parameter.default).__name__
    return "number" if given == "int" else names.get(given, "any")  # momentum=0 may be 0.9


def _source_of(function: Any, seen: dict[int, Any]) -> list[str]:
    """Returns the source of a function, and of the functions, classes and constants of the same program that it uses."""
    if id(function) in seen:
        return []
    seen[id(function)] = function
    function = inspect.unwrap(function)
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):
        source = ""
    if isinstance(function, type):
        return [source, *_source_of_class(function, seen)]
    code = getattr(function, "__code__", None)
    if code is None:
        return [source]
    texts = [source or _text_of_code(code), repr(function.__defaults__), repr(function.__kwdefaults__)]
    return texts + _source_of_used(function, seen)


def _source_of_class(made: type, seen: dict[int, Any]) -> list[str]:
    """Returns the source of what the methods of a class use, and of the classes that it is made of."""
    texts: list[str] = []
    for base in made.__mro__[1:]:
        if _is_of_user(base) and base is not object:
            texts += _source_of(base, seen)
    for value in vars(made).values():
        function = getattr(value, "__func__", getattr(value, "fget", value))
        if isinstance(function, types.FunctionType):
            texts += _source_of_used(function, seen)
    return texts


def _source_of_used(function: Any, seen: dict[int, Any]) -> list[str]:
    """Returns the source of the functions, classes and constants that a function uses."""
    texts: list[str] = []
    used = inspect.getclosurevars(function) if isinstance(function, types.FunctionType) else None
    for name, value in sorted({**used.globals, **used.nonlocals}.items()) if used else []:
        if isinstance(value, (bool, int, float, str, bytes, tuple)) or value is None:
            texts.append(f"{name} = {value!r}")
        elif isinstance(value, (list, dict)):
            texts.append(f"{name} = {_text_of(value)}")
        elif hasattr(value, "tobytes") and hasattr(value, "dtype"):
            texts.append(f"{name} = {value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}")
        elif isinstance(value, Own):
            texts += _source_of(value._made_of, seen)
        elif isinstance(value, (types.FunctionType, type)) and _is_of_user(value):
            texts += _source_of(value, seen)
        elif callable(value):
            texts.append(f"{name} = {getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}")
    return texts


def _text_of(value: Any) -> str:
    """Returns the text of a list or dict of plain values; empty for others, whose text would not say what they are."""
    try:
        return json.dumps(value, sort_keys=True)
    except (TypeError, ValueError):
        return ""


def _text_of_code(code: types.CodeType) -> str:
    inner = [_text_of_code(one) if isinstance(one, types.CodeType) else repr(one) for one in code.co_consts]
    return f"{code.co_code.hex()} {code.co_names} {inner}"


def _is_of_user(value: Any) -> bool:
    """Returns whether a function or class is of the user's program: no installed package, and not paceline."""
    module = sys.modules.get(getattr(value, "__module__", "") or "")
    file = getattr(module, "__file__", None)
    return file is None or _is_file_of_user(file)


def _is_file_of_user(file: str) -> bool:
    elsewhere = ("site-packages", "dist-packages", HERE, f"{sys.base_prefix}/lib/python", "<__array_function__", "<frozen ")
    return not any(part in file for part in elsewhere)


Find = Callable[[str, str, str], Union[Own, str, None]]


def finder(parts: Mapping[str, Own]) -> Find:
    """Returns what finds parts for the engine: those of this mapping by their kinds, others in files of Python."""
    def find(sort: str, kind: str, scenario: str) -> Own | str | None:
        known = parts.get(kind)
        if known is None:
            return _part_in_file(sort, kind, scenario)
        return known if known.sort == sort else f"{known.name} is a {known.sort}; this is the place of a {sort}"

    return find


def _part_in_file(sort: str, kind: str, scenario: str) -> Own | str | None:
    """Returns the part that "file.py:name" names; the file is relative to the scenario's folder."""
    name, _, part = kind.rpartition(":")
    if not name.endswith(".py"):
        return None
    file = os.path.join(os.path.dirname(scenario), name)
    if not os.path.isfile(file):
        return f"\"{name}\": there is no such file of Python; the name is relative to the scenario's folder"
    try:
        module = _module_of(os.path.abspath(file))
    except Exception as error:  # noqa: BLE001 - whatever the user's file does
        return f"\"{name}\" cannot be imported: {said(error)}"
    found = getattr(module, part, None)
    if isinstance(found, Own) and found.sort == sort:
        return found
    known = ", ".join(key for key, value in vars(module).items() if isinstance(value, Own) and value.sort == sort)
    mark = "algorithm" if sort == "method" else sort
    return f"\"{name}\" has no {sort} \"{part}\"; " + (f"it has {known}" if known else f"mark one with @paceline.{mark}")


def _module_of(file: str) -> Any:
    """Returns the module of a file, as it is now. Its folder is searched for what it imports."""
    name = "paceline_method_" + hashlib.sha256(file.encode()).hexdigest()[:12]
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError("no module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, os.path.dirname(file))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(os.path.dirname(file))
    return module


__all__ = ["Find", "MethodError", "Own", "failure", "finder", "options_of", "place_of", "refuse", "said"]

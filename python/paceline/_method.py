"""Methods of one's own: what makes an `async def` one, its name by its source, and what it means that one fails."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import inspect
import os
import sys
import threading
import traceback
import types
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar, Union, overload

from . import _engine
from ._worker import Worker

F = TypeVar("F", bound=Callable[..., Coroutine[Any, Any, None]])

KEYS_OF_EVERY_METHOD = ("kind", "label", "optimizer", "mixing", "wire", "codec", "aggregation", "schedule")
REACTIONS = ("cannot-go-on", "reruns-models", "renormalizes", "skips")
PREFIX = "python:"  # of kinds that stand for functions


class MethodError(RuntimeError):
    """A method of one's own has failed. Its ``__cause__`` is the exception that it raised, if there is one.

    Attributes:
        problem: what is wrong, in a line.
        node: the worker; -1 if it is that of no one worker.
        step: the step that it was in; -1 before the first.
        now_s: the simulated time, in seconds.
        file, line: where in the method's code; empty and 0 if it is not known.
    """

    def __init__(self, problem: str, node: int, step: int, now_s: float, file: str = "", line: int = 0) -> None:
        place = f"{file}:{line}: " if file else ""
        when = f" (node {node}, step {step}, at {now_s:g} s)" if node >= 0 else ""
        super().__init__(f"{place}{problem}{when}")
        self.problem = problem
        self.node = node
        self.step = step
        self.now_s = now_s
        self.file = file
        self.line = line

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problem, self.node, self.step, self.now_s, self.file, self.line)


_preparing = threading.Lock()
HERE = os.path.dirname(os.path.abspath(__file__))


def failure(raised: BaseException, node: int, step: int, now_s: float) -> MethodError:
    """Returns the error of what a method has raised. The engine calls it."""
    frames = [frame for frame in traceback.extract_tb(raised.__traceback__) if _is_file_of_user(frame.filename)]
    file, line = (frames[-1].filename, frames[-1].lineno or 0) if frames else ("", 0)
    said = "".join(traceback.format_exception_only(type(raised), raised)).strip().splitlines()[-1]
    error = MethodError(said, node, step, now_s, file, line)
    error.__cause__ = raised
    return error


class Method:
    """A method of one's own, as `algorithm` makes it. Call it as the function that it was made of.

    Attributes:
        function: the function.
        options: its options, as tuples of name, type ("number", "integer", "boolean", "text", "any"), and whether one has
            to be given.
        kind: its name in scenarios, which contains a hash of its source.
    """

    def __init__(self, function: Callable[..., Coroutine[Any, Any, None]], when_nodes_die: str, runs_freely: bool,
                 decays_by_itself: bool) -> None:
        with _preparing:  # pybind11 imports numpy behind a lock of its own, which threads of points must not meet
            _engine.prepare_arrays()
        functools.update_wrapper(self, function)
        self.function = function
        self.name: str = getattr(function, "__name__", "method")
        self.when_nodes_die = when_nodes_die
        self.runs_freely = runs_freely
        self.decays_by_itself = decays_by_itself
        self.options = _options_of(function)
        source = "\n".join(_source_of(function, {}))
        content = f"{when_nodes_die} {runs_freely} {decays_by_itself}\n{source}"
        self.kind = f"{PREFIX}{self.name}-{hashlib.sha256(content.encode()).hexdigest()[:16]}"

    def __call__(self, *given: Any, **named: Any) -> Coroutine[Any, Any, None]:
        return self.function(*given, **named)

    def __repr__(self) -> str:
        return f"<paceline method {self.name}>"

    def begin(self, core: _engine.WorkerCore, options: Mapping[str, Any]) -> Coroutine[Any, Any, None]:
        """Returns the coroutine of one worker. The engine calls it."""
        return self.function(Worker(core), **options)


def _refuse(function: Any, problem: str) -> TypeError:
    return TypeError(f"{getattr(function, '__name__', 'the method')}: {problem}")


def _options_of(function: Callable[..., Any]) -> list[tuple[str, str, bool]]:
    """Returns the options of a method: its parameters behind `self`, which are keyword-only."""
    options = []
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters or parameters[0].kind not in (inspect.Parameter.POSITIONAL_ONLY,
                                                    inspect.Parameter.POSITIONAL_OR_KEYWORD):
        raise _refuse(function, "a method's first parameter is the worker: async def dsgd(self, *, momentum=0.9)")
    for parameter in parameters[1:]:
        if parameter.kind != parameter.KEYWORD_ONLY:
            raise _refuse(function, f"options are keyword-only: write a * before {parameter.name}")
        if parameter.name in KEYS_OF_EVERY_METHOD:
            raise _refuse(function, f"{parameter.name} is a key that every algorithm has; call the option something else")
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
    code = getattr(function, "__code__", None)
    if code is None:
        return [source]
    texts = [source or _text_of_code(code), repr(function.__defaults__), repr(function.__kwdefaults__)]
    used = inspect.getclosurevars(function) if isinstance(function, types.FunctionType) else None
    for name, value in sorted({**used.globals, **used.nonlocals}.items()) if used else []:
        if isinstance(value, (bool, int, float, str, bytes, tuple)) or value is None:
            texts.append(f"{name} = {value!r}")
        elif (isinstance(value, (types.FunctionType, type)) and _is_of_user(value)):
            texts += _source_of(value, seen)
    return texts


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


@overload
def algorithm(function: F, /) -> Method: ...
@overload
def algorithm(*, when_nodes_die: str = ..., runs_freely: bool = ..., decays_by_itself: bool = ...) -> Callable[[F], Method]: ...


def algorithm(function: Any = None, /, *, when_nodes_die: str = "cannot-go-on", runs_freely: bool = False,
              decays_by_itself: bool = False) -> Any:
    """Makes an `async def` a training method that scenarios can name (docs/how-to/your-own-method.md).

        @paceline.algorithm
        async def dsgd(self, *, damping=1.0):
            x = self.model()
            while self.begins_step():
                g = await self.gradient(x)
                x[:] = await self.neighbor_average(x - damping * self.learning_rate() * g)
                await self.update()

        paceline.run({..., "algorithm": {"kind": dsgd, "damping": 0.5, "mixing": {"kind": "ring"}}})

    `self` is a `paceline.Worker`. Options are keyword-only parameters; those without a default have to be given. Each worker
    runs the function once, and again when its node returns.

    Args:
        when_nodes_die: what happens to the run when a node dies. "cannot-go-on": all restart, or the run ends.
            "reruns-models": the survivors rerun collectives. "renormalizes": averages cover the neighbors that are present.
            "skips": the method asks who is present, and exchanges with those.
        runs_freely: workers need not take equally many steps.
        decays_by_itself: the method applies weight decay itself; the gradient has none.
    """
    if when_nodes_die not in REACTIONS:
        raise ValueError(f"when_nodes_die: {when_nodes_die!r} is none of {', '.join(REACTIONS)}")

    def make(function: Any) -> Method:
        if not inspect.iscoroutinefunction(function):
            raise _refuse(function, "a method is an async def, whose first parameter is the worker")
        return Method(function, when_nodes_die, bool(runs_freely), bool(decays_by_itself))

    return make if function is None else make(function)


Find = Callable[[str, str], Union[Method, str, None]]


def finder(methods: Mapping[str, Method]) -> Find:
    """Returns what finds methods for the engine: those of this mapping by their kinds, others in files of Python."""
    def find(kind: str, scenario: str) -> Method | str | None:
        known = methods.get(kind)
        return _method_in_file(kind, scenario) if known is None else known

    return find


def _method_in_file(kind: str, scenario: str) -> Method | str | None:
    """Returns the method that "file.py:name" names; the file is relative to the scenario's folder."""
    name, _, function = kind.rpartition(":")
    if not name.endswith(".py"):
        return None
    file = os.path.join(os.path.dirname(scenario), name)
    if not os.path.isfile(file):
        return f"\"{name}\": there is no such file of Python; the name is relative to the scenario's folder"
    try:
        module = _module_of(os.path.abspath(file))
    except Exception as error:  # noqa: BLE001 - whatever the user's file does
        said = traceback.format_exception_only(type(error), error)[-1].strip()
        return f"\"{name}\" cannot be imported: {said}"
    found = getattr(module, function, None)
    if isinstance(found, Method):
        return found
    known = ", ".join(key for key, value in vars(module).items() if isinstance(value, Method))
    return f"\"{name}\" has no method \"{function}\"; " + (f"it has {known}" if known else "mark one with @paceline.algorithm")


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


__all__ = ["Method", "MethodError", "algorithm", "finder"]

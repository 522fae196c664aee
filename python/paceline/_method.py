"""Training methods of one's own: what makes an `async def` one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar, overload

from . import _engine
from ._own import Own, options_of, refuse
from ._worker import Worker

F = TypeVar("F", bound=Callable[..., Coroutine[Any, Any, None]])

KEYS_OF_EVERY_METHOD = ("kind", "label", "optimizer", "mixing", "wire", "codec", "aggregation", "schedule")
REACTIONS = ("cannot-go-on", "reruns-models", "reruns-replicas", "renormalizes", "skips", "server-goes-on")
MOST_SERVERS = 1000


class Method(Own):
    """A method of one's own, as `algorithm` makes it. Call it as the function that it was made of.

    Attributes:
        function: the function.
    """

    sort = "method"

    def __init__(self, function: Callable[..., Coroutine[Any, Any, None]], when_nodes_die: str, runs_freely: bool,
                 decays_by_itself: bool) -> None:
        super().__init__(function, _options(function), f"{when_nodes_die} {runs_freely} {decays_by_itself}")
        self.function = function
        self.when_nodes_die = when_nodes_die
        self.runs_freely = runs_freely
        self.decays_by_itself = decays_by_itself
        self.servers = 0
        self._server: Callable[..., Coroutine[Any, Any, None]] | None = None
        self._options_of_server: tuple[str, ...] = ()

    @overload
    def server(self, function: F, /) -> F: ...
    @overload
    def server(self, /, *, count: int = ...) -> Callable[[F], F]: ...

    def server(self, function: Any = None, /, *, count: int = 1) -> Any:
        """Gives the method servers, on nodes of their own behind those of the workers, each of which runs an `async def`.

            @my_method.server
            async def serve(self, *, momentum=0.9):
                while True:
                    letter = await self.next_letter()

        Its options are some of those of the method. Workers post letters to ``self.servers[0]``. A server takes part in no
        collective, and may still wait when the run ends.
        """
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_SERVERS:
            raise ValueError(f"count: {count!r} is not a number of servers, from 1 to {MOST_SERVERS}")

        def make(function: Any) -> Any:
            if not inspect.iscoroutinefunction(function):
                raise refuse(function, "a server is an async def, whose first parameter is the server")
            options = tuple(name for name, _, _ in _options(function))
            known = {name for name, _, _ in self.options}
            for name in options:
                if name not in known:
                    raise refuse(function, f"{name} is not an option of {self.name}; a server has the options of its method")
            self._server, self._options_of_server, self.servers = function, options, count
            self._also = [function]
            self._settings += f" {count}"
            return function

        return make if function is None else make(function)

    def begin(self, core: _engine.WorkerCore, options: Mapping[str, Any]) -> Coroutine[Any, Any, None]:
        """Returns the coroutine of one worker. The engine calls it."""
        return self.function(Worker(core), **options)

    def begin_server(self, core: _engine.WorkerCore, options: Mapping[str, Any]) -> Coroutine[Any, Any, None]:
        """Returns the coroutine of one server. The engine calls it."""
        assert self._server is not None
        defaults = inspect.signature(self.function).parameters
        given = {name: options.get(name, defaults[name].default) for name in self._options_of_server}
        return self._server(Worker(core), **given)


def _options(function: Callable[..., Any]) -> list[tuple[str, str, bool]]:
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters or parameters[0].kind not in (inspect.Parameter.POSITIONAL_ONLY,
                                                    inspect.Parameter.POSITIONAL_OR_KEYWORD):
        raise refuse(function, "a method's first parameter is the worker: async def dsgd(self, *, momentum=0.9)")
    return options_of(function, 1, KEYS_OF_EVERY_METHOD)


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
            "reruns-models": the survivors rerun collectives; "reruns-replicas": the same, of a method on `Worker.shared_model`. "renormalizes": averages cover the neighbors that are present.
            "skips": the method asks who is present, and exchanges with those.
            "server-goes-on": its servers continue with the workers that are present.
        runs_freely: workers need not take equally many steps.
        decays_by_itself: the method applies weight decay itself; the gradient has none.
    """
    if when_nodes_die not in REACTIONS:
        raise ValueError(f"when_nodes_die: {when_nodes_die!r} is none of {', '.join(REACTIONS)}")

    def make(function: Any) -> Method:
        if not inspect.iscoroutinefunction(function):
            raise refuse(function, "a method is an async def, whose first parameter is the worker")
        return Method(function, when_nodes_die, bool(runs_freely), bool(decays_by_itself))

    return make if function is None else make(function)


__all__ = ["Method", "algorithm"]

"""What a method of one's own sees: a worker, what it can await, and letters."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine, Generator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from . import _engine

T = TypeVar("T")
Vector = Any  # a numpy array of float64 in one dimension; in timing-only runs a paceline.NoValues


class Operation(Generic[T]):
    """Something that a worker does and that takes simulated time: await it once, or pass it to `Worker.start`.

    Its arguments were copied when it was made; the model's own array stands for the model as it is when this begins. It does
    nothing until it is awaited or started, and one that never is ends the run with an error.
    """

    __slots__ = ("_begun", "_core", "_made", "_result")

    def __init__(self, core: _engine.WorkerCore, made: _engine.Operation, result: Callable[[Any], T] | None = None) -> None:
        self._core = core
        self._made = made
        self._result = result
        self._begun = False

    def __await__(self) -> Generator[_engine.Operation, Any, T]:
        value = yield self._begin()
        return value if self._result is None else self._result(value)  # type: ignore[no-any-return]

    def _begin(self) -> _engine.Operation:
        if self._begun:
            raise RuntimeError(f"self.{self._made.name} was awaited or started before: an operation is done once")
        self._begun = True
        return self._made

    def __del__(self) -> None:
        if not self._begun:
            frame = sys._getframe(1)
            self._core.forget(self._made, frame.f_code.co_filename, frame.f_lineno)

    def __repr__(self) -> str:
        return f"<self.{self._made.name}(...)>"


class Started(Operation[T]):
    """An operation that was started: await it once for its result, or leave it. It ends with the method at the latest."""

    __slots__ = ()

    def __del__(self) -> None:
        pass


class Letter(NamedTuple):
    """A message from one worker to another (`Worker.post`).

    Attributes:
        vector: what was sent, an array that can only be read, or None.
        number: a number that was sent with it; it says what the method wants it to.
        sender: the worker or server that posted it.
        life: the sender's life then (`Worker.life`).
    """

    vector: Vector
    number: float
    sender: int
    life: int


def _letter(parts: tuple[Any, ...]) -> Letter:
    return Letter(parts[0], parts[1], parts[2], parts[3])


def _letter_if_any(parts: tuple[Any, ...] | None) -> Letter | None:
    return None if parts is None else _letter(parts)


class Piece(NamedTuple):
    """A piece of a gradient, which backward completes as one: the parameters from `offset` on.

    Attributes:
        number: 0 is that of the last layers, which is complete first.
        offset: its first parameter in the model's vector.
        size: the number of its parameters.
        weight: what it weighs on the wire, in bytes.
    """

    number: int
    offset: int
    size: int
    weight: int

    def of(self, vector: Vector) -> Vector:
        """Returns the part of a vector of the model's size that is this piece, as a view."""
        return vector[self.offset:self.offset + self.size]


class Backward:
    """The computation of a gradient that becomes complete piece by piece, last layers first (`Worker.backward`).

    The pieces are those of the scenario's "schedule": tensors or buckets. Without one, it is the whole gradient.
    """

    def __init__(self, core: _engine.WorkerCore, x: Vector) -> None:
        self._core = core
        self._number = core.begin_backward(x)
        self.pieces = [Piece(i, *piece) for i, piece in enumerate(core.pieces(self._number))]

    def complete(self, piece: Piece) -> Operation[Vector]:
        """Waits until backward has completed a piece, and returns that part of the gradient. Await the last one in each step."""
        return Operation(self._core, self._core.complete(self._number, piece.number))


class Shared:
    """State that is equal on all workers, and exists once (`Worker.shared`). It survives the deaths of workers.

    Let the first worker that comes to an update make it:

        if self.updates(self.step):
            state.value = state.value + mean
    """

    def __init__(self, core: _engine.WorkerCore, name: str) -> None:
        self._core = core
        self._name = name

    @property
    def value(self) -> Vector:
        """The state as it is now, which can only be read. Set it to a vector of the same size."""
        return self._core.shared_value(self._name)

    @value.setter
    def value(self, vector: Vector) -> None:
        self._core.set_shared(self._name, vector)


class Tensor(NamedTuple):
    """A tensor of the model: the parameters from `offset` on.

    Attributes:
        name: its name, such as "hidden0.weight".
        offset: its first parameter in the model's vector.
        shape: its shape.
        compressible: whether codecs compress it; biases and tensors that are left out are sent whole.
    """

    name: str
    offset: int
    shape: tuple[int, ...]
    compressible: bool

    @property
    def size(self) -> int:
        """Returns the number of parameters."""
        entries = 1
        for length in self.shape:
            entries *= length
        return entries

    def of(self, vector: Vector) -> Vector:
        """Returns the part of a vector of the model's size that is this tensor, as a view of one dimension."""
        return vector[self.offset:self.offset + self.size]


class Channel(Generic[T]):
    """Passes values between coroutines of one worker, first in, first out (`Worker.channel`)."""

    def __init__(self, core: _engine.WorkerCore) -> None:
        self._core = core
        self._number = core.new_channel()

    def put(self, value: T) -> None:
        """Puts a value in. It goes to whoever has waited longest in `get`."""
        self._core.put(self._number, value)

    def get(self) -> Operation[T]:
        """Waits for the next value and takes it out."""
        return Operation(self._core, self._core.get(self._number))


class Exchange:
    """Averages vectors among all workers by the "codec", "aggregation" and "schedule" of the scenario's algorithm.

    What its codec remembers, such as the error of a compressor, belongs to this exchange. Without these keys it is a dense
    all-reduce in a ring.
    """

    def __init__(self, core: _engine.WorkerCore) -> None:
        self._core = core
        self._number = core.new_exchange()

    def aggregate(self, vector: Vector) -> Operation[Vector]:
        """Returns the aggregate of the vectors of all workers, which have the model's size. The result can only be read."""
        return Operation(self._core, self._core.aggregate(self._number, vector))

    def mean_gradient(self, x: Vector) -> Operation[Vector]:
        """Computes the gradient at x and returns the aggregate of those of all workers, which can only be read.

        With a schedule beside backward, pieces travel while others are computed.
        """
        return Operation(self._core, self._core.mean_gradient(self._number, x))


class Worker:
    """The training process of one node, as a method sees it: the `self` of an `async def` (docs/how-to/your-own-method.md).

    A vector is a numpy array of float64 in one dimension, a view of what the engine has. In a timing-only run it is a
    `NoValues`, which has a size alone. What takes simulated time is an `Operation`, to be awaited. Vectors that are passed
    are copied then, as a message is. The k-th call of a collective on one worker belongs with the k-th on all others.

    Times are in seconds, and weights of messages in bytes.
    """

    __slots__ = ("_core", "_learning_rate", "begins_step", "rank", "timing_only", "workers")

    #: The number of this worker: 0, 1, ...
    rank: int
    #: How many workers there are.
    workers: int
    #: Whether this is a run without values.
    timing_only: bool
    begins_step: Callable[[], bool]

    def __init__(self, core: _engine.WorkerCore) -> None:
        self._core = core
        self.rank = core.rank()
        self.workers = core.workers()
        self.timing_only = core.timing_only()
        self.begins_step = core.begins_step
        self._learning_rate = core.learning_rate

    # --- steps ---

    @property
    def step(self) -> int:
        """Returns the number of the current step: 0, 1, ...; -1 before the first."""
        return self._core.step()

    @property
    def epoch(self) -> float:
        """Returns the epochs that had passed when this step began; 0 if the size of the data is not known."""
        return self._core.epoch()

    @property
    def now(self) -> float:
        """Returns the simulated time in seconds."""
        return self._core.now()

    def learning_rate(self) -> float:
        """Returns the learning rate of the current step, by the scenario's "optimizer"."""
        return self._learning_rate()

    def gradients_left(self) -> bool:
        """Returns False once all workers together have begun as many gradients as the scenario allows."""
        return self._core.gradients_left()

    # --- state ---

    def model(self) -> Vector:
        """Returns the model of this worker: always the same array. Write into it (``x[:] = ...``, ``x -= ...``)."""
        return self._core.model()

    def tensors(self) -> list[Tensor]:
        """Returns the tensors of the model, in the order of its vector."""
        return [Tensor(name, offset, tuple(shape), compressible)
                for name, offset, shape, compressible in self._core.tensors()]

    def shared_model(self) -> Shared:
        """Returns the model of a method whose workers have one and the same. Evaluations then take it, not `model`."""
        self._core.make_shared("", None)
        return Shared(self._core, "")

    def shared(self, name: str, first: Vector = None) -> Shared:
        """Returns other state that is equal on all workers. It is `first` at first, by default zeros of the model's size."""
        if not name:
            raise ValueError("name: state has a name")
        self._core.make_shared(name, first)
        return Shared(self._core, name)

    def updates(self, number: int) -> bool:
        """Returns whether this worker is the first to make update number 0, 1, ... of the shared state: it makes it, for all."""
        return self._core.begins_update(number)

    def updates_done(self) -> int:
        """Returns how many updates of the shared state have been made."""
        return self._core.updates_done()

    def samples(self, rank: int) -> float:
        """Returns how many samples a worker trains on; 1 if it is not known."""
        return self._core.samples(rank)

    def stream(self, name: str) -> _engine.Draws:
        """Returns a random stream of this worker, at its beginning. The scenario's seed, the name and the worker decide it."""
        return self._core.stream(name)

    # --- computation: the device does one thing at a time ---

    def gradient(self, x: Vector) -> Operation[Vector]:
        """Computes the stochastic gradient at x of the next batch; takes the time of a step."""
        return Operation(self._core, self._core.gradient(x))

    def backward(self, x: Vector) -> Backward:
        """Begins the computation of the gradient at x, whose pieces become complete one by one."""
        return Backward(self._core, x)

    def update(self) -> Operation[None]:
        """Takes the time of the optimizer's work at the end of a step (the workload's "update_time")."""
        return Operation(self._core, self._core.update())

    def compute(self, seconds: float) -> Operation[None]:
        """Takes the time of other work on this node's device, once the device is free."""
        return Operation(self._core, self._core.compute(seconds))

    def sleep(self, seconds: float) -> Operation[None]:
        """Waits for a time, without the device."""
        return Operation(self._core, self._core.sleep(seconds))

    # --- communication ---

    def all_reduce(self, vector: Vector, *, weight: int | None = None,
                   group: Sequence[int] | None = None) -> Operation[Vector]:
        """Returns the mean of the vectors of all workers, or of those of a group. The result can only be read.

        Args:
            vector: of any size, the same on all members.
            weight: what a message of the whole vector weighs. Default: its entries in the scenario's "wire".
            group: the ranks of the members, in the same order on all of them.
        """
        return Operation(self._core, self._core.all_reduce(vector, weight, None if group is None else list(group)))

    def neighbor_average(self, vector: Vector, *, weight: int | None = None) -> Operation[Vector]:
        """Returns the sum over j of w_ij v_j, by this worker's row of the scenario's "mixing"."""
        return Operation(self._core, self._core.neighbor_average(vector, weight))

    def neighbor_sum(self, vector: Vector, *, weight: int | None = None) -> Operation[Vector]:
        """Returns the sum of the vectors of this worker and of those that it listens to, without weights."""
        return Operation(self._core, self._core.neighbor_sum(vector, weight))

    def neighbors(self) -> list[int]:
        """Returns the workers that listen to this one by the mixing of this step, in order."""
        return self._core.neighbors()

    def mixing_row(self) -> dict[int, float]:
        """Returns this worker's row of the mixing of this step: its weight of each worker, itself included."""
        return dict(self._core.mixing_row())

    def exchange(self) -> Exchange:
        """Returns a new exchange by the scenario's codec, aggregation and schedule. All workers make theirs in one order."""
        return Exchange(self._core)

    def barrier(self) -> Operation[None]:
        """Waits until all workers have arrived here. It sends nothing: use it to count, not to tell others anything."""
        return Operation(self._core, self._core.barrier())

    # --- letters, for methods without rounds ---

    def post(self, to: int, vector: Vector = None, *, number: float = 0.0, box: int = 0,
             weight: int | None = None) -> Operation[None]:
        """Sends a letter to a box of another worker or of a server. It is done when the message has left this node.

        Letters of one sender to one box arrive in the order of posting. `weight` defaults to that of the vector; without
        one it is 0.
        """
        return Operation(self._core, self._core.post(to, vector, number, box, weight))

    def next_letter(self, box: int = 0) -> Operation[Letter]:
        """Waits for the next letter in a box and takes it out."""
        return Operation(self._core, self._core.next_letter(box), _letter)

    def next_letter_or_change(self, box: int = 0) -> Operation[Letter | None]:
        """Does the same, but returns None once a worker dies or joins."""
        return Operation(self._core, self._core.next_letter_or_change(box), _letter_if_any)

    @property
    def servers(self) -> range:
        """Returns the ranks of the method's servers (`Method.server`), which are behind those of the workers."""
        return range(self.workers, self.workers + self._core.servers())

    def present(self, rank: int) -> bool:
        """Returns whether a worker is present. Letters to an absent one are lost."""
        return self._core.present(rank)

    def life(self, rank: int) -> int:
        """Returns the number of a worker's present life, which grows when it returns. Letters to an earlier life are lost."""
        return self._core.life(rank)

    def first_step(self, rank: int) -> int:
        """Returns the step in which a worker's present life began."""
        return self._core.first_step(rank)

    def is_known_dead(self, rank: int, life: int) -> bool:
        """Returns whether this worker knows by now that a life of another has ended."""
        return self._core.is_known_dead(rank, life)

    # --- side by side ---

    def start(self, work: Operation[T] | Coroutine[Any, Any, T]) -> Started[T]:
        """Begins an operation or a coroutine beside this one. Await what this returns for the result."""
        if isinstance(work, Operation):
            return Started(self._core, self._core.start(work._begin()), work._result)
        return Started(self._core, self._core.start_coroutine(work))

    def serve(self, work: Coroutine[Any, Any, Any]) -> None:
        """Runs a coroutine as a service of this worker, which goes on when the method has ended: to answer letters."""
        self._core.serve(work)

    def channel(self) -> Channel[Any]:
        """Returns a new channel between coroutines of this worker."""
        return Channel(self._core)

    def count_staleness(self, age: float) -> None:
        """Notes the age of something that is used in training; the results have the mean ("staleness")."""
        self._core.count_staleness(age)

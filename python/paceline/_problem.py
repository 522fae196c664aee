"""Problems of one's own: a loss and its gradients in numpy, or of a module of torch, on the clock of any net."""

from __future__ import annotations

import importlib
import inspect
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from . import _engine
from ._own import MethodError, Own, options_of, place_of, refuse, said

KEYS_OF_EVERY_MODEL = ("kind", "label")


class Samples(NamedTuple):
    """Samples of a data set, one in each row; what the data have not is None.

    Attributes:
        inputs: float32 of shape (samples, features).
        labels: the class of each sample, int32.
        targets: the number to predict of each sample, float32.
        tokens: of text, int32 of shape (samples, steps + 1): token t is the input of step t, and t + 1 what it predicts.
    """

    inputs: Any
    labels: Any
    targets: Any
    tokens: Any

    def of(self, batch: Any) -> Samples:
        """Returns the samples of these numbers."""
        return Samples(*(None if part is None else part[batch] for part in self))


class Data(NamedTuple):
    """The data of a workload, as a problem gets them. The arrays can only be read.

    Attributes:
        train: the training samples, whose numbers a batch has.
        test: the test samples.
        classes: labels and tokens are below this; 0 if there are none.
        image: channels, height and width of the images that inputs are; zeros if they are none.
    """

    train: Samples
    test: Samples
    classes: int
    image: tuple[int, int, int]


class Problem(Own):
    """A problem of one's own, as `problem` makes it. Call it as the class that it was made of.

    Attributes:
        takes_data: whether it trains on the workload's "data".
    """

    sort = "problem"

    def __init__(self, made_of: type) -> None:
        for needed in ("start", "gradient", "loss"):
            if not callable(getattr(made_of, needed, None)):
                raise refuse(made_of, f"a problem has {needed}({'self' + {'start': '', 'loss': ', x'}.get(needed, ', x, batch')})")
        parameters = list(inspect.signature(made_of).parameters.values())
        self.takes_data = bool(parameters) and parameters[0].name == "data"
        super().__init__(made_of, options_of(made_of, int(self.takes_data), KEYS_OF_EVERY_MODEL))

    def make(self, options: Mapping[str, Any], data: Any, workers: int, draws: _engine.Draws) -> ProblemObject | str:
        """Returns the problem of a run, or what is wrong with it. The engine calls it."""
        given = [] if data is None else [Data(Samples(*data[0]), Samples(*data[1]), data[2], data[3])]
        try:
            return ProblemObject(self._made_of(*given, **options), self.name, self.takes_data, workers, draws)
        except MethodError:
            raise
        except Exception as raised:  # noqa: BLE001 - whatever the user's class does
            file, line = place_of(raised)
            return f"{self.name} cannot be made: {said(raised)}" + (f" ({file}:{line})" if file else "")


class ProblemObject:
    """The object of a problem in a run, as the engine asks it: by one thread at a time."""

    def __init__(self, made: Any, name: str, takes_data: bool, workers: int, draws: _engine.Draws) -> None:
        self._made = made
        self._name = name
        self._lock = threading.Lock()
        start = made.start(draws) if _parameters(made.start) else made.start()
        self.start = self._vector(start, "start()")
        self.tensors = self._tensors(getattr(made, "tensors", None))
        self.classifies = callable(getattr(made, "accuracy", None))
        self.samples = 0 if takes_data else self._samples()
        self.shards = self._shards(workers) if callable(getattr(made, "shards", None)) and not takes_data else None

    def _vector(self, given: Any, what: str) -> Any:
        """Returns what is given as float64 of one dimension."""
        import numpy

        vector = numpy.asarray(given, dtype=float).reshape(-1)
        if vector.size == 0:
            raise ValueError(f"{what} has no numbers")
        if not numpy.isfinite(vector).all() and what == "start()":
            raise ValueError("start() has numbers that are not finite")
        return vector

    def _tensors(self, given: Any) -> list[tuple[str, list[int]]]:
        """Returns the tensors of the model; one matrix of a column if the problem names none."""
        if given is None:
            return [("x", [int(self.start.size), 1])]
        named = given() if callable(given) else given
        tensors = [(str(name), [int(length) for length in shape]) for name, shape in named]
        entries = 0
        for _, shape in tensors:
            size = 1
            for length in shape:
                size *= length
            entries += size
        if entries != self.start.size:
            raise ValueError(f"tensors have {entries} numbers, and start() has {self.start.size}")
        return tensors

    def _samples(self) -> int:
        given = getattr(self._made, "samples", None)
        if given is None:
            raise ValueError("it has no samples: set self.samples to the number of training samples, or let __init__ take data")
        if int(given) != given or not 1 <= given < 2**31:
            raise ValueError(f"samples is {given!r}; it is the number of training samples")
        return int(given)

    def _shards(self, workers: int) -> list[list[int]]:
        shards = [[int(sample) for sample in shard] for shard in self._made.shards(workers)]
        if len(shards) != workers:
            raise ValueError(f"shards({workers}) has {len(shards)} shards; each worker has one")
        for i, shard in enumerate(shards):
            if not shard:
                raise ValueError(f"the shard of worker {i} is empty")
            if min(shard) < 0 or max(shard) >= self.samples:
                raise ValueError(f"the shard of worker {i} has sample {min(shard) if min(shard) < 0 else max(shard)}; "
                                 f"there are 0 to {self.samples - 1}")
        return shards

    def _call(self, what: Callable[[], Any], where: str, node: int, step: int) -> Any:
        try:
            with self._lock:
                return what()
        except BaseException as raised:  # noqa: BLE001 - whatever the user's class does
            file, line = place_of(raised)
            error = MethodError(f"{self._name}.{where}: {said(raised)}", node, step, -1.0, file, line)
            error.__cause__ = raised
            raise error from raised

    def gradient(self, x: Any, batch: Any, node: int, step: int) -> Any:
        """Returns the gradient of a worker's batch. The engine calls it, and what follows."""
        def compute() -> Any:
            g = self._vector(self._made.gradient(x, batch), "the gradient")
            if g.size != self.start.size:
                raise ValueError(f"returned {g.size} numbers, and the model has {self.start.size} parameters")
            return g

        return self._call(compute, "gradient", node, step)

    def train_score(self, x: Any) -> tuple[float, float | None]:
        """Returns the loss over the training samples."""
        return self._call(lambda: float(self._made.loss(x)), "loss", -1, -1), None

    def test_score(self, x: Any) -> tuple[float, float | None]:
        """Returns the loss over the test samples, and the accuracy. Without a loss of tests, it is that of training."""
        name = "test_loss" if callable(getattr(self._made, "test_loss", None)) else "loss"
        loss = self._call(lambda: float(getattr(self._made, name)(x)), name, -1, -1)
        if not self.classifies:
            return loss, None
        return loss, self._call(lambda: _share(self._made.accuracy(x)), "accuracy", -1, -1)


def _share(given: Any) -> float:
    if not 0 <= given <= 1:
        raise ValueError(f"returned {given!r}; an accuracy is a share, from 0 to 1")
    return float(given)


def _parameters(function: Callable[..., Any]) -> int:
    return len(inspect.signature(function).parameters)


def problem(made_of: type, /) -> Problem:
    """Makes a class a problem that scenarios can name as their "model" (docs/how-to/your-own-method.md).

        @paceline.problem
        class LeastSquares:
            def __init__(self, *, rows=400, dimension=10):
                draws = numpy.random.default_rng(1)
                self.samples = rows
                self.a = draws.normal(size=(rows, dimension))
                self.b = self.a @ draws.normal(size=dimension)

            def start(self):
                return numpy.zeros(self.a.shape[1])

            def gradient(self, x, batch):
                a, b = self.a[batch], self.b[batch]
                return a.T @ (a @ x - b) / len(batch)

            def loss(self, x):
                return 0.5 * numpy.mean((self.a @ x - self.b) ** 2)

        paceline.run({..., "workload": {"model": {"kind": LeastSquares, "rows": 100}, "batch": 8, "step_time": "2ms"}})

    ``batch`` is an array of the numbers of the samples that paceline has drawn for the worker, by the scenario's seed. Options
    are keyword-only parameters of ``__init__``. An ``__init__`` whose first parameter is ``data`` gets a `paceline.Data` of the
    workload's "data"; else ``self.samples`` is the number of training samples, and ``shards(workers)``, if there is one,
    returns the samples of each worker.

    It may have ``test_loss(x)``, ``accuracy(x)``, a share, and ``tensors``, a list of names and shapes. ``start`` may take a
    random stream of the scenario's seed: ``def start(self, draws)``. The object is made anew for each run.
    """
    if not isinstance(made_of, type):
        raise refuse(made_of, "a problem is a class with start, gradient and loss")
    return Problem(made_of)


def torch_problem(module: Callable[..., Any], loss: Callable[[Any, Any], Any]) -> Problem:
    """Returns a problem of a module of torch, which trains on the workload's "data".

        def net(data):
            return torch.nn.Linear(data.train.inputs.shape[1], data.classes)

        paceline.torch_problem(net, torch.nn.functional.cross_entropy)

    Args:
        module: returns the module for a `paceline.Data`. It is called with torch's generator seeded by the scenario's seed.
        loss: the mean loss of what the module returns for inputs (or tokens), and of labels, targets or tokens.

    Its tensors are those of the module, and gradients are computed in float32. torch's own threads may change the last bits
    from one machine to another.
    """
    class TorchProblem:
        def __init__(self, data: Data) -> None:
            torch: Any = importlib.import_module("torch")
            self.torch, self.data = torch, data
            self.module: Any = None
            self.parts = {name: _torch_parts(torch, getattr(data, name)) for name in ("train", "test")}
            if data.test.labels is not None:
                self.accuracy = self._accuracy

        def start(self, draws: _engine.Draws) -> Any:
            with self.torch.random.fork_rng(devices=[]):
                self.torch.manual_seed(draws.bits())
                self.module = module(self.data)
            self.parameters = list(self.module.parameters())
            return self.torch.nn.utils.parameters_to_vector(self.parameters).detach().numpy()

        def tensors(self) -> list[tuple[str, Sequence[int]]]:
            return [(name, tuple(tensor.shape) or (1,)) for name, tensor in self.module.named_parameters()]

        def _put(self, x: Any) -> None:
            vector = self.torch.tensor(x, dtype=self.parameters[0].dtype)
            self.torch.nn.utils.vector_to_parameters(vector, self.parameters)

        def gradient(self, x: Any, batch: Any) -> Any:
            self._put(x)
            inputs, targets = (part[self.torch.as_tensor(batch, dtype=self.torch.int64)] for part in self.parts["train"])
            got = self.torch.autograd.grad(loss(self.module(inputs), targets), self.parameters)
            return self.torch.cat([g.reshape(-1) for g in got]).numpy()

        def _loss(self, x: Any, part: str) -> float:
            self._put(x)
            inputs, targets = self.parts[part]
            with self.torch.no_grad():
                return float(loss(self.module(inputs), targets))

        def loss(self, x: Any) -> float:
            return self._loss(x, "train")

        def test_loss(self, x: Any) -> float:
            return self._loss(x, "test")

        def _accuracy(self, x: Any) -> float:
            self._put(x)
            inputs, labels = self.parts["test"]
            with self.torch.no_grad():
                return float((self.module(inputs).argmax(dim=1) == labels).double().mean())

    made = Problem(TorchProblem)
    made.name = getattr(module, "__name__", "torch")
    return made


def _torch_parts(torch: Any, samples: Samples) -> tuple[Any, Any]:
    """Returns inputs and what is to predict, as tensors."""
    if samples.tokens is not None:
        tokens = torch.tensor(samples.tokens, dtype=torch.int64)
        return tokens[:, :-1], tokens[:, 1:]
    wanted = samples.labels if samples.labels is not None else samples.targets
    return torch.tensor(samples.inputs), torch.tensor(wanted, dtype=torch.int64 if samples.labels is not None else None)


__all__ = ["Data", "Problem", "Samples", "problem", "torch_problem"]

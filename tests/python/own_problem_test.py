"""Problems of one's own: those that equal nets of the table give their results, and mistakes are told."""

import csv
import io
import json
import subprocess
import sys

import numpy
import pytest

import paceline
from conftest import training

DATA = {"kind": "linear-regression", "rows": 12, "test_rows": 5, "dimension": 6}
CLOSED_FORM = ("relative_error", "workload")  # the minimum of a problem of one's own is not known


@paceline.problem
class LeastSquares:
    """Linear regression, with the scenario's data."""

    def __init__(self, data, *, bias=True):
        def rows(samples):
            inputs = samples.inputs.astype(float)
            return numpy.hstack([inputs, numpy.ones((len(inputs), 1))]) if bias else inputs

        self.a, self.b = rows(data.train), data.train.targets.astype(float)
        self.test = rows(data.test), data.test.targets.astype(float)
        self.bias = bias

    def start(self):
        return numpy.zeros(self.a.shape[1])

    def tensors(self):
        features = self.a.shape[1] - self.bias
        return [("weight", (1, features))] + [("bias", (1,))] * self.bias

    def gradient(self, x, batch):
        a, b = self.a[batch], self.b[batch]
        return a.T @ (a @ x - b) / len(batch)

    def loss(self, x):
        return numpy.mean((self.a @ x - self.b) ** 2) / 2

    def test_loss(self, x):
        a, b = self.test
        return numpy.mean((a @ x - b) ** 2) / 2


@paceline.problem
class Softmax:
    """Softmax regression, which has an accuracy."""

    def __init__(self, data):
        self.data = data
        self.shape = data.classes, data.train.inputs.shape[1]

    def start(self):
        return numpy.zeros(self.shape[0] * (self.shape[1] + 1))

    def tensors(self):
        return [("weight", self.shape), ("bias", self.shape[:1])]

    def logits(self, x, inputs):
        classes, features = self.shape
        w, b = x[:classes * features].reshape(self.shape), x[classes * features:]
        return inputs.astype(float) @ w.T + b

    def gradient(self, x, batch):
        part = self.data.train.of(batch)
        z = self.logits(x, part.inputs)
        p = numpy.exp(z - z.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        p[numpy.arange(len(batch)), part.labels] -= 1
        return numpy.concatenate([(p.T @ part.inputs.astype(float)).ravel(), p.sum(axis=0)]) / len(batch)

    def mean_loss(self, x, part):
        z = self.logits(x, part.inputs)
        most = z.max(axis=1, keepdims=True)
        logs = numpy.log(numpy.exp(z - most).sum(axis=1)) + most[:, 0]
        return numpy.mean(logs - z[numpy.arange(len(z)), part.labels])

    def loss(self, x):
        return self.mean_loss(x, self.data.train)

    def test_loss(self, x):
        return self.mean_loss(x, self.data.test)

    def accuracy(self, x):
        return numpy.mean(self.logits(x, self.data.test.inputs).argmax(axis=1) == self.data.test.labels)


def rows_of(text, without=CLOSED_FORM):
    return [{key: value for key, value in row.items() if key not in without} for row in csv.DictReader(io.StringIO(text))]


def close(a, b):
    """Compares tables: texts in every letter, times and bytes too, and values to 1e-12."""
    values = ("train_loss", "test_loss", "consensus_distance")
    for one, other in zip(a, b, strict=True):
        for key, text in one.items():
            if any(value in key for value in values) and text:
                assert float(text) == pytest.approx(float(other[key]), rel=1e-12, abs=1e-13), key
            else:
                assert text == other[key], key


def with_model(model, data, **changes):
    scenario = training(workload={"model": model, "data": data, "batch": 4, "step_time": "1ms"}, **changes)
    return scenario


@pytest.mark.parametrize("algorithm", [{"kind": "dense"}, {"kind": "dmsgd", "mixing": {"kind": "ring"}},
                                       {"kind": "local-sgd", "period": 3}])
@pytest.mark.parametrize(("own", "known", "data"), [
    ({"kind": LeastSquares}, {"kind": "linear-regression"}, DATA),
    ({"kind": LeastSquares, "bias": False}, {"kind": "linear-regression", "bias": False}, DATA),
    ({"kind": Softmax}, {"kind": "softmax-regression"},
     {"kind": "gaussian-mixture", "classes": 3, "dimension": 4, "train": 120, "test": 30, "partition": {"kind": "label-sorted"}}),
])
def test_a_problem_in_numpy_gives_the_results_of_the_net_in_the_table(algorithm, own, known, data):
    """To 1e-12: numpy adds in an order of its own. Times and bytes are the same in every digit."""
    rule = {"optimizer": {"learning_rate": 0.1, "momentum": 0.5, "weight_decay": 0.01}, "algorithm": algorithm, "seed": 3}
    a = paceline.run(with_model(own, data, **rule), models=True)
    b = paceline.run(with_model(known, data, **rule), models=True)
    close(rows_of(a.csv()), rows_of(b.csv()))
    close(rows_of(a.csv("timeline")), rows_of(b.csv("timeline")))
    assert a.points[0].models == pytest.approx(b.points[0].models, rel=1e-11, abs=1e-13)


@pytest.mark.parametrize("weigh", ["workers", "samples"])
def test_a_problem_has_the_batches_and_weights_of_classes(weigh):
    def scenario(model):
        made = with_model(model, DATA, optimizer={"learning_rate": 0.1, "weight_decay": 0.01}, algorithm={"kind": "dense"})
        made["cluster"] = {**made["cluster"], "classes": [{"nodes": [0], "batch": 9, "step_time": "2ms"}]}
        made["workload"]["weigh"] = weigh
        return made

    a, b = (paceline.run(scenario(model), models=True) for model in ({"kind": LeastSquares}, {"kind": "linear-regression"}))
    close(rows_of(a.csv()), rows_of(b.csv()))
    assert a.points[0].models == pytest.approx(b.points[0].models, rel=1e-11, abs=1e-13)


def test_a_problem_stands_in_for_a_published_net():
    """Messages weigh as those of the net, and the clock is that of its profile."""
    def scenario(model):
        return training(workload={"model": model, "data": DATA, "batch": 4,
                                  "stand_in_for": {"profile": "resnet-50", "device": "v100"}})

    a, b = (paceline.run(scenario(model)) for model in ({"kind": LeastSquares}, {"kind": "linear-regression"}))
    close(rows_of(a.csv()), rows_of(b.csv()))
    assert a.points[0].metrics["bytes_sent_per_node_per_step"] > 1e8


def made_samples(**settings):
    """Returns a problem with samples of its own: numbers around one of each worker."""
    @paceline.problem
    class Means:
        def __init__(self, *, spread=1.0):
            self.values = spread * numpy.arange(40.0)
            self.samples = 40
            for name, value in settings.items():
                setattr(self, name, value)

        def start(self, draws):
            return [draws.normal()]

        def gradient(self, x, batch):
            return x - self.values[batch].mean()

        def loss(self, x):
            return numpy.mean((x - self.values) ** 2) / 2

    return Means


def test_a_problem_with_samples_of_its_own_gets_batches_by_the_scenarios_seed():
    seen = {}

    @paceline.problem
    class Spy:
        samples = 24

        def start(self):
            return numpy.zeros(2)

        def gradient(self, x, batch):
            assert not x.flags.writeable
            seen.setdefault("now", []).extend(batch.tolist())
            return numpy.ones(2)

        def loss(self, x):
            return 1.0

    def batches(seed):
        seen["now"] = []
        paceline.run(with_own(Spy, seed=seed, stop={"iterations": 3}))
        return seen["now"]

    first = batches(1)
    assert sorted(first) == sorted(2 * list(range(24)))  # two passes: 4 workers, 3 steps of 4
    assert sorted(batches(1)) == sorted(first) and first != batches(2)


def with_own(model, **changes):
    model = model if isinstance(model, dict) else {"kind": model}
    return training(workload={"model": model, "batch": 4, "step_time": "1ms"}, **changes)


def test_a_problem_deals_its_samples_and_options_can_be_swept():
    shards = [[1], [2, 2], [3], [39, 38]]
    means = made_samples(shards=lambda workers: shards[:workers])
    study = paceline.run(with_own(means, sweep={"workload.model.spread": [1, 2]}, algorithm={"kind": "dense"},
                                  optimizer={"learning_rate": 1.0}, stop={"iterations": 1}), models=True)
    middle = numpy.mean([1, 2, 3, 38.5])
    assert study.points[0].models[0, 0] == pytest.approx(middle, rel=1e-12)
    assert study.points[1].models[0, 0] == pytest.approx(2 * middle, rel=1e-12)
    start = paceline.run(with_own(made_samples(), stop={"iterations": 1}, seed=5)).points[0].metrics
    assert start == paceline.run(with_own(made_samples(), stop={"iterations": 1}, seed=5)).points[0].metrics


def test_points_that_run_side_by_side_give_the_same_bytes():
    scenario = with_own(made_samples(), sweep={"seed": list(range(6))})
    one, two = (paceline.run(scenario, jobs=jobs, threads=jobs) for jobs in (1, 2))
    assert one.csv() == two.csv() and one.csv("timeline") == two.csv("timeline")


def broken(where):
    @paceline.problem
    class Broken:
        samples = 40

        def start(self):
            if where == "start":
                raise ValueError("no start")  # in start
            return numpy.zeros(3)

        def gradient(self, x, batch):
            if where == "size":
                return numpy.zeros(2)  # in size
            if where == "gradient" and 7 in batch:
                raise ValueError("seven")  # in gradient
            return x - 1

        def loss(self, x):
            if where == "loss" and x[0] != 0:
                raise ValueError("no loss")  # in loss
            return float(x @ x)

    return Broken


def line_of(text):
    with open(__file__, encoding="utf-8") as file:
        return next(i for i, line in enumerate(file, 1) if text in line)


@pytest.mark.parametrize(("where", "words"), [
    ("gradient", "Broken.gradient: ValueError: seven (node"),
    ("size", "Broken.gradient: ValueError: returned 2 numbers, and the model has 3 parameters (node 0, step 0)"),
    ("loss", "Broken.loss: ValueError: no loss"),
])
def test_a_failure_tells_node_step_and_line(where, words):
    with pytest.raises(paceline.MethodError) as caught:
        paceline.run(with_own(broken(where)), jobs=1)
    assert words in str(caught.value)
    assert caught.value.node == (-1 if where == "loss" else caught.value.node) and caught.value.now_s == -1
    if where != "size":
        assert (caught.value.file, caught.value.line) == (__file__, line_of(f"# in {where}\n"))
        assert isinstance(caught.value.__cause__, ValueError)


@pytest.mark.parametrize(("model", "words"), [
    ({"kind": broken("start")}, f"Broken cannot be made: ValueError: no start ({__file__}:"),
    ({"kind": made_samples(), "spraed": 2}, "did you mean \"spread\"?"),
    ({"kind": made_samples(), "spread": "wide"}, "is not a number"),
    ({"kind": made_samples(samples=0)}, "samples is 0; it is the number of training samples"),
    ({"kind": made_samples(samples=3)}, "has 3 training samples for 4 workers"),
    ({"kind": made_samples(shards=lambda workers: [[1]])}, "shards(4) has 1 shards"),
    ({"kind": made_samples(shards=lambda workers: [[1], [2], [3], [40]])}, "worker 3 has sample 40; there are 0 to 39"),
    ({"kind": made_samples(tensors=[("x", (2, 1))])}, "tensors have 2 numbers, and start() has 1"),
    ({"kind": LeastSquares}, "takes data, and the workload has none"),
])
def test_a_problem_that_cannot_be_made_is_refused_at_its_place(model, words):
    with pytest.raises(paceline.ScenarioError) as caught:
        paceline.check(with_own(model))
    assert words in str(caught.value)
    assert caught.value.path.startswith("workload.model")


def test_data_beside_samples_of_its_own_and_a_target_without_accuracy_are_refused():
    with pytest.raises(paceline.ScenarioError, match="workload.data: cannot be used with a problem that has its own samples"):
        paceline.check(with_model({"kind": made_samples()}, DATA))
    with pytest.raises(paceline.ScenarioError, match="a predicted number has no accuracy"):
        paceline.check(with_own(made_samples(), stop={"target_accuracy": 0.5, "iterations": 9}))
    with pytest.raises(paceline.ScenarioError, match="workload.device: a device needs a"):
        paceline.check(training(workload={"model": {"kind": made_samples()}, "batch": 4, "device": "v100"}))
    with pytest.raises(TypeError, match="a problem has gradient\\(self, x, batch\\)"):
        @paceline.problem
        class Half:
            def start(self):
                """No gradient."""
    with pytest.raises(TypeError, match="options are keyword-only"):
        @paceline.problem
        class Positional:
            def __init__(self, rows):
                """Takes rows."""

            start = gradient = loss = __init__


def test_a_part_in_the_place_of_another_is_refused():
    with pytest.raises(paceline.ScenarioError, match="algorithm.kind: Means is a problem; this is the place of a method"):
        paceline.check(training(algorithm={"kind": made_samples()}))


def test_a_problem_that_remembers_other_runs_is_caught():
    calls = []

    @paceline.problem
    class Remembers:
        samples = 40

        def start(self):
            return numpy.zeros(1)

        def gradient(self, x, batch):
            calls.append(1)
            return x - len(calls)

        def loss(self, x):
            return float(x[0] ** 2)

    with pytest.raises(paceline.MethodError, match="point 0 differs when it is run again"):
        paceline.check_method(with_own(Remembers, stop={"iterations": 2}))
    paceline.check_method(with_own(made_samples()))


SOURCE = """
import numpy
import paceline

CENTER = 1.0

def center():
    return CENTER

@paceline.problem
class Mine:
    samples = 40

    def start(self):
        return numpy.zeros(3)

    def gradient(self, x, batch):
        return x - center()

    def loss(self, x):
        return float(numpy.mean((x - center()) ** 2))
"""


def test_the_command_line_of_python_runs_a_problem_and_the_program_says_how(tmp_path, command):
    import os

    (tmp_path / "mine.py").write_text(SOURCE)
    (tmp_path / "s.json").write_text(json.dumps(with_own("mine.py:Mine") | {
        "workload": {"model": {"kind": "mine.py:Mine"}, "batch": 4, "step_time": "1ms"}}))
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(paceline.__file__))}
    done = subprocess.run([sys.executable, "-B", "-m", "paceline", "run", "s.json", "--out", "out", "--quiet"],
                          capture_output=True, text=True, check=False, cwd=tmp_path, env=environment, timeout=100)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/results.csv").read_text() == paceline.run(tmp_path / "s.json").csv()
    refused = command("run", "s.json")
    assert refused.returncode == 2
    assert "workload.model.kind: \"mine.py:Mine\" is a problem in Python, which runs in Python alone: python3 -m paceline run" \
        in refused.stderr


def test_the_kind_of_a_problem_contains_the_source_of_what_it_uses():
    names = {}
    exec(compile(SOURCE, "<a cell>", "exec"), names)  # noqa: S102
    first = names["Mine"].kind
    assert names["Mine"].kind == first
    names["CENTER"] = 2.0
    assert names["Mine"].kind != first


def test_a_module_of_torch_gives_the_results_of_the_net_in_the_table():
    """To 1e-5: torch computes in float32. It runs where torch is installed."""
    torch = pytest.importorskip("torch")

    def net(data):
        module = torch.nn.Linear(data.train.inputs.shape[1], data.classes)
        for parameter in module.parameters():
            torch.nn.init.zeros_(parameter)
        return module

    data = {"kind": "gaussian-mixture", "classes": 3, "dimension": 4, "train": 120, "test": 30}
    own = with_model({"kind": paceline.torch_problem(net, torch.nn.functional.cross_entropy)}, data)
    known = with_model({"kind": "softmax-regression"}, data)
    a, b = (paceline.run(scenario, models=True).points[0] for scenario in (own, known))
    assert a.models == pytest.approx(b.models, rel=1e-5, abs=1e-6)
    for name in ("train_loss", "test_loss", "test_accuracy", "sim_time_s", "bytes_sent_per_node_per_step"):
        assert a.metrics[name] == pytest.approx(b.metrics[name], rel=1e-5), name
    paceline.check_method(own)


def test_a_module_of_torch_starts_by_the_scenarios_seed():
    torch = pytest.importorskip("torch")
    problem = paceline.torch_problem(lambda data: torch.nn.Linear(4, 3), torch.nn.functional.cross_entropy)
    data = {"kind": "gaussian-mixture", "classes": 3, "dimension": 4, "train": 120, "test": 30, "seed": 1}
    losses = [paceline.run(with_model({"kind": problem}, data, seed=seed, stop={"iterations": 1})).points[0].metrics["train_loss"]
              for seed in (1, 1, 2)]
    assert losses[0] == losses[1] != losses[2]

"""Codecs and mixings of one's own: those that equal ones of the table give their results, in every bit."""

import csv
import io

import numpy
import pytest

import paceline
from conftest import ring, training

NET = {"model": {"kind": "mlp", "hidden": [7]}, "batch": 8, "step_time": "1ms",
       "data": {"kind": "gaussian-mixture", "classes": 3, "dimension": 5, "train": 120, "test": 30}}
NAMES = ("algorithm", "mixing", "codec")


@paceline.codec
class Largest:
    """top-k, with the ties and rounding of the one in the table."""

    encode_passes = 5

    def __init__(self, *, density=0.01):
        self.density = density

    def kept(self, size):
        return min(max(int(self.density * size * (1 + 1e-12)), 1), size)

    def encode(self, v):
        kept = self.kept(v.size)
        if 2 * kept >= v.size:
            return numpy.arange(v.size), v, v.size
        at = numpy.argsort(-abs(v), kind="stable")[:kept]
        return at, v[at], v.size

    def held(self, size):
        return size if 2 * self.kept(size) >= size else self.kept(size)

    def weigh(self, size):
        return 4 * size if 2 * self.kept(size) >= size else 8 * self.kept(size)

    def decode(self, message):
        at, values, size = message
        v = numpy.zeros(size)
        v[at] = values
        return v


@paceline.codec
class Signs:
    def encode(self, v):
        return v >= 0

    def weigh(self, size):
        return size / 8

    def decode(self, message):
        return numpy.where(message, 1.0, -1.0)


@paceline.codec
class Rounds:
    """Rounds to a whole number of hundredths, up or down by chance: draws come from the worker's stream."""

    def encode(self, v, draws):
        return numpy.floor(v * 100 + draws.uniform())

    def weigh(self, size):
        return 2 * size

    def decode(self, message):
        return message / 100


def rows_of(text):
    return [{key: value for key, value in row.items() if key not in NAMES} for row in csv.DictReader(io.StringIO(text))]


def same(own, known):
    a, b = (paceline.run(scenario, models=True) for scenario in (own, known))
    assert rows_of(a.csv()) == rows_of(b.csv())
    if "model" in own["workload"]:
        assert rows_of(a.csv("timeline")) == rows_of(b.csv("timeline"))
    for one, other in zip(a.points, b.points):
        assert one.models is None or numpy.array_equal(one.models, other.models)
    return a


LARGEST = ({"kind": Largest, "density": 0.1}, {"kind": "top-k", "density": 0.1})
ALGORITHMS = [
    {"kind": "sgd"},
    {"kind": "sgd", "aggregation": {"kind": "two-phase"}},
    {"kind": "sgd", "aggregation": {"kind": "servers", "encoded": "up"}, "schedule": {"pieces": "tensors"}},
    {"kind": "choco-sgd", "mixing": {"kind": "ring"}},
    {"kind": "dsgd", "mixing": {"kind": "ring"}},
]


@pytest.mark.parametrize("algorithm", ALGORITHMS[:4])
def test_the_largest_entries_in_python_are_those_of_top_k(algorithm):
    own, known = (training(workload=NET, algorithm={**algorithm, "label": "x", "codec": codec}, sweep={"seed": [1, 2]})
                  for codec in LARGEST)
    same(own, known)


@pytest.mark.parametrize("feedback", [False, True])
def test_signs_in_python_are_those_of_the_table(feedback):
    own, known = (training(workload=NET, algorithm={"kind": "sgd", "label": "x",
                                                    "codec": {"kind": kind, "error_feedback": feedback, "coding_step": "3ns"}})
                  for kind in (Signs, "sign"))
    same(own, known)


def test_a_codec_in_python_leaves_tensors_out_and_times_runs_without_values():
    own, known = (ring(algorithm={"kind": "sgd", "label": "x", "codec": codec},
                       workload={"profile": "resnet-50", "device": "v100", "batch": 32}) for codec in LARGEST)
    same(own, known)
    own, known = (training(workload=NET, algorithm={"kind": "sgd", "label": "x", "codec": {**codec, "leave_out": [-1, 0]}})
                  for codec in LARGEST)
    same(own, known)


def test_a_codec_in_python_serves_a_method_in_python():
    @paceline.algorithm
    async def compressed(self):
        x, exchange = self.model(), self.exchange()
        while self.begins_step():
            x -= self.learning_rate() * await exchange.mean_gradient(x)
            await self.update()

    own, known = (training(workload=NET, algorithm={"kind": compressed, "label": "x", "codec": codec}) for codec in LARGEST)
    same(own, known)


def test_a_codec_that_draws_gives_the_same_bytes_again():
    scenario = training(workload=NET, algorithm={"kind": "sgd", "codec": {"kind": Rounds, "error_feedback": False}},
                        sweep={"seed": [1, 2, 3]})
    one, two = (paceline.run(scenario, jobs=jobs, threads=jobs) for jobs in (1, 2))
    assert one.csv() == two.csv() and one.csv("timeline") == two.csv("timeline")
    assert len({point.metrics["train_loss"] for point in one.points}) == 3


def bad_codec(**changes):
    @paceline.codec
    class Bad(Signs._made_of):
        pass

    for name, value in changes.items():
        setattr(Bad._made_of, name, value)
    return Bad


@pytest.mark.parametrize(("changes", "words"), [
    ({"weigh": lambda self, size: -1}, "Bad.weigh: ValueError: returned -1; it is the bytes of a message"),
    ({"decode": lambda self, message: numpy.zeros(2)}, "Bad: ValueError: decoded 2 numbers of a tensor of"),
    ({"encode": lambda self, v: 1 // 0}, "Bad: ZeroDivisionError"),
])
def test_a_codec_that_fails_is_told(changes, words):
    with pytest.raises(paceline.MethodError) as caught:
        paceline.run(training(workload=NET, algorithm={"kind": "sgd", "codec": {"kind": bad_codec(**changes)}}))
    assert words in str(caught.value)


@pytest.mark.parametrize(("algorithm", "words"), [
    ({"codec": {"kind": Largest, "density": "low"}}, "algorithm.codec.density: \"low\" is not a number"),
    ({"codec": {"kind": Largest, "denisty": 0.1}}, "did you mean \"density\"?"),
    ({"codec": {"kind": Largest}, "aggregation": "all-reduce"}, "its messages do not add up"),
    ({"codec": {"kind": bad_codec(encode_passes=-1)}}, "Bad cannot be made: ValueError: encode_passes is -1"),
])
def test_a_codec_that_does_not_go_is_refused(algorithm, words):
    with pytest.raises(paceline.ScenarioError) as caught:
        paceline.check(training(workload=NET, algorithm={"kind": "sgd", **algorithm}))
    assert words in str(caught.value)
    assert "top-k" not in str(caught.value)


# --- mixings ---

def ring_of(nodes):
    w = numpy.zeros((nodes, nodes))
    for i in range(nodes):
        for j in {i - 1, i, (i + 1) % nodes}:
            w[i, j] += 1 / 3
    return w


@paceline.mixing(period=1)
def circle(step, nodes):
    assert step == 0
    return ring_of(nodes)


@paceline.mixing
def circle_anew(step, nodes):
    return ring_of(nodes)


@paceline.mixing
def one_peer(step, nodes, *, give=0.5):
    shift = numpy.roll(numpy.eye(nodes), -2 ** (step % 2), axis=1)
    return (1 - give) * numpy.eye(nodes) + give * shift


@pytest.mark.parametrize("kind", ["dsgd", "dmsgd", "decentlam", "d2-dmsgd"])
def test_a_ring_in_python_is_that_of_the_table(kind):
    own, known = (training(workload=NET, algorithm={"kind": kind, "label": "x", "mixing": mixing}, sweep={"seed": [1, 2]})
                  for mixing in (circle, {"kind": "ring"}))
    same(own, known)


def test_a_mixing_in_python_serves_a_method_in_python_and_those_that_ask_for_one_that_stays():
    @paceline.algorithm
    async def averages(self):
        x = self.model()
        while self.begins_step():
            g = await self.gradient(x)
            assert set(self.mixing_row()) == {self.rank, *self.neighbors()}
            x[:] = await self.neighbor_average(x - self.learning_rate() * g)
            await self.update()

    own, known = (training(workload=NET, algorithm={"kind": averages, "label": "x", "mixing": mixing})
                  for mixing in ({"kind": circle}, {"kind": "ring"}))
    same(own, known)
    swarm = {"kind": "swarm-sgd", "label": "x"}
    same(training(workload=NET, algorithm={**swarm, "mixing": circle}),
         training(workload=NET, algorithm={**swarm, "mixing": {"kind": "ring"}}))
    with pytest.raises(paceline.ScenarioError, match="needs neighbors that do not change"):
        paceline.check(training(workload=NET, algorithm={**swarm, "mixing": circle_anew}))


def test_parts_without_options_stand_for_themselves_and_have_their_names_in_a_sweep():
    study = paceline.run(training(workload=NET, algorithm={"kind": "dsgd", "mixing": circle}, stop={"iterations": 2},
                                  sweep={"algorithm.mixing": [circle, {"kind": "complete"}, {"kind": one_peer, "give": 0.25}]}))
    assert [point.values["algorithm.mixing"] for point in study.points] == ["circle", "complete", "one_peer"]
    study = paceline.run(training(workload=NET, algorithm={"kind": "sgd"}, stop={"iterations": 2},
                                  sweep={"algorithm.codec": [Largest, "top-k"]}))
    assert [point.values["algorithm.codec"] for point in study.points] == ["Largest", "top-k"]
    assert study.points[0].metrics == study.points[1].metrics
    with pytest.raises(paceline.ScenarioError, match="Signs is not marked: write @paceline.algorithm"):
        paceline.check(training(workload=NET, algorithm={"kind": "sgd", "codec": {"kind": Signs._made_of}}))


def test_a_mixing_of_the_step_averages_as_the_one_of_the_table():
    """Columns that follow from closed forms are empty for a mixing that need not repeat."""
    own, known = (paceline.run(training(workload=NET, algorithm={"kind": "dsgd", "mixing": mixing}), models=True)
                  for mixing in (one_peer, {"kind": "one-peer-exponential"}))
    assert numpy.array_equal(own.points[0].models, known.points[0].models)
    assert own.csv("timeline").split("\n")[1:] == known.csv("timeline").split("\n")[1:]


def spoiled(row, column, value, period=0):
    @paceline.mixing(period=period)
    def bad(step, nodes):
        w = ring_of(nodes)
        if step >= 2 or period:
            w[row, column] = value
        return w

    return bad


@pytest.mark.parametrize(("mixing", "words"), [
    (spoiled(2, 2, 0.5, 3), "algorithm.mixing.kind: W of step 0 is not a mixing: row 2 sums to 1.16666667"),
    (spoiled(1, 1, -0.5, 1), "row 1 has weight -0.5 of node 1; weights are 0 or more"),
    (paceline.mixing(period=1)(lambda step, nodes: numpy.eye(nodes)[[0] * nodes]),
     "column 0, what others take from node 0 and it keeps, sums to 4"),
])
def test_a_w_that_is_no_mixing_is_refused_with_its_row(mixing, words):
    with pytest.raises(paceline.ScenarioError) as caught:
        paceline.check(training(workload=NET, algorithm={"kind": "dsgd", "mixing": mixing}))
    assert words in str(caught.value)


@pytest.mark.parametrize(("mixing", "words"), [
    (spoiled(2, 2, 0.5), "bad: W of step 2 is not a mixing: row 2 sums to 1.16666667"),
    (paceline.mixing(lambda step, nodes: ring_of(nodes - (step > 1))), "returned shape (3, 3); W of 4 workers is 4 x 4"),
])
def test_a_w_of_a_later_step_that_is_no_mixing_ends_the_run(mixing, words):
    with pytest.raises(paceline.MethodError) as caught:
        paceline.run(training(workload=NET, algorithm={"kind": "dsgd", "mixing": mixing}))
    assert words in str(caught.value)
    assert caught.value.step == 2


def test_what_is_no_mixing_is_refused_when_it_is_marked():
    with pytest.raises(TypeError, match="a mixing is a function of the step and the number of workers"):
        paceline.mixing(lambda nodes: None)
    with pytest.raises(ValueError, match="is not a number of steps"):
        paceline.mixing(period=-1)
    with pytest.raises(TypeError, match="weigh is missing"):
        @paceline.codec
        class Half:
            def encode(self, v):
                """Nothing."""


SOURCE = """
import numpy
import paceline

@paceline.mixing(period=1)
def ring(step, nodes, *, own=0.5):
    beside = numpy.roll(numpy.eye(nodes), 1, axis=1)
    return own * numpy.eye(nodes) + (1 - own) * (beside + beside.T) / 2

@paceline.codec
class Signs:
    def encode(self, v):
        return v >= 0

    def weigh(self, size):
        return size / 8

    def decode(self, message):
        return numpy.where(message, 1.0, -1.0)
"""


@pytest.mark.parametrize(("algorithm", "words", "missing"), [
    ({"kind": "dsgd", "mixing": {"kind": "mine.py:ring", "own": 0.4}},
     "algorithm.mixing.kind: \"mine.py:ring\" is a mixing in Python", "has no mixing \"rign\"; it has ring"),
    ({"kind": "sgd", "codec": {"kind": "mine.py:Signs", "error_feedback": False}},
     "algorithm.codec.kind: \"mine.py:Signs\" is a codec in Python", "has no codec \"rign\"; it has Signs"),
])
def test_parts_in_files_run_in_python_and_the_program_refuses_them_by_name(algorithm, words, missing, command, tmp_path):
    import json

    (tmp_path / "mine.py").write_text(SOURCE)
    (tmp_path / "s.json").write_text(json.dumps(training(workload=NET, algorithm=algorithm)))
    assert paceline.run(tmp_path / "s.json").points[0].outcome == "finished"
    refused = command("check", "s.json")
    assert refused.returncode == 2
    assert words in refused.stderr
    key = "mixing" if "mixing" in algorithm else "codec"
    with pytest.raises(paceline.ScenarioError) as caught:
        paceline.check(tmp_path / "s.json", {f"algorithm.{key}.kind": "mine.py:rign"})
    assert missing in str(caught.value)

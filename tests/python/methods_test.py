"""The methods of examples/methods/published.py give the results of those of the table, in every bit."""

import csv
import io
import sys

import numpy
import pytest

import paceline
from conftest import ROOT, ring, training

sys.path.insert(0, str(ROOT / "examples/methods"))
import published  # noqa: E402

RING = {"mixing": {"kind": "ring"}}
NET = {"model": {"kind": "mlp", "hidden": [7]}, "batch": 8, "step_time": "1ms",
       "data": {"kind": "gaussian-mixture", "classes": 3, "dimension": 5, "train": 120, "test": 30}}
PIECES = {"schedule": {"pieces": "tensors", "begin": "beside-backward"}}
CASES = [
    ("dsgd", RING, {"kind": "dsgd", **RING}),
    ("dmsgd", {**RING, "beta": 0.8}, {"kind": "dmsgd", **RING}),
    ("decentlam", {**RING, "beta": 0.8}, {"kind": "decentlam", **RING}),
    ("dgc", {"beta": 0.8, "codec": {"kind": "dgc", "density": 0.1}},
     {"kind": "dgc", "codec": {"kind": "dgc", "density": 0.1}}),
    ("diloco", {"period": 4, "decay": 0.01}, {"kind": "diloco", "period": 4}),
    ("ps_async", {"beta": 0.8}, {"kind": "ps-async"}),
    ("overlapped", {"beta": 0.8, **PIECES}, {"kind": "dense", **PIECES}),
    ("swarm", {**RING, "local_steps": 2, "beta": 0.8}, {"kind": "swarm-sgd", "local_steps": 2, **RING}),
]
# Columns that follow from closed forms of the table's methods, or from what such a method is known to keep.
OF_THE_TABLE = ("algorithm", "model_step_time_s", "compression_ratio", "memory_gb")
REPLICAS = ("dgc", "diloco")  # equal models are one in the table, whose distance is 0 without rounding
NEED_A_STAR = ("ps_async",)
DECAY = {"diloco": 0.01}


def rows_of(text, without=()):
    """Returns the rows of a table without the columns that are another matter."""
    return [{key: value for key, value in row.items() if key not in (*OF_THE_TABLE, *without)}
            for row in csv.DictReader(io.StringIO(text))]


@pytest.mark.parametrize(("name", "own", "known"), CASES)
def test_a_method_in_python_gives_the_results_of_the_one_in_the_table(name, own, known):
    """On a contended network, with stragglers, batches and links that differ, over two seeds."""
    scenario = training(
        workload=NET, sweep={"seed": [1, 2]}, stop={"iterations": 20},
        optimizer={"learning_rate": 0.05, "momentum": 0.8, "weight_decay": DECAY.get(name, 0)},
        cluster={"nodes": 6, "stragglers": {"factor": 3, "share": 0.3},
                 "fabric": {**({"kind": "star"} if name in NEED_A_STAR else {"kind": "fat-tree", "k": 4}),
                            "link": {"bandwidth": "50Mbps", "latency": "30us"}}})
    a = paceline.run({**scenario, "algorithm": {"kind": getattr(published, name), **own}}, models=True)
    b = paceline.run({**scenario, "algorithm": known}, models=True)
    without = ("consensus_distance",) if name in REPLICAS else ()
    for table in ("timeline", "results"):
        assert rows_of(a.csv(table), without) == rows_of(b.csv(table), without)
    for own_point, known_point in zip(a.points, b.points):
        assert numpy.array_equal(own_point.models, known_point.models)
        assert own_point.metrics["consensus_distance"] < 1e-14 or name not in REPLICAS


@pytest.mark.parametrize(("name", "own", "known"), CASES)
def test_a_timing_only_run_of_a_method_takes_the_time_of_the_one_in_the_table(name, own, known):
    a = paceline.run({**ring(stop={"iterations": 8}), "algorithm": {"kind": getattr(published, name), **own}})
    b = paceline.run({**ring(stop={"iterations": 8}), "algorithm": known})
    assert rows_of(a.csv()) == rows_of(b.csv())


@pytest.mark.parametrize(("name", "own", "known"), [case for case in CASES if case[0] != "dgc"])
def test_a_method_survives_deaths_as_the_one_in_the_table(name, own, known):
    """Node 1 dies in a step and returns; node 3 dies for good.

    State that all workers share (self.shared) survives, as that of the table does. dgc has another reaction to deaths.
    """
    trace = numpy.array([[1, 0.0042, 0.0131], [3, 0.0303, 9.0]])
    scenario = training(workload=NET, stop={"iterations": 48},
                        optimizer={"learning_rate": 0.05, "momentum": 0.8, "weight_decay": DECAY.get(name, 0)})
    scenario["cluster"] = {**scenario["cluster"], "failures": {"trace": {"file": trace}, "detection": "1ms"}}
    a = paceline.run({**scenario, "algorithm": {"kind": getattr(published, name), **own}})
    b = paceline.run({**scenario, "algorithm": known})
    assert a.points[0].metrics["deaths"] >= 1
    without = ("consensus_distance",) if name in REPLICAS else ()
    for table in ("timeline", "results"):
        assert rows_of(a.csv(table), without) == rows_of(b.csv(table), without)

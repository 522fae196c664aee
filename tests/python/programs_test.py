"""200 random programs of operations give the same clock, bytes and models in Python and in C++ (random_programs.cpp)."""

import json
import os
import pathlib
import random
import subprocess

import numpy
import pytest

import paceline
from conftest import PROGRAM

INTERPRETER = pathlib.Path(os.environ.get("PACELINE_PROGRAMS", PROGRAM.parent / "paceline_programs"))
TRAINED, TIMED = range(150), range(150, 200)  # numbers of programs
US = 1e-6


@paceline.algorithm
async def interpreter(self, *, program):
    """Does what a program says, as random_programs.cpp does."""
    x, state, updates = self.model(), self.shared("state"), 0
    v = [numpy.zeros_like(x) for _ in range(4)]
    exchanges = [self.exchange(), self.exchange()]
    draws = self.stream("program")
    while self.begins_step():
        for name, *a in program:
            if name == "gradient":
                v[a[0]] = await self.gradient(x)
            elif name == "compute":
                await self.compute((a[0] + self.rank * a[1]) * US)
            elif name == "sleep":
                await self.sleep(a[0] * US)
            elif name == "update":
                await self.update()
            elif name == "barrier":
                await self.barrier()
            elif name == "all_reduce":
                v[a[1]] = await self.all_reduce(v[a[0]], weight=a[2])
            elif name == "pair":
                first = self.rank // 2 * 2
                v[a[1]] = await self.all_reduce(v[a[0]], group=[first, first + 1])
            elif name == "average":
                v[a[1]] = await self.neighbor_average(v[a[0]])
            elif name == "sum":
                v[a[1]] = await self.neighbor_sum(v[a[0]], weight=a[2])
            elif name == "exchange":
                v[a[2]] = await exchanges[a[0]].aggregate(v[a[1]])
            elif name == "mean":
                v[a[1]] = await exchanges[a[0]].mean_gradient(x)
            elif name == "backward":
                whole, backward = v[a[0]].copy(), self.backward(x)
                for piece in backward.pieces:
                    piece.of(whole)[:] = await backward.complete(piece)
                v[a[0]] = whole
            elif name == "letter":
                await self.post((self.rank + a[0]) % self.workers, v[a[1]], number=self.rank)
                letter = await self.next_letter()
                v[a[2]] = v[a[2]] + letter.number * letter.vector
            elif name == "combine":
                v[a[4]] = a[0] * v[a[1]] + a[2] * v[a[3]]
            elif name == "step":
                x -= self.learning_rate() * v[a[0]]
            elif name == "beside":
                pending = self.start(self.all_reduce(v[a[0]]))
                await self.compute(a[2] * US)
                v[a[1]] = await pending
            elif name == "draw":
                await self.compute(draws.integer(0, a[0]) * US)
            elif name == "shared":
                mean = await self.all_reduce(v[a[0]])
                if self.updates(updates):
                    state.value = state.value + mean
                updates += 1
                v[a[1]] = state.value
            else:
                raise AssertionError(name)


def operation_of(draw, nodes):
    def r():
        return draw.randrange(4)

    def weight():
        return draw.choice([None, 10_000, 123])

    kinds = {
        "gradient": lambda: [r()],
        "compute": lambda: [draw.randrange(400), draw.randrange(50)],
        "sleep": lambda: [draw.randrange(300)],
        "update": list,
        "barrier": list,
        "all_reduce": lambda: [r(), r(), weight()],
        "pair": lambda: [r(), r()],
        "average": lambda: [r(), r()],
        "sum": lambda: [r(), r(), weight()],
        "exchange": lambda: [draw.randrange(2), r(), r()],
        "mean": lambda: [draw.randrange(2), r()],
        "backward": lambda: [r()],
        "letter": lambda: [draw.randrange(1, nodes), r(), r()],
        "combine": lambda: [round(draw.uniform(-1, 1), 3), r(), round(draw.uniform(-1, 1), 3), r(), r()],
        "step": lambda: [r()],
        "beside": lambda: [r(), r(), draw.randrange(600)],
        "draw": lambda: [draw.randrange(500)],
        "shared": lambda: [r(), r()],
    }
    name = draw.choice(list(kinds))
    return [name, *kinds[name]()]


def cluster_of(draw, nodes):
    link = {"bandwidth": draw.choice(["20Mbps", "1Gbps", "10Gbps"]), "latency": draw.choice(["0us", "7us", "200us"])}
    fabrics = [{"kind": "star", "link": link}, {"kind": "ring", "link": link}, {"kind": "fat-tree", "k": 4, "link": link},
               {"kind": "leaf-spine", "link": link, "hosts_per_leaf": 2, "spines": 1, "oversubscription": 2},
               {"kind": "torus", "link": link, "dims": [2, nodes // 2]}]
    cluster = {"nodes": nodes, "fabric": draw.choice(fabrics)}
    if draw.random() < 0.5:
        cluster["stragglers"] = {"factor": 1 + draw.random(), "share": 0.3}
    return cluster


def workload_of(draw, trains):
    clock = {"step_time": f"{draw.randrange(1, 3000)}us", "update_time": f"{draw.randrange(200)}us"}
    if not trains:
        return {"gradient": f"{4 * draw.randrange(1, 20_000)}B", "tensors": 1, **clock}
    return {"model": draw.choice([{"kind": "softmax-regression"}, {"kind": "mlp", "hidden": [draw.randrange(3, 9)]}]),
            "data": {"kind": "gaussian-mixture", "classes": 3, "dimension": 5, "train": 60, "test": 12}, "batch": 4, **clock}


def algorithm_of(draw, nodes, number):
    exchange = draw.choice([
        {}, {"codec": "top-k"}, {"codec": {"kind": "qsgd"}}, {"schedule": {"pieces": "tensors", "begin": "beside-backward"}},
        {"codec": {"kind": "sign"}, "aggregation": "two-phase", "schedule": {"pieces": "tensors"}},
        {"aggregation": {"kind": "all-reduce", "plan": "recursive-doubling"}},
    ])
    # All that a program does ends in the model: it begins with a gradient and ends with a step along all vectors.
    first = [["gradient", 0], ["combine", 0.7, 0, 0.1, 1, 1]]
    last = [["combine", 0.5, 0, 0.3, 1, 0], ["combine", 0.25, 2, 0.25, 3, 3], ["combine", 1.0, 0, 1.0, 3, 3], ["step", 3]]
    program = [*first, *(operation_of(draw, nodes) for _ in range(draw.randrange(3, 11))), *last]
    return {"label": f"program {number}", "mixing": {"kind": draw.choice(["ring", "complete", "exponential"])},
            "program": program, **exchange}


def study_of(kind, trains):
    clusters, workloads, algorithms, seeds = [], [], [], []
    for number in TRAINED if trains else TIMED:
        draw = random.Random(number)
        nodes = draw.choice([2, 4, 6])
        clusters.append(cluster_of(draw, nodes))
        workloads.append(workload_of(draw, trains))
        algorithms.append({"kind": kind, **algorithm_of(draw, nodes, number)})
        seeds.append(number % 7)
    rule = {"optimizer": {"learning_rate": 0.05}} if trains else {}
    return {"cluster": clusters[0], "workload": workloads[0], "algorithm": algorithms[0], "stop": {"iterations": 3}, **rule,
            "sweep": {"zip": {"cluster": clusters, "workload": workloads, "algorithm": algorithms, "seed": seeds}}}


@pytest.mark.parametrize("trains", [True, False])
def test_random_programs_do_the_same_in_python_and_in_cpp(trains, tmp_path):
    if not INTERPRETER.exists():
        pytest.skip("needs paceline_programs, which make python builds")
    (tmp_path / "study.json").write_text(json.dumps(study_of("programs:run", trains)))
    done = subprocess.run([INTERPRETER, tmp_path / "study.json", tmp_path], capture_output=True, text=True, check=False,
                          timeout=100)
    assert done.returncode == 0, done.stderr
    study = paceline.run(study_of(interpreter, trains), progress=False, models=True, jobs=2)
    assert {point.outcome for point in study.points} == {"finished"}
    assert not trains or sum(point.metrics["consensus_distance"] > 0 for point in study.points) > len(TRAINED) / 2
    assert study.csv() == (tmp_path / "results.csv").read_text()
    if trains:
        assert study.csv("timeline") == (tmp_path / "timeline.csv").read_text()
        models = numpy.concatenate([point.models.ravel() for point in study.points])
        assert models.tobytes() == (tmp_path / "models.f64").read_bytes()

"""What a method in Python costs, against the same method of the table.

    make python && PYTHONPATH=build/release/python /usr/bin/python3 bench/python_methods.py

Prints medians of CPU seconds: of DecentLaM on the net of scenarios/first-training.json, of an operation of a worker in a
timing-only run, where nothing else takes time, and of a gradient of a problem in numpy. Then by how much two points side by
side shorten a study, whose methods and problems in Python take turns. What is compared runs in turn, because the machine is
shared. docs/performance.md records the results.
"""

import json
import pathlib
import statistics
import sys
import time

import numpy

import paceline

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "examples/methods"))
import published  # noqa: E402

RING = {"mixing": {"kind": "ring"}}
OPERATIONS = 3  # of a step of DecentLaM: gradient, neighbor_average, update
STEPS, NODES = 2000, 16


def training():
    scenario = json.loads((ROOT / "scenarios/first-training.json").read_text())
    return {key: value for key, value in scenario.items() if key not in ("$schema", "sweep")}


def timing():
    return {"cluster": {"nodes": NODES, "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps", "latency": "50us"}}},
            "workload": {"gradient": "1MB", "step_time": "10ms", "update_time": "1ms"}, "stop": {"iterations": STEPS}}


def cpu_s(scenario, kind):
    begin = time.process_time()
    paceline.run({**scenario, "algorithm": {"kind": kind, **RING}}, jobs=1, threads=1, progress=False)
    return time.process_time() - begin


def pairs(scenario, repetitions):
    kinds = {"table": "decentlam", "Python": published.decentlam}
    seconds = {name: [] for name in kinds}
    for _ in range(repetitions):
        for name, kind in kinds.items():
            seconds[name].append(cpu_s(scenario, kind))
    return seconds


@paceline.problem
class LeastSquares:
    """The linear regression of the table, in numpy."""

    def __init__(self, data):
        self.parts = [(part.inputs.astype(float), part.targets.astype(float)) for part in (data.train, data.test)]

    def start(self):
        return numpy.zeros(self.parts[0][0].shape[1])

    def gradient(self, x, batch):
        a, b = (part[batch] for part in self.parts[0])
        return a.T @ (a @ x - b) / len(batch)

    def loss(self, x):
        a, b = self.parts[0]
        return numpy.mean((a @ x - b) ** 2) / 2


def regression(kind, **options):
    return {**timing(), "workload": {"model": {"kind": kind, **options}, "data": {"kind": "linear-regression", "dimension": 100},
                                     "batch": 32, "step_time": "10ms"},
            "optimizer": {"learning_rate": 0.01}, "stop": {"iterations": STEPS // 4}}


def gradients(repetitions):
    """Returns the CPU microseconds of a step of a worker that trains the table's linear regression, and one in numpy."""
    models = {"table": regression("linear-regression", bias=False), "Python": regression(LeastSquares)}
    micros = {name: [] for name in models}
    for _ in range(repetitions):
        for name, scenario in models.items():
            micros[name].append(1e6 * cpu_s(scenario, "dsgd") / (STEPS // 4 * NODES))
    return micros


def side_by_side(repetitions):
    """Returns how many times as fast a study of four points is with two at a time, of each pair of runs."""
    seeds = {"sweep": {"seed": [1, 2, 3, 4]}}
    studies = {"methods of the table": ({**training(), **seeds}, "decentlam"),
               "methods in Python": ({**training(), **seeds}, published.decentlam),
               "problems in Python": ({**regression(LeastSquares), **seeds}, "dsgd")}
    times = {name: [] for name in studies}
    for _ in range(repetitions):
        for name, (scenario, kind) in studies.items():
            wall = []
            for jobs in (1, 2):
                begin = time.monotonic()
                paceline.run({**scenario, "algorithm": {"kind": kind, **RING}}, jobs=jobs, threads=1, progress=False)
                wall.append(time.monotonic() - begin)
            times[name].append(wall[0] / wall[1])
    return times


def spread(values):
    return f"{statistics.median(values):.3g} ({min(values):.3g} to {max(values):.3g})"


if __name__ == "__main__":
    trained = pairs(training(), 7)
    ratio = statistics.median(a / b for a, b in zip(trained["Python"], trained["table"]))
    print(f"DecentLaM of first-training, CPU s: table {spread(trained['table'])}, Python {spread(trained['Python'])}, "
          f"ratio {ratio:.3f}")
    timed = pairs(timing(), 7)
    for name, values in timed.items():
        print(f"an operation of a worker, without values, {name}: "
              f"{spread([1e6 * value / (STEPS * NODES * OPERATIONS) for value in values])} us")
    for name, values in gradients(7).items():
        print(f"a step of a worker on a linear regression, {name}: {spread(values)} us")
    for name, values in side_by_side(5).items():
        print(f"two points side by side, {name}: {spread(values)} times as fast")

"""What a method in Python costs, against the same method of the table.

    make python && PYTHONPATH=build/release/python /usr/bin/python3 bench/python_methods.py

Prints medians of CPU seconds: of DecentLaM on the net of scenarios/first-training.json, and of an operation of a worker in a
timing-only run, where nothing else takes time. The two run in turn, because the machine is shared. docs/performance.md
records the results.
"""

import json
import pathlib
import statistics
import sys
import time

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

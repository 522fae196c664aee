"""Gives the module scenarios that were changed at random. Each runs, or is refused by a ScenarioError that names a place.

    fuzz.py COUNT [FIRST]      prints the seed that it is at, and at the end "N ran, N refused, N too long"

The parent process (fuzz_test.py) sees whether the interpreter survives.
"""

import copy
import json
import pathlib
import random
import signal
import sys
import warnings

import numpy

import paceline

ROOT = pathlib.Path(__file__).resolve().parents[2]
BASES = ["absences", "algorithms", "codecs", "compressors", "failures", "fabrics", "jobs", "links", "mixings", "nets",
         "optimizers", "partitions", "seeds"]
SECONDS = 2


class TooLong(Exception):
    pass


def alarm(_signal, _frame):
    raise TooLong


def own_list():
    loop = []
    loop.append(loop)
    return loop


def own_dict():
    loop = {}
    loop["cluster"] = loop
    return loop


def deep(levels):
    value = 1
    for _ in range(levels):
        value = [value]
    return value


JUNK = [
    lambda r: None, lambda r: True, lambda r: r.randrange(-3, 70), lambda r: 10 ** r.randrange(400),
    lambda r: r.choice([float("nan"), float("inf"), -0.0, 1e-320, 1e308, 0.5]), lambda r: "",
    lambda r: r.choice(["10Gbps", "-1s", "1e400B", "\x00", "\ud800", "\u202e", "nan", "x" * 10_000, "python:x.json", "/", "."]),
    lambda r: {}, lambda r: [], lambda r: own_list(), lambda r: own_dict(), lambda r: deep(r.choice([5, 40, 300])),
    lambda r: {1, 2}, lambda r: object(), lambda r: len, lambda r: b"\x1f\x8b\x00" + r.randbytes(20), lambda r: 3j,
    lambda r: numpy.array(r.randrange(9)), lambda r: numpy.full((3, 3), r.choice([0.25, 1 / 3, float("nan"), -1.0])),
    lambda r: numpy.float32(r.random()), lambda r: numpy.array(["a"]), lambda r: {3: 4}, lambda r: {"kind": "trace", "file": b""},
    lambda r: {"edges": [[0, 1, 2]], "kind": "explicit"}, lambda r: (numpy.ones((5, 2)), numpy.arange(5)), lambda r: (1, 2, 3),
    lambda r: {"X": r.choice([None, "a", [[1]], [[float("inf")]]]), "y": [0]}, lambda r: range(r.randrange(1, 5)),
    lambda r: {"name": "n", "source": "s", "layers": r.choice([[], 3, [{"name": 1}], [{"name": "a", "macs": 1, "tensors": []}]])},
]


def places(value, above=()):
    """Returns the paths of all values within a scenario."""
    found = [above] if above else []
    if len(above) > 10:  # lists may hold themselves
        return found
    if isinstance(value, dict):
        for key in value:
            found += places(value[key], (*above, key))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            found += places(inner, (*above, i))
    return found


def at(value, path):
    for key in path:
        value = value[key]
    return value


def mutate(scenario, r):
    all_places = places(scenario)
    path = r.choice(all_places)
    holder, key = at(scenario, path[:-1]), path[-1]
    kind = r.randrange(6)
    if isinstance(holder[key], (int, float)) and not isinstance(holder[key], bool) and r.random() < 0.6:
        kind = 3
    if kind == 0:
        del holder[key]
    elif kind == 1:
        holder[key] = copy.deepcopy(at(scenario, r.choice(all_places)))
    elif kind == 2 and isinstance(holder, dict):
        holder[r.choice([str(key) + "s", "kind", "profile", "data", "mixing", "file", ""])] = holder.pop(key)
    elif kind == 3 and isinstance(holder[key], (int, float)) and not isinstance(holder[key], bool):
        holder[key] = holder[key] * r.choice([-1, 0, 2, 2, 3, 1000, 1e9])
    else:
        holder[key] = r.choice(JUNK)(r)


def small(name, r):
    """Returns one point or a few of a scenario."""
    scenario = json.loads((ROOT / f"tests/fingerprints/{name}.json").read_text())
    for axis, values in list(scenario.get("sweep", {}).items()):
        if isinstance(values, list):
            scenario["sweep"][axis] = r.sample(values, min(len(values), 2))
    return scenario


def ask(scenario, overrides, r):
    """Runs a scenario, or asks another question about it."""
    call = r.random()
    if call < 0.7:
        study = paceline.run(scenario, overrides, progress=False, models=r.random() < 0.3)
        assert study.csv().startswith("point,") and study._repr_html_()
        assert all(point.scenario and point.outcome for point in study.points)
    elif call < 0.8:
        assert paceline.check(scenario, overrides).text
    elif call < 0.9:
        assert paceline.explain(scenario, 0, overrides).data["outcome"]
    else:
        vary = r.choice([{"cluster.nodes": (2, 5)}, {"optimizer.learning_rate": (0.1, 0.2)}, {"stop": (1, 2)}, {"": ("a", {})},
                         {"cluster.fabric.link.bandwidth": ("1Gbps", "2Gbps")}, "cluster.nodes", "x=1..", "a=1s..2B"])
        find = r.choice(["step_time_s", "train_loss", "outcome", "\x00"])
        solution = paceline.solve(scenario, vary, find, r.choice([0.1, float("nan"), 1e300]), overrides=overrides, grid=3)
        assert solution.text and isinstance(solution.answers, list)


def judge(seed):
    """Returns what became of the scenario of a seed. Raises what should not happen."""
    r = random.Random(seed)
    scenario = small(r.choice(BASES), r)
    for _ in range(r.choice([1, 1, 1, 1, 2, 3])):
        if places(scenario):
            mutate(scenario, r)
    overrides = {"stop.time": "1s"} if r.random() < 0.3 else {r.choice(["seed", "cluster.nodes", ""]): r.choice(JUNK)(r)} \
        if r.random() < 0.2 else {}
    # The alarm comes once, maybe just when the call has ended.
    try:
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        try:
            ask(scenario, overrides, r)
            return "ran"
        except paceline.ScenarioError as error:
            assert len(str(error).split("\n")) == len(error.faults), error
            assert all(fault.file and fault.message for fault in error.faults), error
            return "refused"
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except TooLong:
        return "too long"


def main(count, first=0):
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, alarm)
    outcomes = {"ran": 0, "refused": 0, "too long": 0}
    for seed in range(first, first + count):
        print(f"seed {seed}", flush=True)
        outcomes[judge(seed)] += 1
    print(", ".join(f"{number} {name}" for name, number in outcomes.items()))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

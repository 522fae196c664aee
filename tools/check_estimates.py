#!/usr/bin/env python3
"""Compares what `paceline check` says that a study costs with what it takes: seconds of one core, and peak memory.

    tools/check_estimates.py PACELINE                 every shipped study, and thirty drawn ones (half an hour)
    tools/check_estimates.py PACELINE --limit 20      only those of which check says 20 s at most
    tools/check_estimates.py PACELINE --only NAME,... only these; "drawn" stands for all drawn ones

Each study runs with --jobs 1 --threads 1 in a process of its own. The table shows CPU seconds and the peak of the
resident set beside what was said, and the ratio taken / said. An estimate holds if it is within a factor of three of the
time and of two of the memory, or if less than 0.1 s is said and taken; of a study that may end early ("at most"), if no more than three times as much is
taken. Of memory, the program's own 16 MB are not judged. Exits 1 if an estimate does not hold. Its times are those of
this machine, so that it is not a part of any test.

A drawn study is timing-only, cut into small partitions, or trains a net on data of its own, in turn, with nodes, links,
sizes and an algorithm drawn from a fixed seed.
"""

import argparse
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SAID = re.compile(r"running it: (?:[\d.e+]+ messages, )?(?:(about|at most) ([\d.e+-]+) s on one core"
                  r"|until its points reach their time limits), ([\d.e+-]+) GB")
FACTOR = 3
MEMORY_FACTOR = 2
LEAST_S = 0.1  # starting the program alone takes some 0.02 s
LEAST_GB = 0.016

ALGORITHMS = [
    {"kind": "dense"}, {"kind": "dense", "aggregation": {"kind": "all-reduce", "plan": "halving-doubling"}}, {"kind": "dense", "aggregation": {"kind": "all-reduce", "plan": "tree"}},
    {"kind": "dgc", "codec": {"kind": "dgc", "density": 0.001}}, {"kind": "sgd", "codec": "qsgd", "aggregation": "two-phase"},
    {"kind": "sgd", "aggregation": "servers"}, {"kind": "local-sgd", "period": 8},
    {"kind": "dsgd", "mixing": {"kind": "ring"}}, {"kind": "dsgd", "mixing": {"kind": "one-peer-exponential"}},
    {"kind": "zero", "stage": 3},
]


TRAINED = [{"kind": "dense"}, {"kind": "dgc", "density": 0.01}, {"kind": "local-sgd", "period": 4},
           {"kind": "dsgd", "mixing": {"kind": "ring"}}, {"kind": "decentlam", "mixing": {"kind": "ring"}},
           {"kind": "diloco", "period": 4}, {"kind": "sgd", "codec": "qsgd", "aggregation": "two-phase"}]


def drawn_studies(count):
    """Yields the names and scenarios of drawn studies."""
    draw = random.Random(35)
    for number in range(count):
        kind = ("timing", "partitions", "training")[number % 3]
        nodes = {"timing": [16, 64, 256, 1024, 4096, 16384], "partitions": [4, 16, 64, 256], "training": [2, 8, 32]}[kind]
        study = {
            "cluster": {"nodes": draw.choice(nodes),
                        "fabric": {"kind": "star", "link": {"bandwidth": draw.choice(["1Gbps", "10Gbps", "100Gbps"]),
                                                            "latency": draw.choice(["5us", "50us", "1ms"])}}},
            "workload": {"profile": draw.choice(["alexnet", "resnet-50", "gpt2"]), "step_time": "300ms", "batch": 32},
            "algorithm": draw.choice(ALGORITHMS),
            "stop": {"iterations": draw.choice([1, 8, 40])},
        }
        if kind == "partitions":
            study["algorithm"] = {"kind": "sgd", "codec": draw.choice(["none", "qsgd"]),
                                  "schedule": {"pieces": draw.choice(["tensors", "25MiB"]),
                                               "partition": draw.choice(["4MB", "500kB", "100kB"])}}
            if study["algorithm"]["codec"] != "none":
                study["algorithm"]["aggregation"] = "two-phase"
            study["stop"] = {"iterations": 1}
        elif kind == "training":
            study["algorithm"] = draw.choice(TRAINED)
            study["workload"] = {
                "model": draw.choice([{"kind": "mlp", "hidden": [draw.choice([64, 512, 1024])]}, {"kind": "softmax-regression"}]),
                "data": {"kind": "gaussian-mixture", "dimension": draw.choice([32, 256]),
                         "train": draw.choice([20_000, 200_000]), "test": 1000},
                "batch": draw.choice([8, 128]), "step_time": "1ms"}
            study["optimizer"] = {"learning_rate": 0.01}
            study["measure"] = {"samples": 1000}
            if draw.random() < 0.3:
                study["sweep"] = {"seed": [1, 2, 3]}
        yield f"drawn-{number + 1}", study


def said_of(paceline, scenario):
    """Returns ("about" | "at most" | None, seconds, GB) as check prints them; None for what it refuses."""
    run = subprocess.run([paceline, "check", scenario], capture_output=True, text=True, check=False)
    if run.returncode == 2:
        return None  # such as a drawn one that does not fit into memory
    found = SAID.search(run.stdout)
    if run.returncode != 0 or not found:
        sys.exit(f"check_estimates: paceline check {scenario} says no cost:\n{run.stdout}{run.stderr}")
    return found[1], float(found[2] or 0), float(found[3])


def taken_by(paceline, scenario, folder):
    """Returns the CPU seconds and the peak memory in GB of a run."""
    process = subprocess.Popen([paceline, "run", "--quiet", "--jobs", "1", "--threads", "1", scenario, "--out", folder],
                               stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"check_estimates: paceline run {scenario} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024e-9


def holds(kind, said, taken, least, factor):
    if kind is None or max(said, taken) <= least:
        return True
    return taken <= factor * said and (kind == "at most" or said <= factor * taken)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paceline")
    parser.add_argument("--limit", type=float, default=float("inf"), help="skip studies of which more seconds are said")
    parser.add_argument("--only", default="", help="names, separated by commas")
    parser.add_argument("--drawn", type=int, default=30, help="how many studies are drawn")
    arguments = parser.parse_args()
    only = set(arguments.only.split(",")) - {""}

    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        studies = [(path.stem, path) for path in sorted((ROOT / "scenarios").glob("*.json"))
                   if not path.name.endswith(".schema.json")]
        for name, scenario in drawn_studies(arguments.drawn):
            path = pathlib.Path(folder) / f"{name}.json"
            path.write_text(json.dumps(scenario))
            studies.append((name, path))
        print(f"{'study':28} {'said':>12} {'taken':>9} {'ratio':>6}   {'said':>8} {'taken':>8} {'ratio':>6}")
        for name, path in studies:
            if only and name not in only and not ("drawn" in only and name.startswith("drawn-")):
                continue
            said = said_of(arguments.paceline, path)
            if said is None:
                print(f"{name:28} refused")
                continue
            kind, said_s, said_gb = said
            if said_s > arguments.limit:
                print(f"{name:28} {said_s:10.2g} s   skipped")
                continue
            taken_s, taken_gb = taken_by(arguments.paceline, path, f"{folder}/results-{name}")
            good = holds(kind, said_s, taken_s, LEAST_S, FACTOR) and \
                holds("about", said_gb, taken_gb, 2 * LEAST_GB, MEMORY_FACTOR)
            failed += not good
            words = {"about": "", "at most": "<=", None: "?"}[kind]
            ratio = f"{taken_s / said_s:6.2f}" if kind else f"{'':6}"
            print(f"{name:28} {words:2}{said_s:8.2g} s {taken_s:7.2f} s {ratio}   {said_gb:5.3f} GB {taken_gb:5.3f} GB "
                  f"{taken_gb / said_gb:6.2f} {'' if good else ' does not hold'}", flush=True)
    print(f"check_estimates: {failed} do not hold")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

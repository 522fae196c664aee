#!/usr/bin/env python3
"""Finds the learning rate of each algorithm of a study: the best of a grid of factors of two.

    tools/tune_learning_rates.py PACELINE SCENARIO [--seeds 1,2]

Each algorithm on the axis "algorithm" starts from its own "optimizer.learning_rate" (or the scenario's), which is
doubled and halved until the mean final training loss over the seeds stops improving. The other axes stay at their
first value. Prints the rates and writes them into the scenario's algorithms, one line each. A rate is the best for
this task, number of steps and seeds.
"""
import argparse
import csv
import json
import math
import os
import re
import subprocess
import sys
import tempfile

MOST_ROUNDS = 12


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paceline")
    parser.add_argument("scenario")
    parser.add_argument("--seeds", default="11,12", help="of the trials; not those of the study")
    parser.add_argument("--only", default="", help="labels, separated by commas")
    options = parser.parse_args()
    with open(options.scenario) as file:
        text = file.read()
    study = json.loads(text)
    seeds = [int(seed) for seed in options.seeds.split(",")]
    best = tune(options, study, seeds)
    for algorithm in study["sweep"]["algorithm"]:
        if algorithm["label"] in best:
            text = with_rate(text, algorithm["label"], best[algorithm["label"]])
    json.loads(text)
    temporary = options.scenario + ".tmp"
    with open(temporary, "w") as file:
        file.write(text)
    os.replace(temporary, options.scenario)


def rate_of(algorithm, study):
    return algorithm.get("optimizer", {}).get("learning_rate", study["optimizer"]["learning_rate"])


def tune(options, study, seeds):
    only = set(filter(None, options.only.split(",")))
    algorithms = {a["label"]: a for a in study["sweep"]["algorithm"] if not only or a["label"] in only}
    best = {label: rate_of(a, study) for label, a in algorithms.items()}
    losses = {label: {} for label in algorithms}
    for _ in range(MOST_ROUNDS):
        wanted = [(label, rate) for label in algorithms
                  for rate in (best[label] / 2, best[label], best[label] * 2) if rate not in losses[label]]
        if not wanted:
            break
        for (label, rate), loss in run(options, study, algorithms, wanted, seeds).items():
            losses[label][rate] = loss
        for label in algorithms:
            best[label] = min(losses[label], key=lambda rate: (losses[label][rate], rate))
    for label in algorithms:
        shown = "  ".join(f"{rate:g}: {losses[label][rate]:.4g}" for rate in sorted(losses[label]))
        print(f"{label:24} {best[label]:g}    ({shown})", flush=True)
    return best


def run(options, study, algorithms, wanted, seeds):
    """Returns the mean final training loss of each (label, rate); infinite if a run did not finish."""
    trial = {key: value for key, value in study.items() if key != "sweep"}
    trial.pop("$schema", None)
    for path, values in study["sweep"].items():
        if path in ("algorithm", "seed"):
            continue
        at = trial
        *above, last = path.split(".")
        for key in above:
            at = at.setdefault(key, {})
        at[last] = {k: v for k, v in values[0].items() if k != "label"} if isinstance(values[0], dict) else values[0]
    trial.get("measure", {}).pop("every", None)
    points = []
    for label, rate in wanted:
        own = dict(algorithms[label])
        own["optimizer"] = {**own.get("optimizer", {}), "learning_rate": rate}
        own["label"] = f"{label} @ {rate!r}"
        points.append(own)
    trial["sweep"] = {"algorithm": points, "seed": seeds}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trial.json")
        with open(path, "w") as file:
            json.dump(trial, file)
        done = subprocess.run([options.paceline, "run", path, "--out", folder, "--quiet", "--jobs", "2"],
                              capture_output=True, text=True)
        if done.returncode == 2:
            sys.exit(done.stderr)
        sums = {f"{label} @ {rate!r}": [] for label, rate in wanted}
        with open(os.path.join(folder, "results.csv")) as file:
            for row in csv.DictReader(file):
                fine = row["outcome"] == "finished" and row["train_loss"]
                sums[row["algorithm"]].append(float(row["train_loss"]) if fine else math.inf)
    return {(label, rate): sum(s) / len(s) for label, rate in wanted for s in [sums[f"{label} @ {rate!r}"]]}


def with_rate(text, label, rate):
    """Returns the text of the scenario with another learning rate in the line of one algorithm."""
    line = re.compile(r'^(.*"label": "%s".*"learning_rate": )([0-9.eE+-]+)(.*)$' % re.escape(label), re.M)
    changed, count = line.subn(lambda m: f"{m.group(1)}{rate:g}{m.group(3)}", text)
    if count != 1:
        sys.exit(f"{label}: no line with a \"learning_rate\" of its own")
    return changed


if __name__ == "__main__":
    main()

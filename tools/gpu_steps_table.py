#!/usr/bin/env python3
"""Holds the model of a device's compute time against steps that bench/gpu_steps.py measured.

    tools/gpu_steps_table.py PACELINE [FOLDER]

Prints the tables of docs/models/compute.md#a-gradient-by-batch-measured-on-an-h100. FOLDER, by default bench/h100, has the
measured steps.csv. Every prediction is a run of one node without an exchange. A batch that informed a prediction is
marked and not counted.

    estimate   "device" and "efficiency": 0.49; nothing was measured
    share      the efficiency of the largest batch
    floor      "step_time" of "floor" and "per_sample", from the largest batch and a quarter of it
    launches   the same, but never less than what the batch of 1 took
"""
import csv
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEVICE = "h100-sxm"
EFFICIENCY = 0.49
MODELS = ("estimate", "share", "floor", "launches")


def measured(folder: Path) -> dict:
    """Returns milliseconds of a gradient, by net and precision, then by batch."""
    series = {}
    with open(folder / "steps.csv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["layout"] == "contiguous":
                of_batch = series.setdefault((row["net"], row["precision"]), {})
                of_batch[int(row["batch"])] = float(row["forward_ms"]) + float(row["backward_ms"])
    return {name: of_batch for name, of_batch in series.items() if len(of_batch) > 4}


def run(paceline: str, workloads: dict) -> dict:
    """Returns the milliseconds of a step on one node, by the label of the workload."""
    study = {"cluster": {"nodes": 1, "fabric": {"kind": "star", "link": {"preset": "10GbE-ideal"}}},
             "algorithm": {"kind": "dense"}, "stop": {"iterations": 1},
             "sweep": {"workload": [{"label": label, **workload} for label, workload in workloads.items()]}}
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(folder, "study.json")
        scenario.write_text(json.dumps(study), encoding="utf-8")
        subprocess.run([paceline, "run", "--quiet", scenario, "--out", Path(folder, "out")], check=True)
        with open(Path(folder, "out", "results.csv"), encoding="utf-8", newline="") as file:
            return {row["workload"]: 1e3 * float(row["step_time_s"]) for row in csv.DictReader(file)}


def predict(paceline: str, net: str, precision: str, ms: dict) -> tuple[dict, dict, float]:
    """Returns what each model predicts by batch, the batches that informed it, and the share of the peak at the largest."""
    top = max(ms)
    quarter = top // 4
    per_sample = (ms[top] - ms[quarter]) / (top - quarter)
    line = {"floor": f"{ms[top] - top * per_sample:.6f}ms", "per_sample": f"{per_sample:.6f}ms"}

    def estimate(efficiency: float) -> dict:
        return {batch: {"profile": net, "batch": batch, "device": DEVICE, "precision": precision, "efficiency": efficiency}
                for batch in ms}

    def labelled(model: str, by_batch: dict) -> dict:
        return {f"{model} {batch}": workload for batch, workload in by_batch.items()}

    of_line = {batch: {"profile": net, "batch": batch, "step_time": line} for batch in ms}
    took = run(paceline, labelled("estimate", estimate(EFFICIENCY)) | labelled("floor", of_line))
    share = EFFICIENCY * took[f"estimate {top}"] / ms[top]
    took |= run(paceline, labelled("share", estimate(share)))
    least = {batch: {**workload, "step_time": line if took[f"floor {batch}"] > ms[1] else f"{ms[1]:.6f}ms"}
             for batch, workload in of_line.items()}
    took |= run(paceline, labelled("launches", least))
    predicted = {model: {batch: took[f"{model} {batch}"] for batch in ms} for model in MODELS}
    return predicted, {"estimate": [], "share": [top], "floor": [quarter, top], "launches": [1, quarter, top]}, share


def print_row(cells: list) -> None:
    print("| " + " | ".join(map(str, cells)) + " |")


def print_head(cells: list) -> None:
    print_row(cells)
    print("|" + "---|" * len(cells))


def main(arguments: list[str]) -> int:
    if len(arguments) not in (1, 2):
        print(__doc__)
        return 2
    series = measured(Path(arguments[1]) if len(arguments) == 2 else ROOT / "bench" / "h100")
    batches = sorted({batch for ms in series.values() for batch in ms})
    made = {name: predict(arguments[0], *name, ms) for name, ms in series.items()}

    print_head(["net", "precision", *batches, "share of the peak"])
    for name, ms in series.items():
        print_row([*name, *(f"{ms[batch]:.1f}" if batch in ms else "" for batch in batches), f"{made[name][2]:.3f}"])
    print()

    errors = {(model, batch): [] for model in MODELS for batch in batches}
    print_head(["net", "precision", *batches])
    for name, ms in series.items():
        predicted, informed, _ = made[name]
        cells = []
        for batch in batches:
            if batch not in ms:
                cells.append("")
                continue
            of_batch = {model: predicted[model][batch] / ms[batch] - 1 for model in MODELS}
            for model, error in of_batch.items():
                if batch not in informed[model]:
                    errors[model, batch].append(abs(error))
            last = "in" if batch in informed["launches"] else f"{100 * of_batch['launches']:+.0f}"
            cells.append(f"{100 * of_batch['estimate']:+.0f}, {last}")
        print_row([*name, *cells])
    print()

    print_head(["model", *batches, "all"])
    for model in MODELS:
        rows = [errors[model, batch] for batch in batches]
        print_row([model, *(f"{100 * statistics.median(row):.0f} ({100 * max(row):.0f})" if row else "" for row in
                            [*rows, sum(rows, [])])])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

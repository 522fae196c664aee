#!/usr/bin/env python3
"""Prints which bandwidth between machines scenarios/sharding.json needs for an efficiency, and the memory of a device.

    tools/sharding_table.py PACELINE [EFFICIENCY]

Runs `paceline solve` once for each model and method (0.9 by default) and prints the table of docs/sharding.md.
"""
import csv
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SCENARIO = Path(__file__).resolve().parent.parent / "scenarios" / "sharding.json"
VARY = "cluster.fabric.link.bandwidth=1Gbps..3200Gbps"


def solve(paceline: str, model: str, method: str, efficiency: str) -> str:
    """Returns the bandwidth, or that no bandwidth of the range is enough."""
    out = subprocess.run(
        [paceline, "solve", str(SCENARIO), "--pick", f"workload={model}", "--pick", f"algorithm={method}",
         "--vary", VARY, "--find", "efficiency", "--equals", efficiency, "--grid", "8", "--tolerance", "0.01", "--quiet"],
        check=True, capture_output=True, text=True).stdout
    found = re.search(r"^at ([0-9.]+[GMT]bps)", out, re.MULTILINE)
    return found[1].replace("Gbps", " Gbps") if found else "none"


def memory(paceline: str) -> dict:
    """Returns the gigabytes of a device by model and method."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([paceline, "run", str(SCENARIO), "--set", "cluster.fabric.link.bandwidth=100Gbps",
                        "--out", f"{folder}/out", "--quiet"], check=True, capture_output=True)
        with open(f"{folder}/out/results.csv", encoding="utf-8", newline="") as file:
            return {(row["workload"], row["algorithm"]): float(row["memory_gb"]) for row in csv.DictReader(file)}


def main(arguments: list[str]) -> int:
    if not arguments:
        print(__doc__)
        return 2
    paceline, efficiency = arguments[0], (arguments[1:] or ["0.9"])[0]
    sweep = json.loads(SCENARIO.read_text(encoding="utf-8"))["sweep"]
    models = [workload["label"] for workload in sweep["workload"]]
    gigabytes = memory(paceline)
    print("| method | " + " | ".join(f"{model}: link | GB" for model in models) + " |")
    print("|---|" + "---|" * 2 * len(models))
    for algorithm in sweep["algorithm"]:
        method = algorithm["label"]
        cells = [f"{solve(paceline, model, method, efficiency)} | {gigabytes[model, method]:.3g}" for model in models]
        print(f"| {method} | " + " | ".join(cells) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
"""Prints what the points of a study take for a number of tokens: hours, money, energy, and the memory of a device.

    tools/money_table.py RESULTS [--tokens 26.3e9] [--where AXIS=VALUE]...

RESULTS is a folder of results with the columns of `"measure": {"resources": true}`, a `price` and a `power`. A run is a
part of the whole: what it takes is multiplied by the tokens / those of the run.
"""
import argparse
import csv
import sys
from pathlib import Path


def tokens_of(row: dict) -> float:
    """Returns the tokens of a run: those per second are of whole periods, and a run has nothing else here."""
    return float(row["tokens_per_s"]) * float(row["sim_time_s"])


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results")
    parser.add_argument("--tokens", type=float, default=26.3e9)
    parser.add_argument("--where", action="append", default=[])
    options = parser.parse_args(arguments)
    with open(Path(options.results) / "results.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    axes = [name for name in list(rows[0])[1:list(rows[0]).index("outcome")]]
    for condition in options.where:
        axis, _, value = condition.partition("=")
        name = next((name for name in axes if name == axis or name.endswith("." + axis)), axis)
        rows = [row for row in rows if row.get(name) == value]
    swept = [axis for axis in axes if len({row[axis] for row in rows}) > 1 or axis == "algorithm"]
    print("| " + " | ".join([*(axis.split(".")[-1] for axis in swept), "GB", "MFU %", "hours", "cost", "kWh"]) + " |")
    print("|" + "---|" * (len(swept) + 5))
    for row in rows:
        times = options.tokens / tokens_of(row)
        figures = [f"{float(row['memory_gb']):.1f}", f"{100 * float(row['mfu']):.1f}",
                   f"{float(row['sim_time_s']) * times / 3600:.1f}", f"{float(row['cost']) * times:.0f}",
                   f"{float(row['energy_kwh']) * times:.0f}"]
        print("| " + " | ".join([*(row[axis] for axis in swept), *figures]) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

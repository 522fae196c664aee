#!/usr/bin/env python3
"""Prints which bandwidth scenarios/streaming-diloco.json needs for a share of the time computing, beside published figures.

    tools/bandwidth_table.py PACELINE [LEVEL...]

Runs `paceline solve` once for each model, method and level (50, 75, 80, 90, 95 and 99 % by default) and prints the table of
docs/language-models.md. Takes a few minutes.
"""
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SCENARIO = Path(__file__).resolve().parent.parent / "scenarios" / "streaming-diloco.json"
# Fragments of three layers, as in the published table.
FRAGMENTS = {"1B": 8, "10B": 16, "100B": 36}
VARY = "cluster.fabric.link.bandwidth=100Mbps..1000Gbps"

# Gbit/s for 50, 80, 90, 95 and 99 %: Douillard et al., 2025 (arXiv 2501.18512), table 4. Its simulator tries bandwidths
# 1.2 apart, and reports one of them.
PUBLISHED_LEVELS = (50, 80, 90, 95, 99)
PUBLISHED = {
    "1B": [(86.8, 152.6, 184.2, 222.3, 569.0), (1.4, 6.2, 13.3, 23.3, 86.8), (1.4, 5.2, 9.1, 16.0, 28.1),
           (1.4, 4.3, 6.2, 9.1, 11.0), (0.4, 0.9, 1.7, 2.0, 3.0)],
    "10B": [(104.8, 222.3, 222.3, 268.3, 471.5), (1.7, 7.5, 16.0, 33.9, 104.8), (1.7, 5.2, 9.1, 13.3, 19.3),
            (1.7, 3.6, 5.2, 6.2, 7.5), (0.4, 0.9, 1.4, 1.4, 1.7)],
    "100B": [(184.2, 323.8, 390.7, 390.7, 471.5), (3.0, 11.0, 23.3, 49.4, 184.2), (2.4, 6.2, 9.1, 11.0, 19.3),
             (1.7, 3.6, 4.3, 5.2, 5.2), (0.5, 0.9, 1.1, 1.1, 1.4)],
}


def solve(paceline: str, model: str, algorithm: dict, level: int) -> float | None:
    """Returns the bandwidth in Gbit/s, or None if no bandwidth of the range reaches the level."""
    if "fragments" in algorithm:
        algorithm = {**algorithm, "fragments": FRAGMENTS[model]}
    iterations = 2 * algorithm.get("period", 1)
    out = subprocess.run(
        [paceline, "solve", str(SCENARIO), "--pick", f"workload={model}", "--set", f"algorithm={json.dumps(algorithm)}",
         "--vary", VARY, "--find", "efficiency", "--equals", str(level / 100), "--grid", "5",
         "--tolerance", "0.005", "--set", f"stop.iterations={iterations}", "--quiet"],
        check=True, capture_output=True, text=True).stdout
    found = re.search(r"^at ([0-9.]+)(Mbps|Gbps|Tbps)", out, re.MULTILINE)
    return float(found[1]) * {"Mbps": 1e-3, "Gbps": 1, "Tbps": 1e3}[found[2]] if found else None


def main(arguments: list[str]) -> int:
    if not arguments:
        print(__doc__)
        return 2
    paceline, levels = arguments[0], [int(level) for level in arguments[1:]] or [50, 75, 80, 90, 95, 99]
    sweep = json.loads(SCENARIO.read_text(encoding="utf-8"))["sweep"]
    models = [workload["label"] for workload in sweep["workload"]]
    methods = sweep["algorithm"]
    rows = [(model, number, level) for model in models for number in range(len(methods)) for level in levels]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda row: solve(paceline, row[0], methods[row[1]], row[2]), rows))
    by_row = dict(zip(rows, found))
    print("| model | method | " + " | ".join(f"{level} %" for level in levels) + " |")
    print("|---|---|" + "---|" * len(levels))
    for model in models:
        for number, method in enumerate(methods):
            cells = []
            for level in levels:
                value = by_row[model, number, level]
                cell = "-" if value is None else f"{value:.3g}"
                if level in PUBLISHED_LEVELS:
                    cell += f" ({PUBLISHED[model][number][PUBLISHED_LEVELS.index(level)]:g})"
                cells.append(cell)
            print(f"| {model} | {method['label']} | " + " | ".join(cells) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

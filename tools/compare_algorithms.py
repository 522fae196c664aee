#!/usr/bin/env python3
"""Runs scenarios/all-algorithms.json and writes its table into docs/comparison.md.

    tools/compare_algorithms.py PACELINE
"""
import csv
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCENARIO = "scenarios/all-algorithms.json"
PAGE = os.path.join(ROOT, "docs", "comparison.md")
AXIS = "cluster.fabric.link.preset"
BEGIN, END = "<!-- table: tools/compare_algorithms.py -->", "<!-- end of table -->"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = os.path.join(ROOT, "results", "all-algorithms")
    done = subprocess.run([sys.argv[1], "run", SCENARIO, "--out", out, "--jobs", "2"], cwd=ROOT)
    if done.returncode != 0:
        sys.exit(done.returncode)
    with open(os.path.join(out, "results.csv")) as file:
        rows = list(csv.DictReader(file))
    with open(os.path.join(ROOT, SCENARIO)) as file:
        study = json.load(file)
    with open(PAGE) as file:
        page = file.read()
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    text = before + BEGIN + "\n\n" + table(study, rows) + "\n" + END + after
    temporary = PAGE + ".tmp"
    with open(temporary, "w") as file:
        file.write(text)
    os.replace(temporary, PAGE)
    print(f"wrote {os.path.relpath(PAGE, ROOT)}")


def table(study, rows):
    links = study["sweep"][AXIS]
    by_point = {(row["algorithm"], row[AXIS]): row for row in rows}
    head = ["algorithm", "kind", "gamma", "MB sent per node and step"]
    head += [f"step s, {name(link)}" for link in links] + ["training loss", "test accuracy %"]
    head += [f"s to target, {name(link)}" for link in links]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for algorithm in study["sweep"]["algorithm"]:
        at = [by_point[algorithm["label"], link] for link in links]
        cells = [algorithm["label"], f"`{algorithm['kind']}`", f"{algorithm['optimizer']['learning_rate']:g}"]
        cells += [number(at[0]["bytes_sent_per_node_per_step"], 1e-6, 4)]
        cells += [number(row["step_time_s"], 1, 3) for row in at]
        cells += [span([row["train_loss"] for row in at], 1, 2), span([row["test_accuracy"] for row in at], 100, 4)]
        cells += [number(row["time_to_target_s"], 1, 3) for row in at]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def name(link):
    return link.replace("GbE-tcp", " Gbps")


def number(text, factor, digits):
    if not text:
        return "-"
    value = float(text) * factor
    return f"{value:.0f}" if value >= 10 ** digits else f"{value:.{digits}g}"


def span(texts, factor, digits):
    """Returns one number if all links give the same, otherwise all of them."""
    shown = []
    for text in texts:
        cell = number(text, factor, digits)
        if cell not in shown:
            shown.append(cell)
    return " / ".join(shown)


if __name__ == "__main__":
    main()

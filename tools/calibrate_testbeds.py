#!/usr/bin/python3
"""Calibrates each validated testbed on three of its rows, and tells what that does to the others.

The rule was fixed before the first run, and is the same for all: of a study of scenarios/validation that has at least
six published points which are no inputs, the rows are the first and the last point of its first series and the last point
of its last series (with one series: its first, middle and last point). One word was added after that run: its first series
of several points, because a series of one gave one row twice. Free is one constant, the share of the line that
messages get: cluster.fabric.link.efficiency, or cluster.bus.link.efficiency where all devices are in one machine. It starts
from what the study states, and its range is 0.3 to 1. All other points are predictions, before and after.

    tools/calibrate_testbeds.py PACELINE            run, and write docs/calibrated-testbeds.md
    tools/calibrate_testbeds.py PACELINE --check    exit 1 if the page would change
    tools/calibrate_testbeds.py PACELINE --only STUDY
"""

import csv
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import validate  # noqa: E402

PAGE = validate.ROOT / "docs" / "calibrated-testbeds.md"
LEAST_POINTS = 6


def points_of(study):
    """Returns (series, value) of every published point that is no input."""
    return [[(series, value) for value in series["published"] if value not in series.get("input", [])]
            for series in study["series"]]


def chosen_rows(study):
    series = [points for points in points_of(study) if points]
    while len(series) > 1 and len(series[0]) == 1:
        del series[0]
    if len(series) == 1:
        only = series[0]
        return [only[0], only[len(only) // 2], only[-1]]
    return [series[0][0], series[0][-1], series[-1][-1]]


def constant_of(scenario):
    cluster = scenario["cluster"]
    devices = max([cluster.get("devices", 0), *scenario["sweep"].get("cluster.devices", [])])
    inside = "devices" in cluster and devices <= cluster["devices_per_node"]
    return ("cluster.bus" if inside else "cluster.fabric") + ".link.efficiency"


def write_rows(study, rows, file):
    """Writes the rows as a table for paceline calibrate."""
    headings = [*dict.fromkeys(key for series in study["series"] for key in series["at"]), study["axis"]]
    with open(file, "w", newline="", encoding="utf-8") as out:
        table = csv.writer(out)
        table.writerow([*headings, study["column"]])
        for series, value in rows:
            at = series["at"] | {study["axis"]: value}
            table.writerow([*(at.get(heading, "") for heading in headings), series["published"][value]])


def errors(study, rows, used):
    """Returns the absolute errors of the points that are neither inputs nor used."""
    return [abs(error) for series, value, _, _, error, role in validate.compare(study, rows)
            if role != "input" and (id(series), value) not in used]


def calibrate(program, study, folder):
    file = validate.FOLDER / f"{study['study']}.json"
    scenario = json.loads(file.read_text(encoding="utf-8"))
    path = constant_of(scenario)
    chosen = chosen_rows(study)
    table, testbed = folder / "rows.csv", folder / f"{study['study']}.testbed.json"
    write_rows(study, chosen, table)
    subprocess.run([program, "calibrate", file, table, "--free", f"{path}=0.3..1", "--out", testbed, "--quiet"],
                   check=True, stdout=subprocess.DEVNULL)
    found = json.loads(testbed.read_text(encoding="utf-8"))
    constant = found["constants"][0]
    used = {(id(series), value) for series, value in chosen}
    before = errors(study, validate.run(program, file, folder / "before"), used)
    after = errors(study, validate.run(program, file, folder / "after", f"{path}={constant['value']}"), used)
    return {"study": study, "path": path, "constant": constant, "noise": found["noise"], "chosen": chosen,
            "before": statistics.median(before), "after": statistics.median(after), "points": len(before)}


def interval(constant):
    low = "" if constant["low_is_open"] else f"{constant['low']:.3g}"
    high = "" if constant["high_is_open"] else f"{constant['high']:.3g}"
    return f"{low} to {high}" if low and high else f"at most {high}" if high else f"at least {low}" if low else "open"


def name_of(series, value):
    return ", ".join([*series["at"].values(), value])


def page(found):
    worse = [one for one in found if one["after"] > one["before"] + 0.01]
    lines = [
        "# Validated testbeds, calibrated on three rows", "",
        "This page shows how three measured rows and one free constant change the predictions of [validation.md](validation.md).",
        "`tools/calibrate_testbeds.py` writes it. The rule was fixed before the first run and is the same for all testbeds: the",
        "rows are the first and last point of the first series of several points (a condition added later), and the last point of the",
        "last series, or first, middle and last if there is only one series. The free constant is the share of the line that",
        "messages get. Errors are medians over all other points that are not inputs.", "",
        "| testbed | rows | constant | fitted, 90 % | noise | other points | median error before | after |",
        "|---|---|---|---|---|---|---|---|"]
    for one in found:
        study, constant = one["study"], one["constant"]
        rows = "; ".join(name_of(*row) for row in one["chosen"])
        lines.append(f"| {study['title']} | {rows} | `{one['path'].split('.')[1]}` | {constant['value']:.3g} "
                     f"({interval(constant)}) | {one['noise']['share']:.1%} | {one['points']} | {one['before']:.1%} | "
                     f"{one['after']:.1%} |")
    pooled = [sum(one[key] * one["points"] for one in found) / sum(one["points"] for one in found)
              for key in ("before", "after")]
    lines += ["", f"Of {len(found)} testbeds, {sum(one['after'] < one['before'] - 0.01 for one in found)} get better by more "
              f"than a point in the median and {len(worse)} get worse by more than a point"
              + (": " + "; ".join(one["study"]["title"] for one in worse) if worse else "") + ". "
              f"Mean of the medians, weighted by points: {pooled[0]:.1%} before, {pooled[1]:.1%} after."]
    lines += ["", "One constant absorbs all errors of the model on the three rows, so other points can get worse. If an interval contains the",
              "value that the scenario had, the rows do not require the change."]
    return "\n".join(lines) + "\n"


def main():
    program = str(Path(sys.argv[1]).resolve())
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else None
    studies = validate.published()
    found = []
    for study in studies:
        points = sum(len(series) for series in points_of(study))
        if points < LEAST_POINTS or (only and study["study"] != only):
            continue
        with tempfile.TemporaryDirectory() as folder:
            found.append(calibrate(program, study, Path(folder)))
        one = found[-1]
        print(f"{study['study']}: {one['constant']['value']:.3g} ({interval(one['constant'])}), median error "
              f"{one['before']:.1%} before, {one['after']:.1%} after", file=sys.stderr)
    if only:
        print(page(found))
        return 0
    text = page(found)
    if "--check" in sys.argv:
        return 0 if PAGE.read_text(encoding="utf-8") == text else sys.exit(f"{PAGE} would change; run make calibrated")
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

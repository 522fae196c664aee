#!/usr/bin/python3
"""Compares predictions with published measurements and writes docs/validation.md.

Runs each study of scenarios/validation/ with the program given, reads its results.csv and compares
it with scenarios/validation/published.json. A row informed the model if it is an input or the point
that a constant was fitted on; all other rows are predictions, and the two are counted apart. A
series that is off by more than 20 % in the median states an experiment, which is run: what a change
of the scenario that stands for the reason does to its errors. The figure shows all predictions
against what was measured, in a color for each testbed.

    tools/validate.py PACELINE    run, and write docs/validation.md and its figure

tools/trust.py --check, which runs the same studies, checks the page.
"""

import csv
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "scenarios" / "validation"
PAGE = ROOT / "docs" / "validation.md"
FIGURE = ROOT / "docs" / "figures" / "validation.svg"
OFF = 0.25  # a series with a larger error must be explained
FAR = 0.20  # a series with a larger median error must show the reason by an experiment

AXIS_COLUMNS = {"cluster.nodes": "nodes"}  # an axis whose values are in another column
UNITS = {"speedup": ("speedup", 1, "{:.2f}"), "samples_per_s": ("samples/s", 1, "{:.0f}"),
         "step_time_s": ("s per step", 1, "{:.3f}"), "us": ("us", 1e6, "{:.1f}")}
PLAIN = ("workload", "algorithm", "cluster.fabric.link", "cluster.fabric.link.bandwidth")  # labels say it all


def run(program, scenario, out, *settings):
    changes = [word for setting in settings for word in ("--set", setting)]
    subprocess.run([program, "run", scenario, "--out", out, "--quiet", *changes], check=True)
    with open(Path(out) / "results.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def field(row, axis):
    return row[AXIS_COLUMNS.get(axis, axis)]


def find(rows, at, axis, value):
    wanted = at | {axis: value}
    found = [row for row in rows if all(field(row, k) == v for k, v in wanted.items())]
    if len(found) != 1:
        sys.exit(f"validate: {len(found)} rows of the results are {wanted}, not one")
    return found[0]


def compare(study, rows):
    """Returns every published point of a study with its prediction, in the order of the file."""
    for series in study["series"]:
        for value, published in series["published"].items():
            predicted = float(find(rows, series["at"], study["axis"], value)[study["column"]])
            role = ("input" if value in series.get("input", []) else
                    "fit" if value in series.get("fit", []) else "")
            yield series, value, published, predicted, predicted / published - 1, role


def changed(scenario, changes):
    """Returns the scenario with a value put at the end of each path of keys and numbers; None takes it away."""
    scenario = json.loads(json.dumps(scenario))
    for *path, key, value in changes:
        place = scenario
        for step in path:
            place = place.setdefault(step, {}) if isinstance(place, dict) else place[step]
        if value is None:
            del place[key]
        else:
            place[key] = value
    return scenario


def run_changed(program, study, changes, folder):
    """Runs a study with changes, in a folder that has the files which it names."""
    folder = Path(folder)
    folder.mkdir()
    for beside in FOLDER.iterdir():
        if beside.is_dir():
            (folder / beside.name).symlink_to(beside)
    file = FOLDER / f"{study['study']}.json"
    scenario = folder / file.name
    scenario.write_text(json.dumps(changed(json.loads(file.read_text(encoding="utf-8")), changes)), encoding="utf-8")
    return run(program, scenario, folder / "results")


def experiments(study, points, program, folder):
    """Runs the experiments of a study, and returns a sentence about each."""
    shown, sentences = [], []
    for i, experiment in enumerate(study.get("experiments", [])):
        series = [one for one in study["series"]
                  if any(of.items() <= one["at"].items() for of in experiment["of"])]
        shown += series
        rows = run_changed(program, study, experiment["changes"], f"{folder}-{i}")
        then = [one | {"at": one["at"] | experiment.get("at", {})} for one in series]
        errors = [f"{error:+.0%}" for *_, error, role in compare(study | {"series": then}, rows) if not role]
        cases = "; ".join(", ".join(one["at"].values()) or study["title"] for one in series)
        sentences.append(f"Shown by an experiment: {cases}: {experiment['says']}, the errors are {', '.join(errors)}.")
    for one in study["series"]:
        own = [abs(error) for s, *_, error, role in points if s is one and not role]
        if own and statistics.median(own) > FAR and one not in shown:
            sys.exit(f"validate: {study['study']}, {one['at']}: off by more than 20 % in the median, and no "
                     "experiment shows why")
    return sentences


def section(study, points, shown):
    unit, scale, form = UNITS[study.get("unit", study["column"])]
    lines = [f"## {study['title']}", "",
             f"- Published: {study['source']}.", f"- Inputs: {study['inputs']}.",
             f"- Fitted: {study['fitted']}.",
             f"- Run: `paceline run scenarios/validation/{study['study']}.json`.", "",
             f"| case | {study['axis']} | published, {unit} | predicted | error |",
             "|---|---|---|---|---|"]
    for series, value, published, predicted, error, role in points:
        case = ", ".join(f"{k.removeprefix('workload.')} {v}" if k not in PLAIN else v
                         for k, v in series["at"].items()) or "all-reduce"
        note = f" ({role})" if role else ""
        lines.append(f"| {case} | {value} | {form.format(published * scale)} | "
                     f"{form.format(predicted * scale)} | {error:+.1%}{note} |")
    cases = {}  # of each reason
    for series, *_, error, role in points:
        if abs(error) <= OFF or role:
            continue
        case = ", ".join(series["at"].values()) or study["title"]
        if series.get("why") is None:
            sys.exit(f"validate: {study['study']}, {case}: off by more than 25 % and not explained")
        cases.setdefault(series["why"], {})[case] = True
    for why, which in cases.items():
        lines += ["", f"Off by more than 25 %: {'; '.join(which)}: {why}."]
    for sentence in shown:
        lines += ["", sentence]
    return "\n".join(lines) + "\n"


def draw(studies):
    """Draws what was predicted over what was measured, each as a share of its series' largest."""
    import matplotlib  # only for the figure
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "paceline"
    import matplotlib.pyplot as plt
    colors = plt.get_cmap("tab20").colors
    fig, axes = plt.subplots(figsize=(8, 6.4))
    for i, (study, points) in enumerate(studies):
        own = [(p, q) for _, _, p, q, _, role in points if not role]
        top = max(p for p, _ in own)
        axes.loglog([p / top for p, _ in own], [q / top for _, q in own], ".", markersize=6,
                    color=colors[i % len(colors)], label=study["study"])
    low, high = axes.get_xlim()
    for factor, style in ((1, "-"), (1 + OFF, ":"), (1 - OFF, ":")):
        axes.plot([low, high], [factor * low, factor * high], style, color="0.6", linewidth=0.8)
    axes.set_xlim(low, high)
    axes.set_xlabel("measured, as a share of the study's largest")
    axes.set_ylabel("predicted, on the same scale; dotted: 25 % off")
    axes.legend(fontsize=7, ncol=2, frameon=False)
    temporary = FIGURE.with_suffix(".svg.new")
    fig.savefig(temporary, format="svg", bbox_inches="tight", metadata={"Date": None})
    temporary.replace(FIGURE)


def published():
    return json.loads((FOLDER / "published.json").read_text(encoding="utf-8"))


def page_of(ran, program, folder):
    """Returns the page, its first line of figures, and the points of each study. `ran` are studies with the rows that
    they gave; their experiments are run in the folder."""
    sections, summary, drawn = [], [], []
    informed, tied, free = [], [], []  # rows; of testbeds with a fitted constant; of others
    for study, rows in ran:
        points = list(compare(study, rows))
        own = [abs(error) for *_, error, role in points if not role]
        informed += [abs(error) for *_, error, role in points if role]
        (free if study["fitted"] == "none" else tied).extend(own)
        drawn.append((study, points))
        summary.append(f"| {study['title']} | {len(own)} | {statistics.median(own):.1%} | "
                       f"{max(own):.1%} | {sum(error > OFF for error in own)} |")
        sections.append(section(study, points, experiments(study, points, program, Path(folder) / f"{study['study']}-experiment")))
    errors = tied + free
    far = sum(error > OFF for error in errors)
    kinds = [f"| {title} | {len(rows)} | {statistics.median(rows):.1%} | {sum(e > OFF for e in rows)} |"
             for title, rows in (("informed a constant: an input, or what it was fitted on", informed),
                                 ("did not", errors),
                                 ("did not, on a testbed where nothing was fitted", free),
                                 ("did not, on a testbed where another row was fitted on", tied))]
    figures = f"{len(errors)} predictions, median error {statistics.median(errors):.1%}; {far} are off by more than 25 %."
    page = "\n".join([
        "# Predictions against measurements", "",
        "`make validation` (`tools/validate.py`) generates this page from `scenarios/validation/`; do not edit it. Inputs are",
        "single-machine figures and link facts. Every fitted constant is named. Rows that informed a constant are counted apart",
        "from predictions. Nothing is tuned per point.", "",
        f"**{figures}**", "",
        "| rows that | number | median error | off by more than 25 % |", "|---|---|---|---|", *kinds, "",
        "| study | predictions | median error | largest | off by more than 25 % |",
        "|---|---|---|---|---|", *summary, "",
        "![Predicted over measured, log-log, a color for each study](figures/validation.svg)", "",
        *sections])
    return page, figures, drawn


def check(ran, program, folder):
    """Ends the program if docs/validation.md is not what the studies give."""
    if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page_of(ran, program, folder)[0]:
        sys.exit("validate: docs/validation.md is not what the studies give; run make validation")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        ran = [(study, run(program, FOLDER / f"{study['study']}.json", Path(folder) / study["study"])) for study in published()]
        page, figures, drawn = page_of(ran, program, folder)
    draw(drawn)
    temporary = PAGE.with_suffix(".md.new")
    temporary.write_text(page, encoding="utf-8")
    temporary.replace(PAGE)
    print(f"{figures} {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()

"""Runs studies, each once, and reads their results: rows as people ask for them, with the spread over seeds."""
import csv
import json
import math
import os
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RATE = "optimizer.learning_rate"
TUNING_SEEDS = [11, 12, 13]
COLUMN_OF_AXIS = {"cluster.nodes": "nodes"}


class Spread:
    """Values of one quantity, one for each seed. A seed without a value (a target not reached) counts as infinite."""

    def __init__(self, values):
        self.values = values
        self.mean = statistics.fmean(values) if values else math.nan
        self.sd = statistics.stdev(values) if len(values) > 1 and math.isfinite(self.mean) else 0.0

    def text(self, form="{:.2f}", scale=1):
        reached = sum(math.isfinite(value) for value in self.values)
        if reached == 0:
            return "never"
        if reached < len(self.values):
            return f"in {reached} of {len(self.values)} seeds"
        mean = form.format(self.mean * scale)
        return f"{mean} ± {form.format(self.sd * scale)}" if self.sd > 0 else mean

    def percent(self):
        return self.text("{:.2f}", 100)

    def above_zero(self):
        """Whether it is so in every seed, and in the mean by more than two standard errors."""
        return min(self.values) > 0 and self.mean > 2 * self.sd / math.sqrt(len(self.values))

    def __sub__(self, other):
        return Spread([a - b for a, b in zip(self.values, other.values)])

    def __neg__(self):
        return Spread([-value for value in self.values])

    def __truediv__(self, other):
        return Spread([a / b for a, b in zip(self.values, other.values)])


def number(row, column):
    """Returns the cell of a row, or None where it is empty or the run broke off."""
    return float(row[column]) if row[column] != "" and row["outcome"] in ("finished", "target", "time-limit") else None


class Study:
    """The rows of a study. `spread` takes what the rows of all seeds have in common."""

    def __init__(self, rows, run_on_tuning_seeds, folder=""):
        self.rows = rows
        self.tuning = None  # rows on the tuning seeds, once they are needed
        self.run_on_tuning_seeds = run_on_tuning_seeds
        self.folder = folder  # with its tables
        self.edges = []  # of choices of a rate, so far
        self.chosen = {}  # (rate, grid) by what was tuned

    def matching(self, rows, at):
        return [row for row in rows if all(row[COLUMN_OF_AXIS.get(k, k)] == str(v) for k, v in at.items())]

    def spread(self, column, missing=math.inf, **at):
        """Values over the seeds of the rows at a place, such as algorithm="dense", nodes=64. `at` may hold axes with
        dots: spread("speedup", **{"cluster.fabric.link": "1 Gbps"}). A missing value counts as `missing`."""
        found = self.matching(self.rows, at)
        if not found:
            sys.exit(f"claims: no row of the results has {at}")
        if len({row.get("seed") for row in found}) < len(found):
            sys.exit(f"claims: the rows with {at} differ in more than their seeds")
        values = [number(row, column) for row in sorted(found, key=lambda row: int(row.get("seed", 0)))]
        return Spread([missing if value is None else value for value in values])

    def value(self, column, **at):
        """The value of a place where nothing is random."""
        values = self.spread(column, **at).values
        if len(set(values)) != 1:
            sys.exit(f"claims: {column} at {at} depends on the seed; ask for its spread")
        return values[0]

    def curves(self, column, **at):
        """For each seed, a column of timeline.csv from the start of the run to its end."""
        found = {}
        for row in self.matching(table(self.folder, "timeline.csv"), at):
            found.setdefault((int(row["seed"]), row["point"]), []).append(float(row[column]))
        if not found or len({seed for seed, _ in found}) < len(found):
            sys.exit(f"claims: the curves at {at} differ in more than their seeds, or there is none")
        return [values for _, values in sorted(found.items())]

    def names(self, axis):
        column = COLUMN_OF_AXIS.get(axis, axis)
        return list(dict.fromkeys(row[column] for row in self.rows))

    def tuned(self, column, by, best=max, **at):
        """The spread of `column` at the rate that is best on the tuning seeds by the mean of `by`."""
        if self.tuning is None:
            self.tuning = self.run_on_tuning_seeds()
            overlap = {int(row["seed"]) for row in self.rows} & set(TUNING_SEEDS)
            if overlap:
                sys.exit(f"claims: seeds on which rates are chosen are shown, too: {sorted(overlap)}")
        worst = -math.inf if best is max else math.inf
        place = tuple(sorted(at.items()))
        trials = self.matching(self.tuning, at)
        grid = sorted({row[RATE] for row in trials}, key=float)
        if len(grid) < 3:
            sys.exit(f"claims: {at} has {len(grid)} rates to choose from; three are needed")

        def score(rate):
            values = [number(row, by) for row in trials if row[RATE] == rate]
            return statistics.fmean(worst if value is None else value for value in values)
        scores = [score(rate) for rate in grid]
        top = best(scores)
        if not math.isfinite(top):
            self.chosen[place] = (None, grid)
            return Spread([worst if by == column else math.nan])
        rate = grid[scores.index(top)]
        self.chosen[place] = (rate, grid)
        if rate in (grid[0], grid[-1]):
            edge = f"{', '.join(str(value) for _, value in place)} at {rate}"
            if edge not in self.edges:
                self.edges.append(edge)
        return self.spread(column, missing=worst if by == column else math.inf, **at, **{RATE: rate})

    def rate(self, **at):
        return self.chosen[tuple(sorted(at.items()))][0]


class Studies:
    """Runs each study once, into results/NAME; finished points of an earlier run are taken."""

    def __init__(self, program, jobs=None):
        self.program, self.jobs = os.path.abspath(program), jobs
        self.done = {}

    def get(self, name):
        if name not in self.done:
            folder = name.removeprefix("claims/")
            seeds = f"seed={json.dumps(TUNING_SEEDS)}"
            self.done[name] = Study(self.run(name, folder), lambda: self.run(name, folder + "-rates", "--set", seeds),
                                    os.path.join(ROOT, "results", folder))
        return self.done[name]

    def run(self, name, folder, *options):
        out = os.path.join(ROOT, "results", folder)
        command = [self.program, "run", path(name), "--out", out, "--resume", "--force", "--quiet", *options]
        if self.jobs:
            command += ["--jobs", str(self.jobs)]
        done = subprocess.run(command, cwd=ROOT, check=False)
        if done.returncode not in (0, 1):  # 1: a point did not finish, which its outcome says
            sys.exit(f"claims: {' '.join(command)} ended with {done.returncode}")
        return table(out, "results.csv")


def table(folder, name):
    """The rows of a table. A label such as "+ masking" has a quote before it there, against spreadsheets."""
    with open(os.path.join(folder, name), newline="", encoding="utf-8") as file:
        return [{key: value.removeprefix("'") for key, value in row.items()} for row in csv.DictReader(file)]


def path(name):
    return f"scenarios/{name}.json"


def scenario(name):
    with open(os.path.join(ROOT, path(name)), encoding="utf-8") as file:
        return json.load(file)

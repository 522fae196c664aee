#!/usr/bin/python3
"""Fits how far real steps are from predicted ones, and says how well intervals of it hold.

analysis/trust/time_interval.hpp has the model and its words. This runs every study of scenarios/validation with
"interval" in its "measure", twice: with the constants that its own rows informed, and without them ("without_its_fit" in
published.json). From the errors of all rows that are no inputs and that informed no constant it fits the scales and
their quantiles, writes analysis/trust/misses.hpp, and writes docs/trust.md, where every testbed is judged by what the
others say.

    tools/trust.py PACELINE            run and write; build again afterwards
    tools/trust.py PACELINE --check    exit 1 if a file or docs/validation.md would change, or an aim is missed
"""

import csv
import itertools
import math
import operator
import statistics
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import validate  # noqa: E402

PAGE = validate.ROOT / "docs" / "trust.md"
HEADER = validate.ROOT / "analysis" / "trust" / "misses.hpp"
LEVEL = 0.9
SIDE = 1 - (1 - LEVEL) / 2  # quantile of each side
LEAST = 1e-3  # of a scale, as least_scale in time_interval.cpp
ROUNDS = 3  # of reweighting
FEWEST_TESTBEDS = 9  # of a kind of its own
SIGNS = {"speedup": -1, "samples_per_s": -1, "step_time_s": 1}  # of the logarithm of a time


def results_of(program, study, changes, folder):
    """Runs a study for its intervals."""
    return validate.run_changed(program, study, [*changes, ["measure", "interval", True]], folder)


def rows_of(study, results, with_unstated):
    """Yields every row of a study that informed nothing: its error, and the shares of its step."""
    for series in study["series"]:
        for value, published in series["published"].items():
            if value in series.get("input", []) or value in series.get("fit", []):
                continue
            row = validate.find(results, series["at"], study["axis"], value)
            exposed = max(0.0, float(row["exposed_comm_s"]) / float(row["step_time_s"]))
            alone = bool(row.get("algbw_gb_per_s"))
            same = {key: of for key, of in series["at"].items() if key != "algorithm"}
            yield {"testbed": study["testbed"], "but_algorithm": (study["study"], value, *sorted(same.items())), "kind": series.get("kind", study["kind"]),
                   "x": SIGNS[study["column"]] * math.log(published / float(row[study["column"]])),
                   "shares": [1.0, exposed if alone else 0.0, 0.0 if alone else exposed, float(row["hidden_share"]),
                              float(row["unstated_costs"]) if with_unstated else 0.0]}


def solved(matrix, right):
    """Solves a small symmetric system by elimination; None if it is singular."""
    n = len(right)
    rows = [[*matrix[i], right[i]] for i in range(n)]
    for i in range(n):
        best = max(range(i, n), key=lambda k: abs(rows[k][i]))
        if abs(rows[best][i]) < 1e-12:
            return None
        rows[i], rows[best] = rows[best], rows[i]
        for k in range(i + 1, n):
            factor = rows[k][i] / rows[i][i]
            for j in range(i, n + 1):
                rows[k][j] -= factor * rows[i][j]
    found = [0.0] * n
    for i in reversed(range(n)):
        found[i] = (rows[i][n] - sum(rows[i][j] * found[j] for j in range(i + 1, n))) / rows[i][i]
    return found


def least_squares(shares, values, weights):
    """Least squares with coefficients that are not negative, by trying every set of them."""
    n = len(shares[0])
    weighted = [[w * a for a in s] for s, w in zip(shares, weights)]
    columns, others = list(zip(*shares)), list(zip(*weighted))
    gram = [[sum(map(operator.mul, columns[min(i, j)], others[max(i, j)])) if i <= j else 0.0 for j in range(n)]
            for i in range(n)]
    for i, j in itertools.combinations(range(n), 2):
        gram[j][i] = gram[i][j]
    right = [sum(map(operator.mul, column, values)) for column in others]
    best, least = [0.0] * n, 0.0
    for size in range(1, n + 1):
        for chosen in itertools.combinations(range(n), size):
            found = solved([[gram[i][j] for j in chosen] for i in chosen], [right[i] for i in chosen])
            if found is None or min(found) < 0:
                continue
            sum_of_squares = -sum(f * right[i] for f, i in zip(found, chosen))  # less that of the values
            if sum_of_squares < least - 1e-15:
                least, best = sum_of_squares, [0.0] * n
                for f, i in zip(found, chosen):
                    best[i] = f
    return best


def scale(slopes, shares):
    return max(sum(map(operator.mul, slopes, shares)), LEAST)


def fitted_slopes(rows, sign):
    """Fits the scale of one side: the mean of max(0, sign x), weighted as its square varies."""
    shares = [row["shares"] for row in rows]
    values = [max(0.0, sign * row["x"]) for row in rows]
    weights = [1.0] * len(rows)
    for _ in range(ROUNDS):
        slopes = least_squares(shares, values, weights)
        weights = [1 / scale(slopes, s) ** 2 for s in shares]
    return slopes


def testbeds(rows):
    return sorted({row["testbed"] for row in rows})


def of(rows, testbed):
    return [row for row in rows if row["testbed"] == testbed]


def quantile(pairs, at):
    """The least value at or below which a share `at` of the weight is."""
    pairs = sorted(pairs)
    total = sum(weight for _, weight in pairs)
    below = 0.0
    for value, weight in pairs:
        below += weight
        if below >= at * total * (1 - 1e-12):
            return value
    return pairs[-1][0]


class Sides:
    """The slopes and the quantile of each side, of the rows that some testbeds are left out of."""

    def __init__(self, rows):
        self.rows, self.slopes_without = rows, {}

    def slopes(self, sign, *left_out):
        key = (sign, frozenset(left_out))
        if key not in self.slopes_without:
            rows = [row for row in self.rows if row["testbed"] not in left_out]
            self.slopes_without[key] = fitted_slopes(rows, sign)
        return self.slopes_without[key]

    def side(self, sign, *left_out):
        """Returns the slopes, and the quantile of the errors of each testbed over what the others' slopes say.

        Every testbed has the same weight."""
        scores = []
        for testbed in testbeds(self.rows):
            if testbed in left_out:
                continue
            slopes, own = self.slopes(sign, testbed, *left_out), of(self.rows, testbed)
            scores += [(sign * row["x"] / scale(slopes, row["shares"]), 1 / len(own)) for row in own]
        return self.slopes(sign, *left_out), quantile(scores, SIDE)


def judged(rows):
    """Gives every row the interval that the other testbeds say, and the single factor that they say."""
    found = Sides(rows)
    for testbed in testbeds(rows):
        sides = [(sign, *found.side(sign, testbed)) for sign in (-1, 1)]
        factor = quantile([(abs(row["x"]), 1) for row in rows if row["testbed"] != testbed], LEVEL)
        for row in of(rows, testbed):
            row["interval"] = [sign * q * scale(slopes, row["shares"]) for sign, slopes, q in sides]
            row["factor"] = [-factor, factor]
    return found


def ratio_scores(rows):
    """Yields what methods on the same machines miss of their ratio, over what independent errors would, with the testbed."""
    groups = defaultdict(list)
    for row in rows:
        groups[row["but_algorithm"]].append(row)
    for group in groups.values():
        for one, other in itertools.combinations(group, 2):
            error = one["x"] - other["x"]
            slower, faster = (one, other) if error > 0 else (other, one)
            yield abs(error) / math.hypot(slower["interval"][1], faster["interval"][0]), one["testbed"]


def ratio_quantile(rows):
    """The share of independent errors that the ratio of two methods has: every testbed that compares some has one weight."""
    scores = list(ratio_scores(rows))
    sizes = Counter(testbed for _, testbed in scores)
    return quantile([(score, 1 / sizes[testbed]) for score, testbed in scores], LEVEL), len(scores), len(sizes)


def covers(row, which):
    return row[which][0] <= row["x"] <= row[which][1]


def score(row, which):
    """The interval (Winkler) score: the width, and 2 / (1 - level) of how far it is missed. In logarithms."""
    low, high = row[which]
    missed = max(0.0, low - row["x"], row["x"] - high)
    return high - low + 2 / (1 - LEVEL) * missed


def mean_by_testbed(rows, value):
    return statistics.mean(statistics.mean(value(row) for row in of(rows, testbed)) for testbed in testbeds(rows))


def best_factor_afterwards(rows):
    """The least mean score that one factor for all reaches, chosen on the rows that it is judged by."""
    def with_factor(f):
        return mean_by_testbed([row | {"any": [-f, f]} for row in rows], lambda row: score(row, "any"))
    return min(with_factor(i / 100) for i in range(5, 100))


def pooled(rows):
    """Returns the name of the group of each kind: of its own if it has enough testbeds."""
    beds = defaultdict(set)
    for row in rows:
        beds[row["kind"]].add(row["testbed"])
    few = [kind for kind in beds if len(beds[kind]) < FEWEST_TESTBEDS]
    return {kind: "all others" if kind in few else kind for kind in beds}


def figures(rows):
    own = mean_by_testbed(rows, lambda row: score(row, "interval"))
    factor = mean_by_testbed(rows, lambda row: score(row, "factor"))
    return {"rows": statistics.mean(covers(row, "interval") for row in rows),
            "testbeds": mean_by_testbed(rows, lambda row: covers(row, "interval")),
            "factor_covers": mean_by_testbed(rows, lambda row: covers(row, "factor")),
            "own": own, "factor": factor, "gain": 1 - own / factor, "afterwards": best_factor_afterwards(rows),
            "own_rows": statistics.mean(score(row, "interval") for row in rows),
            "factor_rows": statistics.mean(score(row, "factor") for row in rows)}


def percent(x):
    return f"{x:.1%}".replace("%", " %")


def kind_lines(rows, group):
    """A line of the table for each group of rows, largest first."""
    groups = defaultdict(list)
    for row in rows:
        groups[group(row)].append(row)
    for name in sorted(groups, key=lambda name: (-len(groups[name]), name)):
        own = groups[name]
        width = statistics.median(math.exp(row["interval"][1]) - math.exp(row["interval"][0]) for row in own)
        factor = statistics.median(math.exp(row["factor"][1]) - math.exp(row["factor"][0]) for row in own)
        yield (f"| {name} | {len(testbeds(own))} | {len(own)} | {percent(statistics.mean(covers(r, 'interval') for r in own))} | "
               f"{width:.2f} | {statistics.mean(score(r, 'interval') for r in own):.2f} | "
               f"{percent(statistics.mean(covers(r, 'factor') for r in own))} | {factor:.2f} | "
               f"{statistics.mean(score(r, 'factor') for r in own):.2f} |")


TEXT = """\
# How sure is a prediction?

`make trust` (`tools/trust.py`) generates this page and the numbers that the program uses; do not edit it. With
`--interval`, or `"interval": true` in [`measure`](reference.md#measure), every time, rate, speedup and efficiency gets a
90 % prediction interval (columns `_low` and `_high`):

```sh
paceline run scenarios/decentralized-throughput.json --interval --out sure --quiet && cat sure/table.txt
paceline solve scenarios/bandwidth-what-if.json --pick algorithm=dense --pick cluster.nodes=16 --interval \\
    --vary cluster.fabric.link.bandwidth=100Mbps..100Gbps --find efficiency --equals 0.8 --quiet
```

A scenario on a [calibrated testbed](how-to/calibrate.md) has intervals unless it sets `"interval": false`.

## What an interval is made of

- **What the models miss.** On the testbeds of [validation.md](validation.md), errors are larger where the network
  decides more of the step. The scale of an interval is therefore linear in four shares of the predicted step: waiting
  for the network; waiting in a collective alone; communication hidden behind computation (all of it if overlap works
  as modeled); and TCP costs that the scenario does not state (250 us a message, 5 Gbps a connection). Four more runs of
  a point, of at most 32 steps and without values, measure these shares. The ends of the interval are quantiles of the
  errors divided by this scale.
- **What the constants leave open.** A calibrated testbed has 12 draws of its constants that its rows allow as well
  (`draws`). Each draw is run, and the spread of the step time is added as an independent error. Such a system uses the
  second table below.
- **Nothing else.** Compute times are taken as given. Having measured a nearby point does not narrow the interval.
  Variation over seeds is not included; see `summary.csv`.

## Two methods on the same machines

The error of a network model affects every method that uses it, so the ratio of two methods is more certain than either
of them. {ratio_beds} testbeds have {ratio_pairs} pairs of methods on the same machines and net. In 90 % of the pairs,
with equal weight for each testbed, the error of the ratio is at most {ratio:.2f} times what independent errors at the ends
of the two intervals would give. That width is used. Each draw of a testbed's constants is shared by all methods, so
constants add the spread of the ratio over the draws.

A study with several methods has `comparisons.csv`. A second part of its table names the fastest method on the same
machines, and the methods that are too close to call. `paceline solve --against` reports the range in which the order of
two methods is uncertain, `paceline plot ... heatmap --ratio A B` marks such cells, and the explorer reports both.

## How it is computed

The header of `analysis/trust/time_interval.hpp` has the equations. The method is split conformal prediction by testbeds,
with a scale (Lei et al., JASA 113, 2018). A hierarchical model would need a prior on the spread between {beds} testbeds,
and the prior would decide the tails. Here the page can show, for each testbed, what the others predict about it.

Every testbed has the same weight in the quantiles, because the rows of one testbed err together. Upward and downward
errors have separate quantiles. Their finite-sample correction would be the largest error of all and is not made, so the
intervals rest on the test below, not on a theorem.

No testbed had a fabric with shared links, nodes that fail, links that come and go, other jobs, or workers that do not
wait for each other. Such scenarios get the widest interval of the table, and `paceline check --interval`
[warns of it](warnings.md#unlike-validated).

How the table was made affects how far to trust it. The shares and their number, the weights of rows and the cap of the
third share were chosen among some twenty combinations by the scores on these same testbeds, so the scores are slightly
optimistic. The score of an interval is Winkler's (JASA 67, 1972): its width plus 20 times the distance by which it
misses, in natural logarithms of the time; lower is better. Rows that informed a constant are left out. Coding times of
GRACE's compressors are inputs, as gradient times are.
""".rstrip()

HEAD = ["| kind | testbeds | rows | covered | width | score | by one factor | its width | its score |", "|---|" + "---|" * 8]


def section(title, rows, text):
    found = figures(rows)
    group = pooled(rows)
    return [f"## {title}", "", *text, "",
            f"With each testbed left out in turn, intervals cover {percent(found['testbeds'])} of a testbed's rows on average, "
            f"and {percent(found['rows'])} of all rows.",
            f"The mean score of a testbed is {found['own']:.3f}. A single factor for all, chosen in the same way on the other",
            f"testbeds, scores {found['factor']:.3f} (and covers {percent(found['factor_covers'])}), so intervals are better by "
            f"{percent(found['gain'])}. The single factor that suits these rows best",
            f"scores {found['afterwards']:.3f}. If every row, instead of every testbed, has the same weight, the scores are "
            f"{found['own_rows']:.3f} and {found['factor_rows']:.3f}.", "",
            *HEAD, *kind_lines(rows, lambda row: group[row["kind"]]), "",
            f"Kinds with fewer than {FEWEST_TESTBEDS} testbeds are combined above. The next tables show each kind and each testbed.",
            "One or two testbeds are too few to tell how often an interval of their kind holds:", "",
            *HEAD, *kind_lines(rows, lambda row: row["kind"]), "",
            HEAD[0].replace("kind", "testbed", 1), HEAD[1], *kind_lines(rows, lambda row: row["testbed"]), ""]


def numbers(values):
    return "{" + ", ".join(f"{value:.4g}" for value in values) + "}"


def header(sides):
    lines = HEADER.read_text(encoding="utf-8").split("inline constexpr Missed ")[0]
    for name, found in sides.items():
        (rise, rise_q), (fall, fall_q) = found.side(1), found.side(-1)
        begin = f"inline constexpr Missed missed_with_{name}{{"  # laid out as clang-format does
        lines += (f"{begin}{{{numbers(rise)}, {rise_q:.4g}}},\n"
                  f"{' ' * len(begin)}{{{numbers(fall)}, {fall_q:.4g}}}}};\n")
    ratio, _, _ = ratio_quantile(sides["stated"].rows)
    lines += ("\n/// Of two methods on the same machines: what the ratio misses, over what independent errors would.\n"
              f"inline constexpr double missed_of_ratio = {ratio:.3g};\n")
    return lines + "\n}  // namespace paceline\n"


def page(tables):
    beds = len(testbeds(tables["stated"]))
    ratio, pairs, ratio_beds = ratio_quantile(tables["stated"])
    text = TEXT.format(beds=beds, ratio=ratio, ratio_pairs=pairs, ratio_beds=ratio_beds)
    return "\n".join([text, "",
                      *section("With constants as they are stated", tables["stated"],
                               ["Every testbed is predicted without the network and library constants that its own rows informed."]),
                      *section("With fitted constants", tables["fitted"],
                               ["Testbeds use the constants that their rows informed; these rows do not count."])])


def aims_missed(rows):
    """Returns what docs/trust.md must hold and does not."""
    found, group = figures(rows), pooled(rows)
    if not 0.85 <= found["testbeds"] <= 0.95 or not 0.85 <= found["rows"] <= 0.95:
        yield f"intervals cover {percent(found['testbeds'])} of a testbed and {percent(found['rows'])} of all rows"
    for kind in set(group.values()):
        share = statistics.mean(covers(row, "interval") for row in rows if group[row["kind"]] == kind)
        if share < 0.75:
            yield f"intervals cover {percent(share)} of {kind}"
    if found["gain"] < 0.4:
        yield f"the score is {percent(found['gain'])} below that of one factor"


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--check"]):
        sys.exit(__doc__)
    program = str(Path(sys.argv[1]).resolve())
    tables, ran = {"stated": [], "fitted": []}, []
    with tempfile.TemporaryDirectory() as folder:
        for study in validate.published():
            out, without = Path(folder) / study["study"], study.get("without_its_fit")
            results = results_of(program, study, [], out)
            ran.append((study, results))
            tables["fitted"] += rows_of(study, results, False)
            if without:
                results = results_of(program, study, without, f"{out}-without")
            tables["stated"] += rows_of(study, results, True)
        if sys.argv[2:] == ["--check"]:
            validate.check(ran, program, folder)
    sides = {name: judged(rows) for name, rows in tables.items()}
    written = {HEADER: header(sides), PAGE: page(tables)}
    missed = list(aims_missed(tables["stated"]))
    if sys.argv[2:] == ["--check"]:
        for file, text in written.items():
            if not file.exists() or file.read_text(encoding="utf-8") != text:
                sys.exit(f"trust: {file.relative_to(validate.ROOT)} would change; run make trust")
        if missed:
            sys.exit("trust: " + "; ".join(missed))
        return
    for file, text in written.items():
        temporary = file.with_suffix(".new")
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(file)
    print("; ".join(missed) or "all aims are met: docs/trust.md")


if __name__ == "__main__":
    main()

"""Compares what the figures of analysis/plots show with the numbers they are drawn from."""

import contextlib
import csv
import io
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import types
import unittest
import warnings
import xml.etree.ElementTree as xml

ANALYSIS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "analysis")
sys.path.insert(0, ANALYSIS)

from plots import (answers, bands, bandwidth, breakdown, common, convergence, fonts, frontier, heatmap, links, plot,
                   quantities, speedup, style, testbed)

COLUMNS = ["iterations", "sim_time_s", "step_time_s", "compute_s", "exposed_comm_s", "model_step_time_s", "speedup", "efficiency",
           "waiting_stragglers_share", "waiting_network_share", "waiting_dead_share", "away_share",
           "checkpoint_share", "undone_share"]
METRICS = ["sim_time_s", "iteration", "epoch", "train_loss", "test_loss", "test_accuracy", "bytes_sent_per_node",
           "relative_error"]


def step_time(algorithm, nodes, gbps, compute=0.1):
    """Returns the step time on an invented network: dense SGD sends much, the other less, but it computes longer."""
    sent, extra = (0.8, 0.0) if algorithm == "dense" else (0.01, 0.05)
    return compute + extra + sent / gbps * (nodes - 1) / nodes


FOLDERS = []


def tearDownModule():
    for temporary in FOLDERS:
        temporary.cleanup()


class Folder:
    """A results folder with files like those that paceline run writes."""

    def __init__(self, axes, title="a study of 10 % and more"):
        self.axes, self.rows, self.timeline, self.title = axes, [], [], title
        self.scenario = {}
        FOLDERS.append(tempfile.TemporaryDirectory())
        self.path = FOLDERS[-1].name

    def point(self, values, algorithm="dense", nodes=1, outcome="finished", **cells):
        self.rows.append([len(self.rows), *values, algorithm, nodes, outcome, *(cells.get(c, "") for c in COLUMNS)])
        return len(self.rows) - 1

    def evaluation(self, point, **cells):
        self.timeline.append([point, *(cells.get(name, "") for name in METRICS)])

    def write(self):
        self.table("results.csv", ["point", *self.axes, "algorithm", "nodes", "outcome", *COLUMNS], self.rows)
        if self.timeline:
            self.table("timeline.csv", ["point", *METRICS], self.timeline)
        points = [{"point": i, "scenario": self.scenario} for i in range(len(self.rows))]
        with open(os.path.join(self.path, "manifest.json"), "w", encoding="utf-8") as stream:
            json.dump({"title": self.title, "points": points}, stream)
        return self

    def table(self, name, header, rows):
        with open(os.path.join(self.path, name), "w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([header, *rows])

    def study(self, *where):
        return common.read_study(self.path, where)


def timing_study():
    """Returns a folder with two algorithms, three bandwidths out of order and four numbers of nodes."""
    folder = Folder(["cluster.fabric.link.bandwidth"])
    for bandwidth_text, gbps in (("10Gbps", 10), ("500Mbps", 0.5), ("1Gbps", 1)):
        for algorithm in ("dense", "other"):
            for nodes in (1, 2, 4, 16):
                t = step_time(algorithm, nodes, gbps)
                folder.point([bandwidth_text], algorithm, nodes, sim_time_s=3 * t, step_time_s=t, compute_s=0.1,
                             exposed_comm_s=t - 0.1, model_step_time_s=1.01 * t, speedup=nodes * 0.1 / t,
                             efficiency=0.1 / t, waiting_stragglers_share=0.1 * (1 - 0.1 / t),
                             waiting_network_share=0.9 * (1 - 0.1 / t), waiting_dead_share=0)
    return folder.write()


def training_study(seeds=(1, 2, 3)):
    """Returns a folder with one algorithm whose seeds are evaluated together, and one with fewer evaluations."""
    folder = Folder(["seed"])
    folder.scenario = {"measure": {"target_accuracy": 0.9}}
    for seed in seeds:
        for algorithm, pace in (("fast", 1.0), ("slow", 3.0)):
            point = folder.point([seed], algorithm, 8, step_time_s=pace)
            for k in range(6):
                folder.evaluation(point, sim_time_s=k * pace, iteration=k, train_loss=math.exp(-k) * seed,
                                  test_loss=1 + seed, test_accuracy=0.1 * seed + 0.1 * k)
    return folder.write()


def answers_study(values=("1Gbps", "2Gbps", "4Gbps", "8Gbps", "64Gbps"), target="0.5"):
    """Returns a folder of solve --out with two methods: one meets 0.5 at 2 Gbps, the other nowhere."""
    folder = Folder(["cluster.fabric.link.bandwidth"], "which bandwidth?")
    for algorithm, at_1 in (("near", 0.25), ("far", 0.001)):
        for text in values:
            folder.point([text], algorithm, 4, efficiency=at_1 * float(text[:-4]), step_time_s=1)
    path = "cluster.fabric.link.bandwidth"
    folder.write().table("answers.csv", ["algorithm", *answers.FIELDS],
                         [["near", path, "efficiency", target, "crossing", "2Gbps", 2e9, 0.5, "rises above 0.5"],
                          ["far", path, "efficiency", target, "nowhere", "", "", 0.064, "below 0.5"]])
    return folder


def links_study(links=30):
    """Returns a folder with two points; link i of the second is used for i / links of the time."""
    folder = Folder(["link"])  # an axis that is called like a column
    rows = []
    for text in ("1Gbps", "2Gbps"):
        point = folder.point([text], "dense", 4, sim_time_s=0.01, step_time_s=0.01)
        for i in range(links):
            for k in range(10):
                use = i / links if point == 1 else 1
                rows.append([point, text, "dense", 4, f"node {i} up", k / 1000, (k + 1) / 1000, 5, use, 1e9])
    folder.write().table("links.csv", ["point", "link", "algorithm", "nodes", "link", "from_s", "to_s", "bytes",
                                       "utilization", "capacity_bps"], rows)
    return folder


def links_of_jobs_study(points=2):
    """Returns a folder with points of three jobs each, and one map of links; point 2 is another seed of point 1."""
    folder = Folder(["job", "other_jobs", "seed"])
    rows = []
    for point in range(points):
        label, seed = ("A", "B", "B", "C", "D", "E", "F")[point], 2 if point == 2 else 1
        for job, algorithm in (("main", "dense"), ("B", "dgc"), ("C", "dense")):
            folder.point([job, label, seed], algorithm, 4, sim_time_s=0.01, step_time_s=0.01)
            folder.rows[-1][0] = point
        rows += [[point, label, seed, "dense", 4, "node 0 up", k / 1000, (k + 1) / 1000, 5, point / 10, 1e9] for k in range(10)]
    folder.write().table("links.csv", ["point", "other_jobs", "seed", "algorithm", "nodes", "link", "from_s", "to_s", "bytes",
                                       "utilization", "capacity_bps"], rows)
    return folder


def testbed_file(**changed):
    """Returns a testbed of two measured columns; the row "odd" is a misfit, "new" has no value before."""
    rows = [("a", "step_time_s", 0.1, 0.08, 0.11, False), ("odd", "step_time_s", 0.4, 0.7, 0.8, True),
            ("new", "step_time_s", 0.2, None, 0.19, False), ("b", "samples_per_s", 4000.0, 5000.0, 4100.0, False)]
    fields = ("row", "column", "measured", "before", "fitted", "misfit")
    constants = [("cluster.fabric.link.bandwidth", "10Gbps", "5Gbps", "20Gbps", False, False, ["1Gbps", "100Gbps"]),
                 ("cluster.fabric.link.latency", "20us", "1us", "50us", True, False, ["1us", "1ms"]),
                 ("workload.efficiency", 0.5, 0.25, 1, False, True, [0, 1])]
    names = ("path", "value", "low", "high", "low_is_open", "high_is_open", "range")
    FOLDERS.append(tempfile.TemporaryDirectory())
    path = os.path.join(FOLDERS[-1].name, "mine.json")
    content = {"title": "mine", "date": "2026-11-27", "level": 0.9, "noise": {"share": 0.05, "assumed": True},
               "constants": [dict(zip(names, one)) for one in constants],
               "rows": [dict(zip(fields, row)) for row in rows], "cluster": {"nodes": 2}} | changed
    with open(path, "w", encoding="utf-8") as stream:
        json.dump({name: value for name, value in content.items() if value is not None}, stream)
    return path


def options(*arguments):
    parsed = plot.parse(["folder", *arguments])
    parsed.chosen = bool(parsed.kinds)
    return parsed


def run(*arguments, **environment):
    """Runs the scripts. Returns its exit code, its output and its errors."""
    done = subprocess.run([sys.executable, "-B", os.path.join(ANALYSIS, "plots"), *arguments], text=True,
                          capture_output=True, env={**os.environ, **environment}, check=False)
    return done.returncode, done.stdout, done.stderr


class Quantities(unittest.TestCase):
    def test_units_are_those_of_scenario_files(self):
        for text, kind, value in (("10Gbps", "bandwidth", 1e10), ("125MBps", "bandwidth", 1e9), ("50us", "time", 5e-5),
                                  ("1.5min", "time", 90), ("64MiB", "size", 64 * 2**20), ("408kB", "size", 408e3),
                                  (".5ms", "time", 5e-4), ("1e3bps", "bandwidth", 1e3), ("16", "number", 16),
                                  ("5e-4", "number", 5e-4)):
            found, number = quantities.quantity(text)
            self.assertEqual(found, kind, text)
            self.assertAlmostEqual(number, value, delta=1e-12 * value, msg=text)

    def test_labels_are_no_quantities(self):
        for text in ("AlexNet", "16 nodes, 64h", "1GbE-tcp", "10 Gbps", "10GB/s", "", "-3", "10gbps", "s", "1us2"):
            self.assertIsNone(quantities.quantity(text), text)

    def test_quantities_are_ordered_by_value_and_labels_as_they_come(self):
        study = timing_study().study()
        self.assertEqual(study.values("cluster.fabric.link.bandwidth"), ["500Mbps", "1Gbps", "10Gbps"])
        self.assertEqual(study.values("algorithm"), ["dense", "other"])
        self.assertEqual(quantities.in_one_unit(["500Mbps", "1Gbps", "10Gbps"]), ("Gbps", ["0.5", "1", "10"]))
        self.assertEqual(quantities.in_one_unit(["50us", "1ms", "20us"]), ("us", ["50", "1000", "20"]))


class Crossovers(unittest.TestCase):
    def check(self, lines, kind, value, place, tolerance=1e-9):
        found = bandwidth.crossovers(lines, bandwidth.straight(kind, value))
        self.assertEqual(len(found), 1)
        self.assertAlmostEqual(found[0][0] / place, 1, delta=tolerance)
        return found[0]

    def test_steps_of_a_closed_form_cross_where_it_says(self):
        for seed in range(50):
            draw = random.Random(seed)
            grid = sorted(10 ** draw.uniform(8, 11) for _ in range(draw.randint(2, 6)))
            place = math.exp(draw.uniform(math.log(grid[0]), math.log(grid[-1])))
            a, b = draw.uniform(0.1, 1), draw.uniform(1e8, 1e10)
            more = draw.uniform(0.01, 0.09)  # computes longer, sends less: equal at `place`
            with self.subTest(seed=seed):
                dense = {x: a + b / x for x in grid}
                sparse = {x: a + more + (b - more * place) / x for x in grid}
                _, y, below, above, exact = self.check([dense, sparse], "bandwidth", "step_time_s", place)
                self.assertEqual((below, above, exact), (1, 0, False))
                self.assertAlmostEqual(y, a + b / place, delta=1e-9 * y)
                rates = [{x: 7 / y for x, y in line.items()} for line in (dense, sparse)]
                self.check(rates, "bandwidth", "speedup", place)

    def test_latency_counts_linearly_and_other_columns_by_logarithms(self):
        grid = [1e-6, 1e-5, 1e-3]
        self.check([{x: 1 + 100 * x for x in grid}, {x: 1.01 + 10 * x for x in grid}], "time", "step_time_s", 0.01 / 90)
        grid = [1, 8, 64]
        self.check([{x: 2 * x**0.5 for x in grid}, {x: x**0.8 for x in grid}], "number", "density", 2 ** (1 / 0.3))

    def test_a_crossing_on_a_point_is_exact(self):
        lines = [{1e9: 3, 1e10: 2, 1e11: 1.9}, {1e9: 4, 1e10: 2, 1e11: 1}]
        self.assertEqual(bandwidth.crossovers(lines, bandwidth.straight("bandwidth", "step_time_s")),
                         [(1e10, 2, 0, 1, True)])

    def test_only_changes_of_the_best_count(self):
        shape = bandwidth.straight("bandwidth", "step_time_s")
        best, second, third = {1e9: 1, 1e10: 0.5}, {1e9: 4, 1e10: 1}, {1e9: 3, 1e10: 2}
        self.assertEqual(bandwidth.crossovers([best, second, third], shape), [])
        self.assertEqual(bandwidth.crossovers([best, dict(best)], shape), [])
        self.assertEqual(bandwidth.crossovers([{1e9: 3, 1e10: 2, 1e11: 1}, {1e9: 4, 1e10: 2, 1e11: 1}], shape), [])
        self.assertEqual(bandwidth.crossovers([{1e9: 1}, best, {1e10: 0.1, 1e11: 0.1}], shape), [])
        self.assertEqual(bandwidth.crossovers([], shape), [])


class Reading(unittest.TestCase):
    def test_axes_are_what_varies_and_not_the_seed(self):
        folder = Folder(["seed", "workload", "cluster"])
        for seed in (1, 2):
            for cluster, nodes in (("16 nodes, restart", 16), ("64 nodes, restart", 64)):
                folder.point([seed, "AlexNet", cluster], "dense", nodes, step_time_s=1)
        study = folder.write().study()
        self.assertEqual(study.axes, ["cluster"])  # it also determines the nodes
        self.assertEqual(study.seeds, 2)

    def test_points_that_failed_are_left_out_and_counted(self):
        folder = Folder([])
        folder.point([], "dense", 1, step_time_s=1, compute_s=1)
        folder.point([], "dense", 2, outcome="deadlock")
        folder.point([], "dense", 4, step_time_s=1, compute_s=1, outcome="diverged")
        study = folder.write().study()
        self.assertEqual([row["nodes"] for row in study.rows], ["1", "4"])
        self.assertEqual(study.failed, {"deadlock": 1})
        figure = breakdown.draw(study, options("breakdown"))
        self.assertIn("points left out: 1 deadlock", "".join(text.get_text() for text in figure.texts))

    def test_points_without_a_whole_step_are_left_out_like_those_that_failed(self):
        folder = Folder([])
        folder.point([], "dense", 1, iterations=5, step_time_s=1, compute_s=1, outcome="time-limit")
        folder.point([], "dense", 2, iterations=1, outcome="time-limit")
        folder.point([], "dense", 4, iterations=1, outcome="out-of-range")
        folder.point([], "dense", 8, iterations=1, outcome="finished")  # "skip" leaves no step to rate
        folder.point([], "dense", 16, iterations=7, outcome="time-limit")
        study = folder.write().study()
        self.assertEqual([row["nodes"] for row in study.rows], ["1", "8", "16"])
        self.assertEqual(study.failed, {"time-limit": 1, "out-of-range": 1})

    def test_where_chooses_by_value_and_by_the_end_of_a_path(self):
        folder = timing_study()
        study = folder.study("bandwidth=0.5Gbps", "bandwidth=1Gbps", "cluster.nodes=4")
        self.assertEqual({row["cluster.fabric.link.bandwidth"] for row in study.rows}, {"500Mbps", "1Gbps"})
        self.assertEqual({row["nodes"] for row in study.rows}, {"4"})

    def test_what_is_no_result_is_refused_by_name(self):
        folder = timing_study()
        results = os.path.join(folder.path, "results.csv")
        for where, told in (("nodes", "is not AXIS=VALUE"), ("node=4", "no axis \"node\""),
                            ("nodes=3", "no such value")):
            with self.assertRaisesRegex(common.WrongInput, told):
                folder.study(where)
        for text, told in (("", "has no points"), ("a,b\n1,2\n", "has no column \"point\""),
                           ("point,algorithm,nodes,outcome\n0,dense,1,deadlock\n", "all points failed"),
                           ("point,algorithm,nodes,outcome\n0,dense\n", "row 1 does not have as many cells"),
                           ("point,algorithm,nodes,outcome\n0,d,1,finished,7\n", "row 1 does not have as many cells"),
                           ("point,algorithm,nodes,outcome\n0,\"dense\n", "cannot be read")):
            with open(results, "w", encoding="utf-8") as stream:
                stream.write(text)
            with self.assertRaisesRegex(common.WrongInput, told):
                folder.study()
        os.remove(results)
        with self.assertRaisesRegex(common.WrongInput, "has no results.csv"):
            folder.study()
        with self.assertRaisesRegex(common.WrongInput, "no such folder"):
            common.read_study(os.path.join(folder.path, "nothing"))


class Bands(unittest.TestCase):
    def test_student_t_is_that_of_printed_tables(self):
        for degrees, quantile in ((1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (9, 2.262), (10, 2.228),
                                  (29, 2.045), (30, 2.042), (60, 2.000), (120, 1.980)):
            self.assertAlmostEqual(bands.student_t(degrees), quantile, delta=5.1e-4, msg=degrees)

    def test_a_confidence_interval_covers_the_mean_as_often_as_it_says(self):
        draw, covered, runs = random.Random(1), 0, 4000
        for _ in range(runs):
            _, low, high = bands.mean_and_band([draw.gauss(7, 2) for _ in range(5)], "ci")
            covered += low <= 7 <= high
        self.assertAlmostEqual(covered / runs, 0.95, delta=4 * math.sqrt(0.95 * 0.05 / runs))

    def test_equal_values_have_no_band(self):
        for band in bands.BANDS:
            self.assertEqual(bands.mean_and_band([0.1, 0.1, 0.1], band), (0.1, 0.1, 0.1))
            self.assertEqual(bands.mean_and_band([0.3], band), (0.3, 0.3, 0.3))


def jobs_study():
    """Returns a folder in which two algorithms of a main job run beside job "B", which is dense SGD in each case."""
    folder = Folder([])
    folder.axes = ["job"]
    for main, own, other in (("dense", 2.0, 3.0), ("dgc", 1.0, 1.5)):
        for job, algorithm, step in (("main", main, own), ("B", "dense", other)):
            folder.point([job], algorithm, 4, step_time_s=step, compute_s=0.5, exposed_comm_s=step - 0.5)
            folder.rows[-1][0] = 0 if main == "dense" else 1  # the point
    return folder.write().study()


class Figures(unittest.TestCase):
    def setUp(self):
        style.begin()

    def panels(self, figure):
        return [axes for axes in figure.axes if axes.axison]

    def check_units(self, figure, bars=False):
        """Checks that panels at the left and bottom name their axes, with a unit in parentheses."""
        panels = figure.axes
        for labels in [[p.get_xlabel() for p in panels]] + ([] if bars else [[p.get_ylabel() for p in panels]]):
            named = [label for label in labels if label]
            self.assertTrue(named)
            for label in named:
                self.assertRegex(label, r"\(.+\)$")

    def test_speedup_shows_the_points_the_ideal_and_the_closed_form(self):
        study = timing_study().study("bandwidth=1Gbps")
        figure = speedup.draw(study, options("speedup"))
        self.check_units(figure)
        panel, = figure.axes
        ideal, dense, dense_model, other, _ = panel.lines
        nodes = [1, 2, 4, 16]
        for drawn, expected in ((ideal, nodes), (dense, [n * 0.1 / step_time("dense", n, 1) for n in nodes]),
                                (dense_model, [n * 0.1 / step_time("dense", n, 1) / 1.01 for n in nodes]),
                                (other, [n * 0.1 / step_time("other", n, 1) for n in nodes])):
            self.assertEqual(list(drawn.get_xdata()), nodes)
            for found, wanted in zip(drawn.get_ydata(), expected):
                self.assertAlmostEqual(found, wanted, delta=1e-9 * wanted)
        texts = [text.get_text() for text in figure.legends[0].get_texts()]
        self.assertEqual(texts, ["ideal", "dense", "other", "closed form"])
        for look in ("get_color", "get_marker"):
            self.assertNotEqual(getattr(dense, look)(), getattr(other, look)())

    def test_a_line_is_the_mean_of_the_seeds(self):
        folder = Folder(["seed"])
        for seed, factor in ((1, 1.0), (2, 0.8), (3, 0.6)):
            for nodes in (1, 2, 4):
                folder.point([seed], "dense", nodes, step_time_s=1, speedup=factor * nodes, efficiency=factor)
        figure = speedup.draw(folder.write().study(), options("speedup"))
        panel, = figure.axes
        self.assertEqual([round(y, 9) for y in panel.lines[1].get_ydata()], [0.8, 1.6, 3.2])
        # The deviation of 1, 0.8 and 0.6 is 0.2, and Student's t of two degrees of freedom 4.302653.
        for band, low, high in (("sd", 0.6, 4 * 1), ("minmax", 0.6, 4), ("ci", 0.8 - 4.302653 * 0.2 / math.sqrt(3),
                                                                         3.2 + 4.302653 * 0.8 / math.sqrt(3))):
            figure = speedup.draw(common.read_study(folder.path, (), band), options("speedup"))
            drawn = figure.axes[0].collections[0].get_paths()[0].get_extents()
            self.assertAlmostEqual(drawn.ymin, low, places=5, msg=band)
            self.assertAlmostEqual(drawn.ymax, high, places=5, msg=band)
            self.assertIn(f"mean of 3 seeds; bands, if any: {bands.BANDS[band]}",
                          figure.texts[-1].get_text().replace("\n", " "))
        figure = speedup.draw(common.read_study(folder.path, (), "none"), options("speedup"))
        self.assertEqual(len(figure.axes[0].collections), 0)
        self.assertEqual("mean of 3 seeds", figure.texts[-1].get_text())

    def test_bandwidth_labels_the_crossover(self):
        folder = Folder(["cluster.fabric.link.bandwidth"])
        for text, gbps in (("1Gbps", 1), ("10Gbps", 10), ("100Gbps", 100)):
            for algorithm in ("dense", "other"):
                folder.point([text], algorithm, 16, step_time_s=step_time(algorithm, 16, gbps))
        place = (0.8 - 0.01) * 15 / 16 / 0.05
        with contextlib.redirect_stdout(io.StringIO()) as told:
            figure = bandwidth.draw(folder.write().study(), options("bandwidth"))
        self.assertEqual(told.getvalue(), f"crossover: ~{place:.3g} Gbps: other below, dense above\n")
        panel, = figure.axes
        self.assertIn(f"~{place:.3g} Gbps", [text.get_text() for text in panel.texts])
        mark = panel.lines[-2]
        self.assertAlmostEqual(mark.get_xdata()[0], place * 1e9, delta=1e3)
        self.assertEqual(panel.get_xlabel(), "link bandwidth (Gbps)")

    def test_targets_are_lines_of_the_drawn_column_and_shares_of_the_ideal(self):
        study = timing_study().study("bandwidth=1Gbps")
        chosen = options("speedup", "--target", "2", "--target", "efficiency=0.9", "--target", "speedup=5")
        figure = speedup.draw(study, chosen)
        two, five, share = figure.axes[0].lines[-3:]
        self.assertEqual([list(line.get_ydata()) for line in (two, five)], [[2, 2], [5, 5]])
        for found, nodes in zip(share.get_ydata(), (1, 2, 4, 16)):
            self.assertAlmostEqual(found, 0.9 * nodes)
        texts = [text.get_text() for text in figure.legends[0].get_texts()]
        self.assertEqual([text for text in texts if text.startswith("target")],
                         ["target 2", "target 5", "target 90 % efficiency"])
        self.assertEqual(len({str(line._unscaled_dash_pattern) for line in (two, five, share)}), 3)
        self.assertEqual(chosen.targets_used, set(chosen.target))
        study = training_study().study()
        figure = convergence.draw(study, options("convergence", "--target", "test_accuracy=0.6"))
        self.assertEqual(list(figure.axes[2].lines[-1].get_ydata()), [60, 60])  # in place of the study's
        with self.assertRaisesRegex(common.WrongInput, "several columns; name one"):
            convergence.draw(study, options("convergence", "--target", "0.6"))
        with self.assertRaisesRegex(common.WrongInput, "--target x: is not NUMBER or COLUMN=NUMBER"):
            speedup.draw(timing_study().study(), options("speedup", "--target", "x"))

    def test_jobs_have_panels_of_their_own_and_are_not_mixed_over_their_neighbors(self):
        study = jobs_study()
        self.assertEqual(study.values("beside"), ["", "beside dense", "beside dgc"])
        layout = style.lay_out(study, options(), [])
        self.assertEqual(layout.panels, [(("job", "main"),), (("job", "B"),)])
        self.assertEqual([style.name_of(line, study) for line in layout.lines],
                         ["dense", "dense, beside dense", "dense, beside dgc", "dgc"])
        figure = breakdown.draw(study, options("breakdown"))
        ends = [[max(bar.get_x() + bar.get_width() for bar in panel.patches if round(bar.get_y() + 0.39) == place)
                 for place in sorted({round(bar.get_y() + 0.39) for bar in panel.patches})] for panel in figure.axes]
        self.assertEqual(ends, [[2, 1], [3, 1.5]])

    def test_heatmap_prints_values_and_ratios(self):
        study = timing_study().study()
        figure = heatmap.draw(study, options("heatmap"))
        self.check_units(figure)
        first = figure.axes[0]
        cells = {text.get_position(): text.get_text() for text in first.texts}
        self.assertEqual(cells[(2, 3)], f"{16 * 0.1 / step_time('dense', 16, 10):.3g}")
        self.assertEqual(cells[(0, 1)], f"{2 * 0.1 / step_time('dense', 2, 0.5):.3g}")
        ratio, = heatmap.draw(study, options("heatmap", "--ratio", "other", "dense")).axes
        cells = {text.get_position(): text.get_text() for text in ratio.texts}
        self.assertEqual(cells[(1, 2)], f"{step_time('dense', 4, 1) / step_time('other', 4, 1):.3g}")
        self.assertFalse(any(text.get_text().startswith("≈") for text in ratio.texts))
        folder = timing_study()
        dense, other = 4, 8  # on one node at 10 Gbps, and on the same machines
        folder.table("comparisons.csv", ["point", "algorithm", "against", "against_algorithm", *(f"times_as_fast{end}" for end in ("", "_low", "_high"))],
                     [[other + k - 4, "other", dense + k - 4, "dense", 1, low, high] for k, (low, high) in enumerate([(0.9, 1.2), (1.1, 1.3), (0.5, 0.9), (0.8, 1)])])
        ratio, = heatmap.draw(folder.study(), options("heatmap", "--ratio", "dense", "other")).axes
        self.assertEqual({text.get_position() for text in ratio.texts if text.get_text().startswith("≈")}, {(2, 0), (2, 3)})
        with self.assertRaisesRegex(common.WrongInput, "no algorithm \"sparse\"; this study has: dense, other"):
            heatmap.draw(study, options("heatmap", "--ratio", "sparse", "dense"))

    def test_a_frontier_has_the_points_that_no_other_beats(self):
        points = [(1, 9), (2, 5), (2, 7), (3, 5), (4, 1), (5, 2)]
        self.assertEqual(frontier.frontier(points), [(1, 9), (2, 5), (4, 1)])
        self.assertEqual(frontier.frontier(points, (1, -1)), [(1, 9)])  # more of the second is better
        study = timing_study().study("bandwidth=1Gbps")
        with contextlib.redirect_stdout(io.StringIO()) as told:
            figure = frontier.draw(study, options("frontier", "--x", "step_time_s", "--value", "compute_s"))
        self.check_units(figure)
        self.assertIn("frontier: dense, 1 node: step_time_s 0.1, compute_s 0.1", told.getvalue())
        circles = figure.axes[0].lines[-1]
        self.assertEqual((list(circles.get_xdata()), list(circles.get_ydata())), ([0.1], [0.1]))

    def test_bars_add_up_to_the_step(self):
        study = timing_study().study("bandwidth=1Gbps")
        figure = breakdown.draw(study, options("breakdown"))
        self.check_units(figure, bars=True)
        panel, = figure.axes
        lengths = {}
        for bar in panel.patches:
            place = round(bar.get_y() + bar.get_height() / 2)
            self.assertAlmostEqual(bar.get_x(), lengths.get(place, 0))  # begins where the previous one ends
            lengths[place] = bar.get_x() + bar.get_width()
        expected = [step_time(algorithm, n, 1) for n in (1, 2, 4, 16) for algorithm in ("dense", "other")]
        for found, wanted in zip([lengths[place] for place in sorted(lengths)], expected):
            self.assertAlmostEqual(found, wanted, delta=1e-9)
        names = [text.get_text() for text in figure.legends[0].get_texts()]
        self.assertEqual(names, ["computing", "waiting for the network", "waiting for stragglers"])

    def test_failures_have_parts_of_their_own(self):
        folder = Folder([])
        folder.point([], "dense", 4, step_time_s=10, waiting_network_share=0.1, waiting_stragglers_share=0,
                     waiting_dead_share=0.2, away_share=0.05, checkpoint_share=0.15, undone_share=0.5)
        row, = folder.write().study().rows
        parts = breakdown.parts_of(row, True)
        self.assertAlmostEqual(sum(parts.values()), 10)
        for name, seconds in (("computing", 2.5), ("computing, undone", 2.5), ("waiting for the dead", 2),
                              ("away", 0.5), ("checkpoints", 1.5)):
            self.assertAlmostEqual(parts[name], seconds, msg=name)

    def test_convergence_shows_mean_and_deviation_of_the_seeds_and_the_target(self):
        study = training_study().study()
        figure = convergence.draw(study, options("convergence"))
        self.check_units(figure)
        loss, _, accuracy = figure.axes
        fast = loss.lines[0]
        for k, (x, y) in enumerate(zip(fast.get_xdata(), fast.get_ydata())):
            self.assertAlmostEqual(x, k)
            self.assertAlmostEqual(y, 2 * math.exp(-k))
        band = loss.collections[0].get_paths()[0].get_extents()
        self.assertAlmostEqual(band.ymax, 3)  # 2 +- 1, the deviation of 1, 2 and 3
        self.assertAlmostEqual(band.ymin, math.exp(-5))
        self.assertEqual(loss.get_xlabel(), "simulated time (s)")
        self.assertEqual(list(accuracy.lines[-1].get_ydata()), [90, 90])
        self.assertIn("target 90 %", [text.get_text() for text in figure.legends[0].get_texts()])

    def test_seeds_of_different_times_are_compared_where_all_are(self):
        points = [[[0, 0], [2, 2], [4, 4]], [[0, 4], [3, 1]]]
        x, mean, low, high = convergence.over_seeds([convergence.numpy.array(p, float) for p in points], "minmax")
        self.assertEqual(list(x), [0, 2, 3])
        self.assertEqual([list(part) for part in (mean, low, high)], [[2, 2, 2], [0, 2, 1], [4, 2, 3]])

    def test_small_multiples_and_lines_divide_the_axes(self):
        study = timing_study().study()
        layout = style.lay_out(study, options(), ["nodes"])
        self.assertEqual((len(layout.panels), len(layout.lines)), (1, 6))
        layout = style.lay_out(study, options("--panels", "bandwidth"), ["nodes"])
        self.assertEqual((len(layout.panels), len(layout.lines)), (3, 2))
        with self.assertRaisesRegex(common.Misfit, "24 lines in a panel are too many"):
            style.lay_out(study, types.SimpleNamespace(panels=[]), [])

    def test_links_show_the_most_used_ones_over_time(self):
        figure = links.draw(links_study().study(), options("links"))
        first, second = figure.axes
        self.assertEqual([first.get_title(), second.get_title()], ["1 Gbps", "2 Gbps"])
        self.assertEqual([label.get_text() for label in second.get_yticklabels()],
                         [f"node {i} up" for i in range(6, 30)])
        mesh, = second.collections
        self.assertEqual(mesh.get_array().reshape(24, 10)[1][3], 7 / 30)
        self.assertEqual(mesh.get_clim(), (0, 1))
        self.assertEqual(list(mesh.get_coordinates()[0, :, 0]), [k / 1000 / 1e-3 for k in range(11)])
        self.assertEqual(second.get_xlabel(), "simulated time (ms)")
        self.assertIn("the 24 most used links of a point, of 30", figure.texts[-1].get_text())
        one = links.draw(links_study(2).study("link=2Gbps"), options("links"))
        self.assertEqual(len(one.axes), 1)

    def test_links_are_a_map_for_each_point_whatever_jobs_it_has(self):
        def titles(figure):
            return [panel.get_title() for panel in figure.axes]
        figure = links.draw(links_of_jobs_study().study(), options("links"))
        self.assertEqual(titles(figure), ["other jobs: A", "other jobs: B"])
        self.assertEqual([panel.collections[0].get_array().ravel()[0] for panel in figure.axes], [0, 0.1])
        seeds = links.draw(links_of_jobs_study(3).study("other_jobs=B"), options("links"))
        self.assertEqual(titles(seeds), ["seed 1", "seed 2"])
        self.assertNotIn("mean", "".join(text.get_text() for text in seeds.texts))
        self.assertEqual(titles(links.draw(links_of_jobs_study().study("job=B"), options("links"))),
                         ["other jobs: A", "other jobs: B"])
        self.assertEqual(len(links.draw(links_of_jobs_study().study("algorithm=dense", "other_jobs=A"), options("links")).axes), 1)
        self.assertEqual(len(links.draw(links_of_jobs_study(6).study(), options("links")).axes), 6)
        with self.assertRaisesRegex(common.Misfit, "^7 points are more than 6; choose some with --where other_jobs=F$"):
            links.draw(links_of_jobs_study(7).study(), options("links"))

    def test_answers_are_marked_on_the_lines_of_their_methods(self):
        figure = answers.draw(answers_study().study(), options("answers"))
        panel, = figure.axes
        lines = {tuple(line.get_ydata()): line for line in panel.lines if len(line.get_xdata()) == 5}
        self.assertEqual(sorted(lines), [(0.001, 0.002, 0.004, 0.008, 0.064), (0.25, 0.5, 1, 2, 16)])
        mark, = [line for line in panel.lines if line.get_marker() == "o" and len(line.get_xdata()) == 1]
        self.assertEqual((list(mark.get_xdata()), list(mark.get_ydata())), ([2e9], [0.5]))
        self.assertEqual(mark.get_markeredgecolor(), lines[(0.25, 0.5, 1, 2, 16)].get_color())
        self.assertEqual([text.get_text() for text in panel.texts], ["2 Gbps"])
        self.assertEqual(panel.get_xlabel(), "link bandwidth (Gbps)")
        self.assertEqual(panel.get_xscale(), "log")
        self.assertIn([0.5, 0.5], [list(line.get_ydata()) for line in panel.lines])  # the target
        labels = [text.get_text() for text in figure.legends[0].get_texts()]
        self.assertEqual(labels, ["near", "far", "target 0.5"])

    def test_answers_against_another_scenario_have_no_target(self):
        panel, = answers.draw(answers_study(("1Gbps", "2Gbps", "3Gbps"), "").study(), options("answers")).axes
        self.assertNotIn([0.5, 0.5], [list(line.get_ydata()) for line in panel.lines])
        self.assertEqual(panel.get_xscale(), "linear")

    def test_answers_need_their_file(self):
        with self.assertRaisesRegex(common.Misfit, "it needs answers.csv, which paceline solve --out writes"):
            answers.draw(timing_study().study(), options("answers"))
        folder = answers_study()
        with open(os.path.join(folder.path, "answers.csv"), "w", encoding="utf-8") as stream:
            stream.write("a,b\n1,2\n")
        with self.assertRaisesRegex(common.WrongInput, "is not answers.csv of paceline solve"):
            answers.draw(folder.study(), options("answers"))

    def test_a_testbed_shows_rows_before_and_after_and_constants_in_their_ranges(self):
        figure = testbed.draw(testbed.read_testbed(testbed_file()), options())
        steps, rates, constants = figure.axes
        self.assertEqual([steps.get_xlabel(), rates.get_ylabel()],
                         ["measured time per step (s)", "predicted throughput (samples/s)"])
        self.assertEqual((steps.get_xscale(), steps.get_yscale()), ("log", "log"))
        drawn = {line.get_marker() + line.get_color(): (list(line.get_xdata()), list(line.get_ydata()))
                 for line in steps.lines if line.get_linestyle() == "None"}
        self.assertEqual(drawn, {"o0.6": ([0.1, 0.4], [0.08, 0.7]), "o#0072B2": ([0.1, 0.2], [0.11, 0.19]),
                                 "X#D55E00": ([0.4], [0.8])})
        self.assertEqual([text.get_text() for text in steps.texts], ["odd"])
        band = steps.collections[0].get_paths()[0].vertices
        self.assertAlmostEqual(max(y / x for x, y in band), math.exp(0.05))
        diagonal, = [line for line in steps.lines if line.get_color() == "0.6" and line.get_marker() == "None"]
        self.assertEqual(list(diagonal.get_xdata()), list(diagonal.get_ydata()))
        # 10 Gbps is halfway from 1 to 100 by its logarithm; ranges from 0 are linear.
        dots = [line.get_xdata()[0] for line in constants.lines if line.get_marker() == "o"]
        for found, wanted in zip(dots, (0.5, math.log(20) / math.log(1000), 0.5)):
            self.assertAlmostEqual(found, wanted)
        bars = [list(line.get_xdata()) for line in constants.lines if line.get_linewidth() == 1.6]
        for found, wanted in zip(bars, ([math.log(5) / math.log(100), math.log(20) / math.log(100)],
                                        [0, math.log(50) / math.log(1000)], [0.25, 1])):
            for end, expected in zip(found, wanted):
                self.assertAlmostEqual(end, expected)
        arrows = [text.xy for text in constants.texts if getattr(text, "arrow_patch", None)]
        self.assertEqual(arrows, [(-0.035, 1), (1.035, 2)])
        told = [text.get_text() for text in constants.texts]
        self.assertIn("link latency: 20 us (at most 50 us)", told)
        self.assertIn("workload.efficiency: 0.5 (at least 0.25)", told)
        self.assertIn("noise of a row (5 %, assumed)", [text.get_text() for text in figure.legends[0].get_texts()])

    def test_damaged_testbeds_are_refused_at_their_place(self):
        for changed, told in (({"rows": None}, "has no \"rows\"; a file to draw is a testbed of paceline calibrate"),
                              ({"cluster": 3, "rows": []}, "has no \"cluster\"; a file"), ({"rows": []}, "has no rows; "),
                              ({"rows": [{"measured": 1, "fitted": 0}]}, r"rows\[0\].fitted: is not a number above 0"),
                              ({"rows": [{"measured": "x"}]}, r"rows\[0\].measured: is not"), ({"rows": [7]}, "an object"),
                              ({"constants": [{"value": "1Gbps", "low": 1, "high": 2, "range": [1, 3]}]},
                               r"constants\[0\]: has no value, low, high and range of one unit"),
                              ({"constants": [7]}, r"constants\[0\]: ")):
            with self.assertRaisesRegex(common.WrongInput, told):
                testbed.read_testbed(testbed_file(**changed))

    def test_damaged_links_are_refused(self):
        for text, told in (("a,b\n", "is not links.csv"), ("", "is not links.csv"),
                           ("point,link,from_s,to_s,utilization\n0,a,0,1\n", "4 fields instead of 5"),
                           ("point,link,from_s,to_s,utilization\n0,a,0,1,x\n", "not three numbers")):
            folder = links_study()
            with open(os.path.join(folder.path, "links.csv"), "w", encoding="utf-8") as stream:
                stream.write(text)
            with self.assertRaisesRegex(common.WrongInput, told):
                links.draw(folder.study(), options("links"))

    def test_every_kind_refuses_what_it_cannot_show(self):
        timing, training = timing_study().study("nodes=4", "bandwidth=1Gbps"), training_study().study()
        for kind, study, arguments, told in (
                (speedup, timing, [], "the number of nodes does not vary"),
                (speedup, timing_study().study(), ["--value", "spedup"],
                 "no column spedup with numbers; this study has: sim_time_s"),
                (convergence, timing, [], "no timeline.csv"),
                (convergence, training, ["--x", "tim"], "drawn along time, iteration, epoch, bytes"),
                (convergence, training, ["--value", "relative_error"], "nothing in column relative_error"),
                (bandwidth, timing, [], "no bandwidth is swept"),
                (bandwidth, timing_study().study(), ["--x", "algorithm"],
                 "the values of algorithm are not positive quantities"),
                (heatmap, timing, [], "two swept quantities"),
                (frontier, timing, [], "no column cost with numbers"),
                (links, timing, [], "needs links.csv, which paceline run --links writes"),
                (breakdown, training_without_steps(), [], "no point has a step_time_s")):
            with self.assertRaisesRegex(common.Misfit, told):
                kind.draw(study, options(kind.__name__, *arguments))

    def test_damaged_results_are_drawn_or_refused(self):
        junk = ["", "-1", "0", "nan", "1e400", "x", "1Gbps", "$_{", "1e-300", "diverged", "deadlock"]
        for seed in range(4):
            draw = random.Random(seed)
            folder = timing_study()
            for _ in range(draw.choice([3, 30, 300])):
                row = draw.choice(folder.rows)
                row[draw.randrange(len(row))] = draw.choice(junk)
            if draw.random() < 0.5:
                column = draw.randrange(len(folder.rows[0]))
                for row in folder.rows:
                    row[column] = junk[seed % len(junk)]
            with self.subTest(seed=seed):
                for kind in plot.KINDS:
                    with contextlib.suppress(common.Misfit, common.WrongInput), \
                            contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        plot.KINDS[kind].draw(folder.write().study(), options(kind))

    def test_labels_are_drawn_as_they_are(self):
        folder = Folder([], title="$x_{$ \x01")
        for label in ("_hidden", "a $\\frac$ b", "<&-->"):
            for nodes in (1, 2):
                folder.point([], label, nodes, step_time_s=1, speedup=nodes, efficiency=1)
        figure = speedup.draw(folder.write().study(), options("speedup"))
        texts = [text.get_text().strip() for text in figure.legends[0].get_texts()]
        self.assertEqual(texts, ["ideal", "_hidden", "a $\\frac$ b", "<&-->"])
        path = os.path.join(folder.path, "speedup.svg")
        style.save(figure, path, "svg")
        self.assertEqual(xml.parse(path).getroot().tag, "{http://www.w3.org/2000/svg}svg")


    def test_characters_are_looked_for_in_fonts_and_the_rest_is_told(self):
        names, missing = fonts.fonts_for(["gr\u00f6\u00dfer \u03b1 1", "dense"])
        self.assertEqual((names, missing), (["DejaVu Sans"], ""))
        names, missing = fonts.fonts_for(["a\U0001fae0"])  # of Unicode 14, in an emoji font if any
        self.assertEqual((names[0], missing), ("DejaVu Sans", "\U0001fae0"))
        cat = "\u732b"
        names, missing = fonts.fonts_for([cat])
        has = [name for name, path in fonts.noto_fonts() if ord(cat) in fonts.characters_of(path)]
        self.assertEqual((names, missing), (["DejaVu Sans", *has[:1]], "" if has else cat))


def training_without_steps():
    folder = Folder([])
    folder.point([], "dense", 4)
    return folder.write().study()


class Files(unittest.TestCase):
    def draw_twice(self, folder, *arguments):
        """Returns the files of two runs in different environments."""
        made = []
        for seed in ("1", "2"):
            out = os.path.join(folder.path, f"out{seed}")
            settings = os.path.join(folder.path, "matplotlibrc")
            with open(settings, "w", encoding="utf-8") as stream:
                stream.write(f"font.size: {8 + int(seed)}\nsvg.hashsalt: {seed}\nlegend.labelspacing: {seed}\n")
            code, told, wrong = run(folder.path, *arguments, "--out", out, PYTHONHASHSEED=seed, MATPLOTLIBRC=settings,
                                    SOURCE_DATE_EPOCH=seed + "00000000", TZ=("UTC", "Asia/Tokyo")[int(seed) - 1])
            self.assertEqual((code, wrong), (0, ""))
            made.append({})
            for name in sorted(os.listdir(out)):
                with open(os.path.join(out, name), "rb") as stream:
                    made[-1][name] = stream.read()
        self.assertEqual(list(made[0]), list(made[1]))
        for name, content in made[0].items():
            self.assertEqual(content, made[1][name], name)
        return made[0], told

    def test_files_are_whole_and_the_same_each_time(self):
        files, told = self.draw_twice(timing_study(), "--format", "svg", "--where", "bandwidth=1Gbps")
        self.assertEqual(list(files), ["breakdown.svg", "speedup.svg"])
        self.assertIn("not drawn: convergence: there is no timeline.csv", told)
        for content in files.values():
            self.assertEqual(xml.fromstring(content).tag, "{http://www.w3.org/2000/svg}svg")
        files, _ = self.draw_twice(training_study(), "convergence", "--format", "png,pdf", "--value", "train_loss")
        self.assertEqual(list(files), ["convergence.pdf", "convergence.png"])
        png, pdf = files["convergence.png"], files["convergence.pdf"]
        self.assertEqual(png[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(int.from_bytes(png[16:20], "big"), 1020)  # 3.4 inches at 300 dpi
        self.assertTrue(pdf.startswith(b"%PDF-"))
        self.assertIn(b"/FontFile2", pdf)  # an embedded TrueType font
        self.assertNotIn(b"CreationDate", pdf)

    def test_a_testbed_is_drawn_beside_its_file_and_has_no_options_of_studies(self):
        path = testbed_file()
        self.assertEqual(run(path, "--format", "svg"), (0, path[:-4] + "svg\n", ""))
        out = os.path.join(os.path.dirname(path), "figures")
        self.assertEqual(run(path, "--format", "svg", "--out", out, TZ="Asia/Tokyo", PYTHONHASHSEED="2")[0], 0)
        with open(path[:-4] + "svg", "rb") as one, open(os.path.join(out, "mine.svg"), "rb") as other:
            self.assertEqual(one.read(), other.read())
        for words, told in ((["speedup"], "a testbed has one figure; name no kind, not speedup"),
                            (["--where", "nodes=4"], "--where: the figure of a testbed has no such option")):
            with contextlib.redirect_stderr(io.StringIO()) as wrong:
                sys.argv = ["plots", path, *words]
                self.assertEqual(plot.main(), 2)
            self.assertIn(told, wrong.getvalue())

    def test_a_character_that_no_font_has_is_told(self):
        folder = timing_study()
        folder.title = "a\U0001fae0"
        code, told, wrong = run(folder.write().path, "speedup", "--format", "svg", "--where", "bandwidth=1Gbps")
        self.assertEqual((code, told), (0, os.path.join(folder.path, "speedup.svg") + "\n"))
        self.assertRegex(wrong, r"^paceline: warning: no installed font has .* \(U\+1FAE0\); figures show boxes there: .*\n$")

    def test_mistakes_are_told_in_one_line(self):
        folder = timing_study()
        file = os.path.join(folder.path, "results.csv")
        for arguments, told in (
                (["speed"], "no kind of figure \"speed\"; known: speedup, convergence"),
                (["convergence"], "what fits this study: speedup, bandwidth, heatmap, breakdown"),
                (["speedup", "--format", "gif"], "no format \"gif\"; known: svg, png, pdf"),
                (["speedup", "--ratio", "a", "b"], "--ratio: speedup has no such option"),
                (["speedup", "--panels", "x"], "no axis \"x\"; this study has: cluster.fabric"),
                (["speedup", "--target", "train_loss=1"], "--target train_loss=1: no figure of these has that column"),
                (["heatmap", "--target", "1"], "--target: heatmap has no such option"),
                (["speedup", "--out", file], "the folder cannot be created")):
            with contextlib.redirect_stderr(io.StringIO()) as wrong, contextlib.redirect_stdout(io.StringIO()) as out:
                sys.argv = ["plots", folder.path, *arguments]
                self.assertEqual((plot.main(), out.getvalue()), (2, ""))
            self.assertEqual(wrong.getvalue().count("\n"), 1)
            self.assertIn(told, wrong.getvalue())
        self.assertEqual(sorted(os.listdir(folder.path)), ["manifest.json", "results.csv"])


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Tests how tools/claims chooses rates, forms spreads, and judges what docs/claims.md shows."""

import math
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

from claims import claim, page, studies  # noqa: E402


def rows(seeds, rates, accuracy, algorithm="a"):
    """Rows of a study: the accuracy is a function of rate and seed; None: the run did not get that far."""
    return [{"seed": str(seed), "algorithm": algorithm, studies.RATE: str(rate), "outcome": "finished",
             "test_accuracy": "" if accuracy(rate, seed) is None else str(accuracy(rate, seed))}
            for seed in seeds for rate in rates]


def study(shown, tuning):
    return studies.Study(shown, lambda: tuning)


RATES = [0.1, 0.2, 0.4, 0.8]


class Tuned(unittest.TestCase):
    def test_the_rate_is_the_best_on_the_tuning_seeds_whatever_the_shown_seeds_say(self):
        shown = rows([1, 2, 3], RATES, lambda rate, seed: rate + seed)  # 0.8 looks best here
        tuning = rows([11, 12, 13], RATES, lambda rate, seed: -abs(rate - 0.2))
        made = study(shown, tuning)
        self.assertEqual(made.tuned("test_accuracy", "test_accuracy", algorithm="a").values, [1.2, 2.2, 3.2])
        self.assertEqual(made.rate(algorithm="a"), "0.2")
        self.assertEqual(made.edges, [])

    def test_a_rate_at_either_edge_is_told_and_a_claim_on_it_is_not_met(self):
        for best in (0.1, 0.8):
            made = study(rows([1], RATES, lambda rate, seed: 1),
                         rows([11], RATES, lambda rate, seed, best=best: -abs(rate - best)))
            paper = claim.Paper("a paper")

            @paper.claim("A1", "says", "where", "published", "study")
            def show(given):
                given.tuned("test_accuracy", "test_accuracy", algorithm="a")
                return claim.shown_if(True, "here")
            ran = type("Ran", (), {"get": lambda self, name, made=made: made})()
            outcome = paper.claims[0].outcome(ran)
            self.assertEqual(outcome.status, claim.NOT_MET)
            self.assertIn(f"a at {best}", outcome.why)

    def test_a_rate_with_one_seed_that_fails_is_not_chosen(self):
        tuning = rows([11, 12], RATES, lambda rate, seed: None if (rate, seed) == (0.4, 12) else rate)
        made = study(rows([1], RATES, lambda rate, seed: rate), tuning)
        made.tuned("test_accuracy", "test_accuracy", algorithm="a")
        self.assertEqual(made.rate(algorithm="a"), "0.8")

    def test_where_no_rate_reaches_the_target_it_says_never(self):
        made = study(rows([1], RATES, lambda rate, seed: None), rows([11], RATES, lambda rate, seed: None))
        self.assertEqual(made.tuned("test_accuracy", "test_accuracy", min, algorithm="a").text(), "never")

    def test_seeds_that_choose_and_are_shown_are_refused(self):
        made = study(rows([1, 11], RATES, lambda rate, seed: 1), rows([11], RATES, lambda rate, seed: 1))
        with self.assertRaises(SystemExit):
            made.tuned("test_accuracy", "test_accuracy", algorithm="a")

    def test_rows_that_differ_in_more_than_the_seed_are_refused(self):
        made = study(rows([1], [0.1, 0.2], lambda rate, seed: 1), [])
        with self.assertRaises(SystemExit):
            made.spread("test_accuracy", algorithm="a")


class Spreads(unittest.TestCase):
    def test_mean_and_sample_deviation(self):
        spread = studies.Spread([1.0, 2.0, 3.0])
        self.assertEqual((spread.mean, spread.sd), (2.0, 1.0))
        self.assertEqual(spread.text("{:.1f}"), "2.0 ± 1.0")
        self.assertEqual(studies.Spread([2.0, 2.0]).text("{:.1f}"), "2.0")

    def test_differences_and_ratios_are_paired_by_seed(self):
        a, b = studies.Spread([3.0, 5.0]), studies.Spread([1.0, 4.0])
        self.assertEqual((a - b).values, [2.0, 1.0])
        self.assertEqual((a / b).values, [3.0, 1.25])
        self.assertEqual((-a).values, [-3.0, -5.0])

    def test_seeds_without_a_value_are_counted(self):
        self.assertEqual(studies.Spread([1.0, math.inf]).text(), "in 1 of 2 seeds")


class Page(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(setattr, page, "PAGE", page.PAGE)
        page.PAGE = self.folder.name + "/claims.md"
        self.paper = claim.Paper("a paper")
        fast = self.paper.claim("A1", "It is fast", "abstract", "30", "dgc-speedup")
        fast(lambda given: claim.shown_if(True, "30.24"))
        self.paper.not_simulated("A2", "It hears", "section 4", "9 %", "no ears")

    def differences(self, text):
        pathlib.Path(page.PAGE).write_text(text, encoding="utf-8")
        ran = type("Ran", (), {"get": lambda self, name: studies.Study([], list)})()
        return page.differences([self.paper], ran)

    def lines(self):
        return [page.row(one, outcome) for one, outcome in
                zip(self.paper.claims, (claim.Outcome("30.24", claim.SHOWN),
                                        claim.Outcome("-", claim.NOT_SIMULATED, "no ears")))]

    def test_a_page_that_says_what_is_so_passes(self):
        self.assertEqual(self.differences("\n".join(self.lines())), [])

    def test_another_figure_of_a_quick_study_is_found(self):
        self.assertEqual(len(self.differences("\n".join(self.lines()).replace("30.24", "31.24"))), 1)

    def test_another_claim_or_a_missing_row_is_found(self):
        self.assertEqual(len(self.differences("\n".join(self.lines()).replace("It hears", "It sees"))), 1)
        self.assertEqual(len(self.differences(self.lines()[0])), 1)


if __name__ == "__main__":
    unittest.main()

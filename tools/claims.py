#!/usr/bin/python3
"""Runs the studies behind docs/claims.md and writes its tables: what the papers claim, and what is simulated here.

    tools/claims.py PACELINE                  run every study (hours; finished points are kept), write docs/claims.md
    tools/claims.py PACELINE ID...            run the studies of these claims only, and print their rows, such as A9 B10
    tools/claims.py PACELINE --check          run the studies that take seconds; exit 1 if their rows differ from the
                                              page's, or if a row's fixed cells do
    tools/claims.py PACELINE --jobs N         points run side by side (default: its cores)

A claim is a function of tools/claims/*.py, which returns what a study gave and whether that agrees with the claim. Its
row has one of three statuses:

  shown           the simulation agrees with the claim
  not met         it was simulated and does not agree; the row says why
  not simulated   the row says what is missing

A study that trains is tuned: its scenario sweeps the learning rate, and the rate of a row is the one that is best on
the seeds 11, 12, 13, while the row shows the seeds of the scenario. A best rate at the edge of its grid makes the row
`not met`. A cell "a ± b" is a mean over seeds and their standard deviation; times of timing-only studies have none,
since nothing in them is random.
"""
import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from claims import decentralized, dgc, figures, page, related  # noqa: E402
from claims.studies import Studies  # noqa: E402

PAPERS = [dgc.PAPER, decentralized.PAPER, related.PAPER]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paceline")
    parser.add_argument("ids", nargs="*", metavar="ID")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--jobs", type=int)
    options = parser.parse_intermixed_args()
    claims = [claim for paper in PAPERS for claim in paper.claims]
    unknown = set(options.ids) - {claim.id for claim in claims}
    if unknown:
        sys.exit(f"claims: no claim {', '.join(sorted(unknown))}; there are {claims[0].id} to {claims[-1].id}")

    studies = Studies(options.paceline, options.jobs)
    if options.ids:
        for claim in claims:
            if claim.id in options.ids:
                print(page.in_words(claim, claim.outcome(studies)))
        return
    if options.check:
        wrong = page.differences(PAPERS, studies)
        if wrong:
            sys.exit("claims: docs/claims.md is not what the studies give; run `make claims`\n" + "\n".join(wrong))
        return
    page.write(PAPERS, studies)
    figures.draw(studies)


if __name__ == "__main__":
    main()

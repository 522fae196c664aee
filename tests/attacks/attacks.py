#!/usr/bin/env python3
"""Attacks paceline as users, their machines and their disks do, and checks that it does not fall over.

    tests/attacks/attacks.py PACELINE              all attacks
    tests/attacks/attacks.py PACELINE --only WORD  those whose name has the word

An attack is a function of attack_*.py in this folder, with a sentence as its first line. It gets an Arena: a new folder
with a small study, and the program. It fails by an assertion, or by raising Skipped with the reason why it cannot run
here. In every attack, whatever the program is given, it must end by itself with an exit code from 0 to 2 (128 + N after
signal N), and what it says must be lines without control characters and without "internal error".

The random moments of kills are from a fixed seed. All attacks together take about a minute.
"""

import argparse
import importlib
import os
import sys
import time
import traceback
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))
from arena import Arena, Skipped  # noqa: E402: from this folder

FAMILIES = ["attack_server", "attack_streams", "attack_signals", "attack_folders", "attack_limits", "attack_texts", "attack_kills",
            "attack_imports"]


def attacks(only):
    for family in FAMILIES:
        module = importlib.import_module(family)
        for name, function in vars(module).items():
            if callable(function) and function.__module__ == family and not name.startswith("_"):
                if only in f"{family} {name} {function.__doc__}":
                    yield function.__doc__.splitlines()[0], function


def run(program, title, function):
    """Returns "ok", "skipped: why" or "FAILED"."""
    begin = time.monotonic()
    try:
        with Arena(program) as arena:
            function(arena)
        outcome = "ok"
    except Skipped as reason:
        outcome = f"skipped: {reason}"
    except Exception:  # whatever goes wrong, the other attacks follow
        traceback.print_exc()
        outcome = "FAILED"
    print(f"{time.monotonic() - begin:6.1f} s  {outcome:8}  {title}", flush=True)
    return outcome


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paceline")
    parser.add_argument("--only", default="", help="a word in the name")
    options = parser.parse_args()
    program = os.path.abspath(options.paceline)
    outcomes = [run(program, title, function) for title, function in attacks(options.only)]
    failed = outcomes.count("FAILED")
    skipped = sum(outcome.startswith("skipped") for outcome in outcomes)
    print(f"{len(outcomes) - failed - skipped} attacks withstood, {failed} not, {skipped} skipped")
    return 1 if failed or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main())

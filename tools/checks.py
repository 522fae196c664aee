#!/usr/bin/env python3
"""Runs the checks that docs/checks.md lists: its tables are the only list of them.

    tools/checks.py                   list the checks and the minutes of each stage
    tools/checks.py NAME...           run these checks
    tools/checks.py --stage STAGE...  run those of these stages, such as sources
    tools/checks.py --self-test       check that a failure, a fault of the table and the order of a run are noticed

A heading `## stage: ...` begins a stage, and each row of its tables is a check:

    | `name` | needs | cores | minutes | `command` | what it protects |

`needs` are checks of the stage `parts`, each of which builds something, or "-". `cores` is 1, or "all" if the command uses every core. `minutes` is
what the check may take on two quiet cores; whoever adds a check measures it. A command is run by bash at the root.

Checks start in the order of the page, as many side by side as there are cores, each part before the first check that
needs it. Output appears when a check ends, or at once if nothing runs beside it. The first failure ends the
others, and the exit code is then 1.
"""

import argparse
import itertools
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import namedtuple
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "checks.md"
HEADING = re.compile(r"^## (\w+):")
CODE = re.compile(r"`([^`]+)`")
MINUTES = re.compile(r"\d+(\.\d+)?")

Check = namedtuple("Check", "name stage needs cores minutes command protects")


class Fault(Exception):
    pass


def read_checks(text):
    """Returns the checks of the page, in its order."""
    checks, stage = [], None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("## "):
            heading = HEADING.match(line)
            stage = heading and heading[1]
        if not stage or not line.startswith("| `"):
            continue
        cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
        if len(cells) != 6:
            raise Fault(f"line {number}: a check has 6 cells, here are {len(cells)}")
        name, needs, cores, minutes, command, protects = cells
        needs = [] if needs == "-" else needs.split(", ")
        parts = [check.name for check in checks if check.stage == "parts"]
        if set(needs) - set(parts):
            raise Fault(f"line {number}: {', '.join(needs)}: the parts above are {', '.join(parts)}")
        if cores not in ("1", "all") or not MINUTES.fullmatch(minutes):
            raise Fault(f"line {number}: cores are 1 or all, minutes a number; here are {cores} and {minutes}")
        if not CODE.fullmatch(name) or not CODE.fullmatch(command) or not protects:
            raise Fault(f"line {number}: the name and the command stand in backquotes, and a check says what it protects")
        checks.append(Check(name[1:-1], stage, needs, cores, float(minutes), command[1:-1], protects))
        if sum(check.name == checks[-1].name for check in checks) > 1:
            raise Fault(f"line {number}: {name} stands there twice")
    return checks


def budget(checks, cores=2):
    """Returns the minutes that the checks may take on two cores."""
    return sum(check.minutes / (cores if check.cores == "1" else 1) for check in checks)


def with_parts(wanted, checks):
    """Returns the checks that are wanted, each part before the first that needs it, or before those beside which that runs."""
    parts = {check.name: check for check in checks if check.stage == "parts"}
    steps = []
    for i, check in enumerate(wanted):
        beside = itertools.takewhile(lambda other: other.cores == "1", wanted[i + 1:] if check.cores == "1" else [])
        needs = {name for one in (check, *beside) for name in one.needs}
        steps += [part for name, part in parts.items() if name in needs and part not in steps]
        steps.append(check)
    return steps


class Running:
    """A step that has been started, in a process group of its own."""

    def __init__(self, step, alone):
        self.step, self.begin = step, time.monotonic()
        self.output = None if alone else tempfile.TemporaryFile()
        print(f"=== {step.name}: {step.command}", flush=True)
        command = ["env", "--default-signal", "bash", "-euo", "pipefail", "-c", step.command]  # even where a shell ignores some
        self.process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL,
                                        stdout=self.output, stderr=self.output and subprocess.STDOUT, start_new_session=True)

    def end(self):
        """Ends what still runs of it."""
        try:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(10)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass

    def report(self):
        """Prints what it said, and one line for the summary."""
        if self.output:
            self.output.seek(0)
            sys.stdout.buffer.write(self.output.read())
        seconds = time.monotonic() - self.begin
        failed = self.process.returncode != 0
        print(f"=== {self.step.name:<18}{'failed after' if failed else ''} {seconds:5.0f} s of {self.step.minutes:4.1f} min  "
              f"{self.step.protects}", flush=True)
        return not failed


def run(steps, cores):
    """Runs the steps; returns whether all passed."""
    waiting, running = list(steps), []
    try:
        while waiting or running:
            free = cores - sum(cores if one.step.cores == "all" else 1 for one in running)
            if waiting and free >= (cores if waiting[0].cores == "all" else 1):
                step = waiting.pop(0)
                running.append(Running(step, step.cores == "all" or len(steps) == 1))
                continue
            ended = [one for one in running if one.process.poll() is not None]
            if not ended:
                time.sleep(0.05)
            for one in ended:
                running.remove(one)
                if not one.report():
                    return False
        return True
    finally:
        for one in running:
            one.end()


SELF_TEST = """\
# Page
| `not` | a check: it stands before the first stage |

## parts: a
| `x` | - | all | 3 | `true` | the rest |
| `y` | - | all | 1 | `true` | the rest |

## one: a
| check | needs | cores | minutes | command | protects |
|---|---|---|---|---|---|
| `a` | - | 1 | 0.5 | `sleep 0.3` | u |
| `b` | x, y | all | 2 | `true` | v |

## Two
| `not` | either |
"""


def self_test():
    checks = read_checks(SELF_TEST)
    own = with_parts(checks[2:], checks)
    assert [check.name for check in own] == ["a", "x", "y", "b"] and budget(own) == 6.25
    beside = with_parts([checks[2], checks[2]._replace(name="c", needs=["y"]), checks[3]], checks)
    assert [check.name for check in beside] == ["y", "a", "c", "x", "b"]
    for old, new in (("| 0.5", "| soon"), ("| 1 |", "| 3 |"), ("x, y", "z"), ("`b`", "`a`"), (" | v", " | v | w"), ("`sleep 0.3`", "sleep 0.3")):
        try:
            read_checks(SELF_TEST.replace(old, new))
        except Fault:
            continue
        raise AssertionError(f"{new} was taken")
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        commands = {"a": f"sleep 0.3; echo a >>{log}", "b": f"echo b >>{log}", "all": f"echo all >>{log}", "c": "false", "d": f"echo d >>{log}"}
        steps = [checks[2]._replace(name=name, command=command, cores="all" if name == "all" else "1") for name, command in commands.items()]
        begin, real = time.monotonic(), os.dup(1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what the steps print
        passed = [run(steps[:3], 2), run([steps[3], *[steps[0]._replace(command="sleep 60")] * 2], 2), run(steps[3:], 1)]
        os.dup2(real, 1)
        assert passed == [True, False, False] and time.monotonic() - begin < 30
        assert log.read_text() == "b\na\nall\n", log.read_text()
    print("checks: the self-test found every fault that it made")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--stage", action="append", default=[])
    parser.add_argument("--self-test", action="store_true")
    chosen = parser.parse_args()
    if chosen.self_test:
        return self_test()
    try:
        checks = read_checks(PAGE.read_text(encoding="utf-8"))
    except Fault as fault:
        sys.exit(f"checks: {PAGE.relative_to(ROOT)}: {fault}")
    unknown = ({*chosen.names} - {check.name for check in checks}) | ({*chosen.stage} - {check.stage for check in checks})
    if unknown:
        sys.exit(f"checks: no check or stage is named {', '.join(sorted(unknown))}; `make checks` lists them")
    if not chosen.names and not chosen.stage:
        for stage in dict.fromkeys(check.stage for check in checks):
            own = [check for check in checks if check.stage == stage]
            minutes = budget(with_parts(own, checks))
            print(f"{stage}: {minutes:.1f} minutes", *(f"  {check.name:<18}{check.protects}" for check in own), sep="\n")
        return None
    wanted = [check for check in checks if check.name in chosen.names or check.stage in chosen.stage]
    return 0 if run(with_parts(wanted, checks), os.cpu_count() or 1) else 1


if __name__ == "__main__":
    sys.exit(main())

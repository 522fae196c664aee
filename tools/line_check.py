"""Shared by check_layers.py and check_numerics.py: checkers that read C++ files line by line, and their self-tests."""

import argparse
import sys
import tempfile
from pathlib import Path


def faults_of_lines(check, cases):
    """Returns the faults that check(root) finds in a temporary tree made of (file, its line 2)."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for file, line in cases:
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text(f"// line 1\n{line}\n", encoding="utf-8")
        return check(root)[1]


def self_test(check, good, bad):
    """Returns a line for each good case that is refused and each bad one that is not refused exactly once."""
    wrong = [f"refused, but good: {fault}" for fault in faults_of_lines(check, good)]
    faults = faults_of_lines(check, bad)
    for file, line in bad:
        count = sum(fault.startswith(f"{file}:2: ") for fault in faults)
        if count != 1:
            wrong.append(f"refused {count} times, not once: {file}: {line}")
    return wrong


def main(name, doc, check, good, bad, *, of_what, done, more=lambda *rest: []):
    """The command line of a checker: `check(root)` returns (number of files, faults, ...). Returns the exit code.

    `more` receives what check() returns after the faults, and finds faults in the checker's own lists.
    """
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).parent.parent)
    parser.add_argument("--self-test", action="store_true", help="check the checker itself")
    arguments = parser.parse_args()

    if arguments.self_test:
        faults = self_test(check, good, bad)
        said = f"{name}: refuses {len(bad)} bad {of_what}, accepts {len(good)} good ones"
    else:
        count, faults, *rest = check(arguments.root)
        if count == 0:
            faults = [f"{arguments.root}: no C++ file found: nothing was checked"]
        faults = faults + more(*rest)
        said = f"{name}: {count} files, {done}"
    print("\n".join(faults) if faults else said)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit("line_check.py is used by check_layers.py and check_numerics.py")

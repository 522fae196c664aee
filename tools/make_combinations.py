#!/usr/bin/env python3
"""Writes the tables of docs/combinations.md, from the rules in the program.

    tools/make_combinations.py PACELINE            rewrite the tables
    tools/make_combinations.py PACELINE --check    exit 1 if they differ from what the program says

The tables stand between two comments on the page. A cell that is empty is an error.
"""

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "combinations.md"
BEGIN, END = "<!-- tables: tools/make_combinations.py -->", "<!-- end of tables -->"


def empty_cells(tables):
    """Returns the lines that have an empty cell anywhere but in the corner of a table."""
    lines = [line for line in tables.splitlines() if line.startswith("|")]
    return [line for line in lines if re.search(r"\|\s*\|", line.replace("| |", "|x|", 1) if line.startswith("| |") else line)]


def with_tables(page, tables):
    before, rest = page.split(BEGIN)
    return before + "\n".join([BEGIN, "", tables.rstrip("\n"), "", END]) + rest.split(END, 1)[1]


def main(arguments):
    if len(arguments) not in (1, 2) or arguments[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    tables = subprocess.run([arguments[0], "list", "combinations"], check=True, capture_output=True, text=True).stdout
    if empty_cells(tables):
        sys.exit("make_combinations: an empty cell: " + empty_cells(tables)[0])
    page = PAGE.read_text()
    made = with_tables(page, tables)
    if made == page:
        return
    if len(arguments) == 2:
        sys.exit("make_combinations: docs/combinations.md is not what the program says; run `make reference`")
    PAGE.write_text(made)


if __name__ == "__main__":
    main(sys.argv[1:])

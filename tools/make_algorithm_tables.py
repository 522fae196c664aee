#!/usr/bin/env python3
"""Writes the tables of algorithms in docs/algorithms.md and docs/failures.md, from the program's table.

    tools/make_algorithm_tables.py PACELINE            rewrite the tables
    tools/make_algorithm_tables.py PACELINE --check    exit 1 if one differs from what the program says

A table stands between two comments on its page.
"""

import json
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"
BEGIN, END = "<!-- table: tools/make_algorithm_tables.py -->", "<!-- end of table -->"

# What a row of the table says with "when_nodes_die", in the order of the page, and the values of "on_death" that go with it.
WHEN_NODES_DIE = {
    "reruns-replicas": ("the survivors run the exchange again; the mean is of their gradients; the model is the same on all", "all three"),
    "reruns-models": ("the survivors run the average again; each node has its own model between two averages", "all three"),
    "renormalizes": ("a node averages with its live neighbors; the weight of a missing neighbor is added to the node's own, so rows sum to 1",
                     "`go-on`, `restart`"),
    "loses-shares": ("shares go to live nodes; what the dead node held is lost", "`go-on`, `restart`"),
    "skips": ("exchanges with absent nodes do not take place; an exchange that a failure interrupts leaves the other's model as it is",
              "`go-on`, `restart`"),
    "server-goes-on": ("the server serves live nodes; rounds of clients ask `over_selection` times as many as they need, and keep the first",
                       "`go-on`, `restart`"),
    "cannot-go-on": ("it cannot go on: owners of shards of the vector, or copies of the neighbors' models, would be missing", "`restart`"),
}


def names(algorithms):
    return ", ".join(f"`{algorithm['name']}`" for algorithm in algorithms)


def families_table(families):
    rows = [f"| [{one['family']}](algorithms/{one['family']}.md): {one['summary']} | {names(one['algorithms'])} |" for one in families]
    return ["| page | algorithms |", "|---|---|", *rows]


def failures_table(families):
    algorithms = [algorithm for one in families for algorithm in one["algorithms"]]
    lines = ["| when a node dies | algorithms | `on_death` |", "|---|---|---|"]
    for when, (what, on_death) in WHEN_NODES_DIE.items():
        those = [algorithm for algorithm in algorithms if algorithm["when_nodes_die"] == when]
        lines.append(f"| {what} | {names(those)} | {on_death} |")
    unknown = {algorithm["when_nodes_die"] for algorithm in algorithms} - set(WHEN_NODES_DIE)
    if unknown:
        sys.exit(f"make_algorithm_tables: WHEN_NODES_DIE has no sentence for {', '.join(sorted(unknown))}")
    return lines


TABLES = {"algorithms.md": families_table, "failures.md": failures_table}


def with_table(page, lines):
    before, rest = page.split(BEGIN)
    return before + "\n".join([BEGIN, "", *lines, "", END]) + rest.split(END, 1)[1]


def main(arguments):
    if len(arguments) not in (1, 2) or arguments[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    said = subprocess.run([arguments[0], "list", "algorithms", "--json"], check=True, capture_output=True, text=True).stdout
    families = json.loads(said)
    wrong = []
    for name, table in TABLES.items():
        page = (DOCS / name).read_text()
        made = with_table(page, table(families))
        if made == page:
            continue
        wrong.append(f"docs/{name}")
        if len(arguments) == 1:
            (DOCS / name).write_text(made)
    if wrong and len(arguments) == 2:
        sys.exit(f"make_algorithm_tables: not what the program says: {', '.join(wrong)}; run `make reference`")


if __name__ == "__main__":
    main(sys.argv[1:])

"""CSV with a cable a row: from,to,bandwidth[,latency][,efficiency]."""

import csv
import fnmatch
import io

from .network import Network
from .values import Fault, bits_of, efficiency_of, link, name_list, ps_of, shown

COLUMNS = ("from", "to", "bandwidth", "latency", "efficiency")


def is_kind(text):
    first = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    columns = [cell.strip().lower() for cell in first.split(",")]
    return {"from", "to", "bandwidth"} <= set(columns)


def rows_of(text, file):
    """Returns (line, {column: value}) of each row, and the columns that are not read."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip() and not line.startswith("#")]
    try:
        read = [next(csv.reader(io.StringIO(line)), []) for _, line in lines]
    except csv.Error as error:
        raise Fault(f"{file}: is not CSV: {error}") from None
    head = [cell.strip().lower() for cell in read[0]] if read else []
    for column in COLUMNS[:3]:
        if head.count(column) != 1:
            raise Fault(f"{file}: line {lines[0][0] if lines else 1}: has no column \"{column}\", or several; the first row is "
                        "from,to,bandwidth and, if known, latency and efficiency")
    rows = []
    for (number, _), cells in zip(lines[1:], read[1:]):
        if len(cells) != len(head):
            raise Fault(f"{file}: line {number}: has {len(cells)} cells, and the first row {len(head)}")
        rows.append((number, dict(zip(head, (cell.strip() for cell in cells)))))
    return rows, [column for column in head if column not in COLUMNS]


def is_node(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def read(files, texts, options):
    file = files[0]
    network = Network(file, "CSV of cables")
    rows, unread = rows_of(texts[0], file)
    ends = {}
    for number, row in rows:
        for end in (row["from"], row["to"]):
            if not end:
                raise Fault(f"{file}: line {number}: an end of the cable has no name")
            ends[end] = ends.get(end, 0) + 1
    patterns = [one.strip() for one in options.nodes.split(",")] if options.nodes else None
    nodes = {name for name, cables in ends.items() if (is_node(name, patterns) if patterns else cables == 1)}
    for name in ends:
        (network.node if name in nodes else network.switch)(name)
    if not patterns:
        network.say(f"nodes are the {len(nodes)} names with one cable; --nodes states others")
    for number, row in rows:
        place = f"{file}: line {number}"
        if row["from"] == row["to"]:
            raise Fault(f"{place}: joins {shown(row['from'])} to itself; a cable has two different ends")
        network.cable(row["from"], row["to"], link(
            bits_of(row["bandwidth"], place), ps_of(row["latency"], place) if row.get("latency") else 0,
            efficiency_of(row["efficiency"], place) if row.get("efficiency") else 1))
    if unread:
        network.leave_out(f"columns {name_list(unread)}")
    return network

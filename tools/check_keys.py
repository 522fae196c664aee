#!/usr/bin/env python3
"""Compares the tables of keys on the pages of docs/ with scenarios/scenario.schema.json.

    tools/check_keys.py      exit 1 and name each disagreement

A table of keys has a column "key" or "option", and one of defaults. Of each row:

- The keys must be keys of what the table is about: of the kinds in the heading above it, or of what PLACES says.
- The default must be the schema's: a value, or "required". If the schema has a sentence for it, both must begin alike.
- The values must be the schema's: a range such as "[0, 1)", "above 0" or "1 to 64", or all names, in backquotes. A page
  may leave out an upper bound of a million or more, which only guards against overflow.

Other words in these cells are not compared.

Every key of an algorithm must stand in its section, on the page before the first section, or in a section that it refers
to by "the others | | | as X". The section is the one whose heading names the kind, or else the first whose text does.
Common keys, such as "codec" and "label", need not.
"""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = ROOT / "scenarios" / "scenario.schema.json"
FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.M | re.S)
KIND = re.compile(r'"kind": "([^"]+)"')
ON_NO_PAGE = {"kind", "label", "optimizer", "codec", "aggregation", "schedule"}
OVERFLOW = 1_000_000
OF_THE_ALGORITHM = "that of the algorithm"  # a page says which one

# What tables are about whose heading names no kind: by page, and heading or bold word above. "family" stands for all algorithms of the
# page; a "*" for the kinds in the column "of" or "kind".
PLACES = {
    ("docs/algorithms/compressed.md", "Codecs"): ["codec-*"],
    ("docs/algorithms/decentralized.md", "Requirements on W"): ["family"],
    ("docs/algorithms/sparse.md", "codec"): ["codec-dgc"],
    ("docs/algorithms/local.md", "Local methods"): ["family"],
    ("docs/failures.md", 'Options of "cluster.failures"'): ["failures"],
    ("docs/links.md", 'Links that change: `"cluster.access"`'): ["access-*"],
    ("docs/models/compute.md", "Transformers by their sizes"): ["decoder"],
    ("docs/shared-networks.md", 'Other jobs: `"other_jobs"`'): ["other_job"],
    ("docs/shared-networks.md", 'Background traffic: `"cluster.background"`'): ["background-constant", "background-on-off"],
    ("docs/shared-networks.md", 'Cells: the fabric `"cell"`'): ["cell"],
    ("docs/training.md", "workload"): ["workload"],
    ("docs/training.md", "stand_in_for"): ["stand-in"],
    ("docs/training.md", "optimizer"): ["optimizer"],
    ("docs/training.md", "measure"): ["measure"],
    ("docs/training.md", "stop"): ["stop"],
}


class Schema:
    def __init__(self, schema):
        self.definitions = schema["definitions"]
        kinds = [self.name(one) for one in self.definitions["algorithm"]["oneOf"]]
        self.kinds = [kind for kind in kinds if kind != "own-part"]

    @staticmethod
    def name(reference):
        return reference["$ref"].rsplit("/", 1)[-1]

    def resolved(self, node):
        """Returns a property with references followed; keys beside a reference take precedence."""
        while "$ref" in node or "allOf" in node:
            beside = dict(node)
            inner = beside.pop("allOf", None)
            target = inner[0] if inner else self.definitions[self.name({"$ref": beside.pop("$ref")})]
            node = {**target, **beside}
        return node

    def alternatives(self, node):
        """Yields a node and all that it may be: its "oneOf", and theirs."""
        yield node
        for part in node.get("oneOf", []):
            yield from self.alternatives(self.resolved(part))

    def property(self, definition, path):
        """Returns the property at a dotted path, and whether it is required; nothing if there is none."""
        node = self.definitions[definition]
        for key in path.split("."):
            node = next((part for part in self.alternatives(node) if key in part.get("properties", {})), None)
            if node is None:
                return None
            required = key in node.get("required", [])
            node = self.resolved(node["properties"][key])
        return node, required

    def names(self, node):
        """Returns the names that a property can have."""
        node = self.resolved(node)
        names = [str(name) for name in node.get("enum", [])]
        if isinstance(node.get("const"), str):
            names.append(node["const"])
        return names + [name for part in node.get("oneOf", []) for name in self.names(part)]


def cells(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def tables(text):
    """Yields each table as (heading, bold word right above, header, rows)."""
    heading, above, header, rows = "", "", None, []
    for line in [*FENCE.sub("", text).splitlines(), ""]:
        if line.startswith("|"):
            if header is None:
                header = cells(line)
            else:
                rows.append(cells(line))
            continue
        if header is not None:
            yield heading, above, header, rows[1:]
            header, rows, above = None, [], ""
        if line.startswith("#"):
            heading, above = line.lstrip("#").strip(), ""
        elif line.strip():
            bold = re.match(r"\*\*`(\w+)`\*\*", line)
            above = bold.group(1) if bold else ""


def parts(text, count):
    """Returns the claim of a cell for each of several keys."""
    pieces = re.split(r", (?![^\[(]*[\])])", text)  # not within "[0, 1)"
    return pieces if count > 1 and len(pieces) == count else [text] * count


def same_value(said, value):
    if isinstance(value, bool):
        return said == ("true" if value else "false")
    if isinstance(value, (int, float)):
        try:
            return float(said) == value
        except ValueError:
            return False
    return said == value


def first_word(text):
    return re.match(r'[`"]*([^`";:,(\s]*)', text).group(1).rstrip(".")


def default_fault(said, node, required):
    """Returns what is wrong with a default that a page states; nothing if it agrees, or says no value."""
    default = node.get("default")
    if said == "" or re.match(r"(as|see|with) |one (of|is) ", said):
        return None
    if said == "required":
        return None if required else "the schema does not require it"
    if required:
        return None if said.startswith("required of") else "the schema requires it"
    if said.startswith("required"):
        return None if default is None else f"the schema has the default {json.dumps(default)}"
    word = first_word(said)
    if default is not None:
        return None if same_value(word, default) else f"the schema has the default {json.dumps(default)}"
    sentence = re.search(r"[Dd]efault: (.*)", node.get("description", ""))
    if sentence:
        words = sentence.group(1)
        agrees = said == "-" or first_word(words) == word or word == "none" and words.startswith("no ") or words == OF_THE_ALGORITHM
        return None if agrees else f"the schema says: default {words}"
    return None if said in ("-", "none", "never") else "the schema has no default"


def bounds_of(node):
    low = node.get("exclusiveMinimum", node.get("minimum"))
    high = node.get("exclusiveMaximum", node.get("maximum"))
    return low, "exclusiveMinimum" in node, high, "exclusiveMaximum" in node


NUMBER = r"(-?\d+(?:\.\d+)?)"
RANGES = [  # a pattern, and the bounds (low, is it left out, high, is it left out) by its groups
    (rf"([\[(]){NUMBER}, {NUMBER}([\])])", lambda m: (float(m[2]), m[1] == "(", float(m[3]), m[4] == ")")),
    (rf"above {NUMBER}, at most {NUMBER}", lambda m: (float(m[1]), True, float(m[2]), False)),
    (rf"{NUMBER} to {NUMBER}", lambda m: (float(m[1]), False, float(m[2]), False)),
    (rf"above {NUMBER}", lambda m: (float(m[1]), True, None, False)),
    (rf"(?:from|at least) {NUMBER}|{NUMBER} or more", lambda m: (float(m[1] or m[2]), False, None, False)),
]


def said_bounds(said):
    """Returns the bounds that a cell states, such as "steps, 1 or more"; nothing if it states none."""
    for pattern, bounds in RANGES:
        found = re.fullmatch(rf"(?:[a-z ]+, )?(?:{pattern})(?:[,;] [a-z].*)?", said)
        if found:
            return bounds(found)
    return None


def shown(bounds):
    low, above, high, below = bounds
    return f"{'(' if above else '['}{low}, {high}{')' if below else ']'}"


def values_fault(said, node, schema):
    """Returns what is wrong with the values that a page states; nothing if they agree, or are other words."""
    pieces = said.split(", ")
    if all(re.fullmatch(r"`[\w.-]+`", piece) for piece in pieces):
        names = schema.names(node)
        if {piece.strip("`") for piece in pieces} != set(names):
            return f"the schema has {', '.join(names) or 'no names'}"
        return None
    stated = said_bounds(said)
    if stated is None:
        return None
    in_schema = bounds_of(node)
    low, above, high, below = in_schema
    agrees = stated[:2] == (low, above) and (stated[2:] == (high, below) or stated[2] is None and (high is None or high >= OVERFLOW))
    return None if agrees else f"the schema has {shown(in_schema)}"


def definitions_of(page, heading, above, row, header, family, schema):
    """Returns the definitions that a row is about; nothing if nobody says."""
    kinds = [kind for kind in KIND.findall(heading) if kind in schema.kinds]
    if kinds and (page, above) not in PLACES:
        return kinds
    names = PLACES.get((page, above or heading))
    if names == ["family"]:
        return family
    if names and names[0].endswith("*"):
        column = header.index("of" if "of" in header else "kind")
        stem = names[0][:-1]
        of = [name for name in re.findall(r"`([\w-]+)`", row[column]) if not row[column].startswith("all but")]
        return [stem + kind for kind in of] or [name for name in schema.definitions if name.startswith(stem)]
    return names


def row_faults(keys, claims, definitions, schema):
    """Yields the faults of a row, given what it claims of defaults and values."""
    defaults, values = (parts(claim, len(keys)) for claim in claims)
    for key, default, value in zip(keys, defaults, values):
        found = [found for found in (schema.property(name, key) for name in definitions) if found]
        if not found:
            yield f"`{key}`: {', '.join(definitions[:3])}: the schema has no such key"
        faults = [default_fault(default, node, required) for node, required in found]
        depends = None in faults and re.search(r"; | for ", default)  # one of the defaults that the definitions have
        for (node, required), fault in zip(found, faults):
            if fault and not depends:
                yield f"`{key}`: default {default}: {fault}"
            fault = values_fault(value, node, schema)
            if fault:
                yield f"`{key}`: values {value}: {fault}"


def table_faults(page, text, family, schema):
    for heading, above, header, rows in tables(text):
        key_column = next((i for i, name in enumerate(header[:2]) if name in ("key", "option")), None)
        if key_column is None or (page, above or heading) not in PLACES and not any("default" in name for name in header):
            continue
        columns = [next((i for i, name in enumerate(header) if word in name), None) for word in ("default", "values")]
        previous = [""] * len(header)
        for row in rows:
            row = [previous[i] if i < key_column and not cell else cell for i, cell in enumerate(row)]
            previous = row
            keys = [] if "`-" in row[key_column] else re.findall(r"`([\w.]+)`", row[key_column])
            if not keys:
                continue
            definitions = definitions_of(page, heading, above, row, header, family, schema)
            if not definitions:
                yield f"{page}: {above or heading}: no definition of the schema is known for this table (PLACES of tools/check_keys.py)"
                break
            claims = [row[column] if column is not None else "" for column in columns]
            for fault in dict.fromkeys(row_faults(keys, claims, definitions, schema)):
                yield f"{page}: {above or heading}: {fault}"


def sections(text):
    """Returns the text before the first section about a kind, and the section of each kind."""
    pieces = re.split(r"^(?=## )", text, flags=re.M)
    of_kind = {kind: piece for piece in reversed(pieces) for kind in KIND.findall(piece)}
    of_kind |= {kind: piece for piece in pieces for kind in KIND.findall(piece.split("\n", 1)[0])}
    before = ""
    for piece in pieces:
        if KIND.search(piece.split("\n", 1)[0]):
            break
        before += piece
    return before, of_kind


def missing_keys(page, text, family, schema):
    before, of_kind = sections(text)
    for kind in family:
        said = before + of_kind.get(kind, "")
        for other in re.findall(r"the others \|[ |]*as ([\w-]+)", said):
            said += of_kind.get(other.lower(), "")
        properties = schema.definitions[kind]["properties"]
        missing = [key for key in properties if key not in ON_NO_PAGE and not re.search(rf'[`"{{]{key}[`"]', said)]
        if missing:
            yield f"{page}: {kind}: nothing says {', '.join(f'`{key}`' for key in missing)}"


def problems(pages, schema):
    """Returns a line for each disagreement. Pages are texts by their path; docs/algorithms.md says which algorithms a page has."""
    families = dict(re.findall(r"^\| \[[^]]*\]\((algorithms/[^)]*)\)[^|]*\|([^|]*)\|", pages["docs/algorithms.md"], re.M))
    wrong = []
    for page, text in pages.items():
        family = re.findall(r"`([^`]*)`", families.get(page.removeprefix("docs/"), ""))
        wrong += table_faults(page, text, family, schema)
        wrong += missing_keys(page, text, family, schema)
    return wrong


def pages_of_repository():
    return {file.relative_to(ROOT).as_posix(): file.read_text() for file in sorted((ROOT / "docs").rglob("*.md"))}


def main(arguments):
    if arguments:
        print(__doc__, file=sys.stderr)
        return 2
    wrong = problems(pages_of_repository(), Schema(json.loads(SCHEMA.read_text())))
    for line in wrong:
        print(f"check_keys: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

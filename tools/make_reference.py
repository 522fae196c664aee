#!/usr/bin/env python3
"""Makes the pages that list every key of a scenario and what goes with what. They are committed without their tables.

    tools/make_reference.py FOLDER PACELINE    write FOLDER/reference.md: docs/reference.md and the tables of the schema,
                                               and FOLDER/combinations.md: docs/combinations.md and those of the program
    tools/make_reference.py --check            exit 1 if the schema cannot be laid out so

A section names definitions of the schema; one that no section names, or that two name, is an error,
and so is a key without a description, and a cell of the program's tables without a word.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = ROOT / "scenarios" / "scenario.schema.json"
DOCS = ROOT / "docs"
PAGE = DOCS / "reference.md"

EXAMPLES = {"duration": '"20us"', "bytes": '"25MiB"', "bandwidth": '"10Gbps"'}
UNITS = {"duration": "duration", "bytes": "bytes", "bandwidth": "bandwidth"}

# Small definitions, described where they are used.
INLINE = {"density", "label", "overhead", "density_law", "encoding", "selection", "coding_step",
          "selection_step", "selection_share", "count", "width", "data-seed", "target-loss",
          "swarm-exchange", "inner-optimizer", "outer-optimizer", "aggregation_choice", "schedule_choice", "own_messages", "own_codec", "no_codec", "no_pieces", "machines", "levels", "inside", "islands", "island-name", "inside-islands", "leave_out",
          "entry_bits", "coding", "slice", "in_flight", "slots", "buffer", "channels", "rings",
          "library_choice", "edges", "gradient-time"}

# Titles of definitions that are not their names.
TITLES = {"aggregation-kinds": "aggregation"}

# Values of keys that the program knows only to give a reason why it refuses them. Tables leave such keys out.
REFUSED = {"own_messages", "own_codec"}

# (title, pages with more detail, what is at which paths). The "kinds" of a definition are its "oneOf".
SECTIONS = [
    ("The cluster", [("models/network.md", "how the network is modeled")], [
        ("cluster", ["cluster"]),
        ("bus", ["cluster.bus"]),
        ("transport", ["cluster.transport"]),
        ("library", ["cluster.library"]),
        ("node_list", ["cluster.placement", "cluster.failures.nodes", "cluster.access[].nodes",
                       "cluster.fabric.other_links[].nodes", "other_jobs[].nodes"]),
        ("node_range", ["a node list"]),
    ]),
    ("Fabrics", [("models/fabrics.md#other-fabrics", "wires and routes"), ("shared-networks.md#cells-the-fabric-cell", "cells")], [
        ("fabric", ["cluster.fabric"]),
        ("other_links", ["cluster.fabric.other_links[]"]),
        ("cable", ["cluster.fabric.cables[]"]),
        ("region", ["cluster.fabric.regions[]"]),
    ]),
    ("Links", [("links.md", "jitter, loss, presets"), ("models/fabrics.md#link-presets", "where the presets come from")], [
        ("link", ["cluster.fabric.link", "cluster.bus.link", "and every other key named link, uplink, bottleneck, backhaul or server_link"]),
        ("jitter", ["cluster.fabric.link.jitter"]),
    ]),
    ("Links that change", [("links.md#links-that-change-clusteraccess", "traces, outages and their laws")], [
        ("access", ["cluster.access[]"]),
        ("outage", ["cluster.access[].schedule[]"]),
    ]),
    ("Levels above the machine", [("how-to/two-regions.md", "two regions"),
                                  ("models/fabrics.md#levels", "levels of fabrics")], [
        ("site", ["cluster.sites[]"]),
    ]),
    ("Classes of nodes", [("how-to/two-old-gpus.md", "two old GPUs and two new ones"),
                          ("models/machines.md#classes-of-nodes", "definitions")], [
        ("node-class", ["cluster.classes[]"]),
    ]),
    ("Slow nodes", [("stragglers.md", "what slow nodes cost, and all options")], [
        ("stragglers", ["cluster.stragglers", "cluster.stragglers[]"]),
        ("speeds", ["cluster.speeds", "cluster.speeds[]"]),
        ("compute_jitter", ["cluster.compute_jitter"]),
    ]),
    ("Failing nodes", [("failures.md", "what each algorithm does at a failure")], [
        ("failures", ["cluster.failures"]),
        ("absence", ["cluster.failures.schedule[]"]),
        ("absence_trace", ["cluster.failures.trace"]),
        ("checkpoint", ["cluster.failures.checkpoint"]),
    ]),
    ("Shared networks", [("shared-networks.md", "background traffic, jobs side by side")], [
        ("background", ["cluster.background[]"]),
        ("other_job", ["other_jobs[]"]),
    ]),
    ("Money and energy", [("models/metrics.md#money-and-energy", "the equations"), ("how-to/what-training-costs.md", "an example")], [
        ("price", ["price"]),
        ("power", ["power"]),
    ]),
    ("The workload", [("training.md#keys", "what combines with what"), ("models/compute.md", "the time of a gradient")], [
        ("workload", ["workload"]),
        ("time-by-batch", ["workload.step_time", "workload.gradient_time", "workload.stand_in_for.step_time",
                           "workload.stand_in_for.gradient_time"]),
        ("sized-net", ["workload.profile", "workload.stand_in_for.profile"]),
        ("decoder", ["workload.profile.transformer"]),
        ("own-device", ["workload.device", "workload.stand_in_for.device", "cluster.speeds.device"]),
        ("precision", ["workload.precision", "workload.stand_in_for.precision", "cluster.speeds.precision"]),
        ("recompute", ["workload.recompute", "workload.stand_in_for.recompute"]),
        ("stand-in", ["workload.stand_in_for"]),
    ]),
    ("Nets", [("models/learning.md#nets", "layers and initial values")], [("model", ["workload.model"])]),
    ("Data sets", [("models/learning.md#data", "what is generated"), ("training.md#data-files", "formats of files")], [
        ("data", ["workload.data"]),
        ("partition", ["workload.data.partition"]),
    ]),
    ("The optimizer", [("training.md#keys", "which methods use what")], [
        ("optimizer", ["optimizer"]),
        ("own-optimizer", ["algorithm.optimizer"]),
        ("schedule", ["optimizer.schedule", "algorithm.optimizer.schedule"]),
    ]),
    ("Algorithms", [("algorithms.md", "equations, costs and sources"), ("comparison.md", "all on one task")], [
        ("algorithm", ["algorithm"]),
    ]),
    ("Parts of algorithms", [("models/collectives.md#collectives-the-normative-table", "what each collective costs"), ("models/learning.md#mixings", "weights and spectral gaps"),
                             ("how-to/choose-what-travels.md", "how to choose them")], [
        ("codec", ["algorithm.codec"]),
        ("measured-coding", ["algorithm.codec.coding"]),
        ("coding-time", ["algorithm.codec.coding.encode", "algorithm.codec.coding.decode"]),
        ("aggregation-kinds", ["algorithm.aggregation"]),
        ("exchange-level", ["algorithm.aggregation.levels", "algorithm.aggregation.levels[]"]),
        ("exchange-schedule", ["algorithm.schedule"]),
        ("all_reduce", ["algorithm.aggregation.plan", "algorithm.all_reduce"]),
        ("parameter-server", ["algorithm.aggregation.plan", "algorithm.all_reduce"]),
        ("hierarchical", ["algorithm.aggregation.plan", "algorithm.all_reduce"]),
        ("ring-all-reduce", ["algorithm.aggregation.plan", "algorithm.all_reduce"]),
        ("pipelined-ring", ["algorithm.aggregation.plan", "algorithm.all_reduce"]),
        ("double-tree", ["algorithm.aggregation.plan", "algorithm.all_reduce"]),
        ("library_all_reduce", ["cluster.library.all_reduce"]),
        ("nccl", ["cluster.library.all_reduce"]),
        ("mixing", ["algorithm.mixing"]),
        ("mixing-in-turn", ["algorithm.mixing.in_turn[]"]),
        ("warm_up", ["algorithm.codec.warm_up"]),
        ("lattice-exchange", ["algorithm.exchange"]),
        ("inner-muon", ["algorithm.inner"]),
        ("outer-adam", ["algorithm.outer"]),
        ("island-level", ["algorithm.islands"]),
        ("inside-dense", ["algorithm.inside"]),
        ("inside-zero", ["algorithm.inside"]),
        ("own-part", ["algorithm", "algorithm.codec", "workload.model"]),
    ]),
    ("Measuring and stopping", [("training.md#keys", "targets and evaluations")], [
        ("measure", ["measure"]),
        ("stop", ["stop"]),
    ]),
]


OWN_PART = "#/definitions/own-part"  # stands beside the kinds of a table


class Failure(Exception):
    pass


class Schema:
    def __init__(self, schema):
        self.root = schema
        self.definitions = schema["definitions"]

    @staticmethod
    def name_of(reference):
        return reference.rsplit("/", 1)[-1]

    def resolved(self, node):
        """Returns a property with references followed; keys beside a reference take precedence."""
        while "$ref" in node or "allOf" in node:
            beside = dict(node)
            inner = beside.pop("allOf", None)
            target = inner[0] if inner else self.definitions[self.name_of(beside.pop("$ref"))]
            node = {**target, **beside}
        return node

    def kind_of(self, name):
        """Returns the value of "kind" in a definition; nothing if it has none."""
        return next(iter(names_of_kind(self.definitions[name])), None)

    def may_be_a_name(self, name):
        """Whether a definition is a choice of kinds, or the name of one, which stands for its defaults."""
        parts = self.definitions[name].get("oneOf", [])
        kinds = [self.kind_of(self.name_of(part["$ref"])) for part in parts if "$ref" in part and part["$ref"] != OWN_PART]
        return any(set(part["enum"]) == set(kinds) for part in parts if "enum" in part)

    def kinds(self, name):
        """Returns the alternatives of a definition; empty if it is not a choice of kinds."""
        parts = [part.get("$ref") for part in self.definitions[name].get("oneOf", []) if part.get("$ref") != OWN_PART]
        if self.may_be_a_name(name):
            parts = [part for part in parts if part is not None]
        if not parts or None in parts:
            return []
        return [self.name_of(part) for part in parts]


def title_of(name):
    return TITLES.get(name, name).replace("_", " ").replace("-", " ")


def names_of_kind(definition):
    """Returns what "kind" can be in a definition: the kind, and the names that stand for it with some keys."""
    kind = definition.get("properties", {}).get("kind", {})
    return [kind["const"]] if "const" in kind else kind.get("enum", [])


def slug(heading):
    """Returns GitHub's anchor for a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def code(value):
    return f"`{json.dumps(value)}`"


def cell(text):
    return text.replace("|", "\\|").replace("<unk>", "`<unk>`")


def bounds(node):
    """Returns the range of a number in mathematical notation."""
    low, high = node.get("minimum"), node.get("maximum")
    above, below = node.get("exclusiveMinimum"), node.get("exclusiveMaximum")
    if low is None and above is None and high is None and below is None:
        return ""
    if high is None and below is None:
        return f" >= {low:g}" if above is None else f" > {above:g}"
    number = (lambda x: str(x)) if node.get("type") == "integer" else (lambda x: f"{x:g}")
    left = f"({number(above)}" if above is not None else f"[{number(low)}"
    right = f"{number(below)})" if below is not None else f"{number(high)}]"
    return f" in {left}, {right}"


def list_text(schema, node, anchors):
    if isinstance(node["items"], list) or "minItems" in node and node.get("minItems") == node.get("maxItems"):
        return "pair" if node.get("maxItems") == 2 else "list"
    return f"list of {type_text(schema, node['items'], anchors)}"


def type_text(schema, node, anchors):
    """Describes a value's type in a few words, with a link if it has a section."""
    if "$ref" in node or "allOf" in node:
        name = schema.name_of(node["$ref"] if "$ref" in node else node["allOf"][0]["$ref"])
        if name in UNITS:
            return f"[{UNITS[name]}](#units)"
        if name in anchors:
            kind = schema.definitions[name].get("type", "")
            title = TITLES.get(name, name).replace("_", " ") + (" object" if kind == "object" and name in INLINE else "")
            return f"[{title}](#{anchors[name]})"
        return type_text(schema, schema.definitions[name], anchors)
    if "const" in node:
        return code(node["const"])
    if "enum" in node:
        return ", ".join(code(value) for value in node["enum"])
    for choice in ("oneOf", "anyOf"):
        if choice in node and "type" not in node:
            return ", or ".join(type_text(schema, part, anchors) for part in node[choice])
    if node.get("type") == "array":
        return list_text(schema, node, anchors)
    names = {"string": "text", "boolean": "`true`, `false`", "object": "object"}
    kind = node.get("type", "")
    text = names.get(kind, kind) + bounds(node)
    return text + (", even" if node.get("multipleOf") == 2 else "")


def default_and_description(schema, node, key, required):
    whole = schema.resolved(node)
    description = whole.get("description", "")
    if not description:
        raise Failure(f"{key}: no description")
    if required:
        return "**required**", description
    if "default" in whole:
        return code(whole["default"]), description
    said = re.search(r"(?:^|[;.] )[Dd]efault: ((?:[^.]|\.(?=\S))*)", description)
    if said:
        rest = (description[: said.start()] + description[said.end():]).strip(" ;.")
        return said.group(1), rest or "-"
    return "-", description


def sentence(text):
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def is_refused(node):
    return node.get("$ref", "").rsplit("/", 1)[-1] in REFUSED


def conditions(schema, definition):
    """Describes which keys are refused, and what the schema requires of keys in combination."""
    lines = []
    for key, node in definition["properties"].items():
        if is_refused(node):
            lines.append(f"`{key}` is {schema.resolved(node)['description']}.")
    for word, choice in (("exactly one of", "oneOf"), ("at least one of", "anyOf")):
        groups = [part["required"] for part in definition.get(choice, []) if set(part) == {"required"}]
        if groups:
            said = "; ".join(" and ".join(f"`{key}`" for key in group) for group in groups)
            lines.append(f"Required is {word}: {said}.")
    if "required" in definition.get("not", {}):
        lines.append("Not together: " + ", ".join(f"`{key}`" for key in definition["not"]["required"]) + ".")
    for key, others in definition.get("dependencies", {}).items():
        lines.append(f"`{key}` needs " + ", ".join(f"`{other}`" for other in others) + ".")
    if definition.get("minProperties") == 1:
        lines.append("At least one key is required.")
    return lines


def table(schema, name, definition, anchors, leave_out=()):
    rows = []
    for key, node in definition["properties"].items():
        if key in leave_out or is_refused(node):
            continue
        required = key in definition.get("required", [])
        if key == "kind":
            description, default = "which one", "**required**"
            if required and "const" in node:
                rows.append(f"| `kind` | {code(node['const'])} | **required** | |")
                continue
            if "description" in node or not required:
                default, description = default_and_description(schema, node, f"{name}.{key}", required)
        else:
            default, description = default_and_description(schema, node, f"{name}.{key}", required)
        anchor = f'<a id="{name}.{key}"></a>'
        rows.append(f"| {anchor}`{key}` | {cell(type_text(schema, node, anchors))} | {cell(default)} | {cell(description)} |")
    return ["| key | values | default | what it is |", "|---|---|---|---|", *rows, ""] if rows else []


def paths_text(paths):
    return ", ".join(f"`{path}`" if re.fullmatch(r"[a-z_.\[\]]+", path) else path for path in paths)


def pages_of_algorithms():
    """Returns where each algorithm's entry is: the heading that names its kind, otherwise the page that lists it."""
    pages = {}
    table_of_pages = (ROOT / "docs" / "algorithms.md").read_text()
    for page, kinds in re.findall(r"^\| \[[^]]*\]\((algorithms/[^)]*)\)[^|]*\|([^|]*)\|", table_of_pages, re.M):
        for kind in re.findall(r"`([^`]*)`", kinds):
            pages[kind] = page
    for file in sorted((ROOT / "docs" / "algorithms").glob("*.md")):
        for heading in re.findall(r"^## (.*)$", file.read_text(), re.M):
            for kind in re.findall(r'"kind": "([^"]*)"', heading):
                pages[kind] = f"algorithms/{file.name}#{slug(heading)}"
    return pages


def kind_entry(schema, family, name, anchors, pages):
    definition = schema.definitions[name]
    kind, *others = names_of_kind(definition)
    lines = [f"#### {title_of(family)} `{kind}`", ""]
    said = sentence(definition["description"]) if "description" in definition else ""
    more = f" [Entry]({pages[kind]})." if family == "algorithm" else ""
    if family == "algorithm" and kind not in pages:
        raise Failure(f"docs/algorithms: no entry of {kind}")
    if said or more:
        lines += [said + more, ""]
    if others:
        lines += [f"Also by {'a name that stands' if len(others) == 1 else 'names that stand'} for it with some keys: "
                  f"{', '.join(f'`{other}`' for other in others)} ([which](how-to/choose-what-travels.md#names-that-people-type)).", ""]
    keys = table(schema, name, definition, anchors, ("kind", "label", "optimizer") if family == "algorithm" else ("kind",))
    lines += keys if keys else ["No other keys.", ""]
    return lines + [line for text in conditions(schema, definition) for line in (text, "")]


def entry(schema, name, paths, anchors, pages):
    definition = schema.definitions[name]
    lines = [f"### {title_of(name)}", "", f"Path: {paths_text(paths)}."]
    if "description" in definition:
        lines[-1] += " " + sentence(definition["description"])
    lines.append("")
    kinds = schema.kinds(name)
    if kinds:
        one_of = [schema.kind_of(kind) for kind in kinds]
        lines += ["One of: " + ", ".join(f"[`{kind}`](#{slug(title_of(name) + ' ' + kind)})" for kind in one_of) + ".", ""]
        if name == "algorithm":
            lines += ["Every algorithm has `kind`, which is required, and may have `label` (its name in results; default: the kind) and, all but",
                      "`collective`, `optimizer` ([own optimizer](#own-optimizer)). Its other keys:", ""]
        else:
            alone = " A kind's name alone, such as `%s`, stands for an object without other keys." % json.dumps(one_of[1])
            lines += ["`kind` is required, and says which other keys there are:" if not schema.may_be_a_name(name) else
                      "`kind` is required in an object, and says which other keys there are." + alone, ""]
        for kind in kinds:
            lines += kind_entry(schema, name, kind, anchors, pages)
    elif "properties" in definition:
        lines += table(schema, name, definition, anchors)
        lines += [line for text in conditions(schema, definition) for line in (text, "")]
    else:
        lines += ["Values: " + type_text(schema, definition, anchors) + ".", ""]
    return lines


def check_all_are_said(schema):
    said = list(UNITS) + list(INLINE)
    for _, _, entries in SECTIONS:
        for name, _ in entries:
            said += [name, *schema.kinds(name)]
    for name in sorted(set(said) | set(schema.definitions)):
        if said.count(name) != (name in schema.definitions):
            raise Failure(f"definition {name}: in {said.count(name)} sections of tools/make_reference.py")


def contents():
    lines = ["## Contents", "", "- [Units](#units)", "- [The scenario](#the-scenario)"]
    for title, _, entries in SECTIONS:
        names = [title_of(name) for name, _ in entries]
        inner = ", ".join(f"[{name}](#{slug(name)})" for name in names)
        lines.append(f"- [{title}](#{slug(title)}): {inner}")
    return lines + [""]


def make(schema):
    check_all_are_said(schema)
    anchors = {}
    for _, _, entries in SECTIONS:
        for name, _ in entries:
            anchors[name] = slug(title_of(name))
            for kind in schema.kinds(name):
                anchors[kind] = slug(f"{title_of(name)} {schema.kind_of(kind)}")
    pages = pages_of_algorithms()
    introduction = PAGE.read_text()
    for name in UNITS:
        row = f"| {UNITS[name]} | {schema.definitions[name]['description']} | `{EXAMPLES[name]}` |"
        if row not in introduction:
            raise Failure(f"docs/reference.md lacks the row of units: {row}")
    lines = [""] + contents()
    lines += ["## The scenario", "", sentence(schema.root["description"]), ""]
    lines += table(schema, "scenario", schema.root, anchors)
    for title, more, entries in SECTIONS:
        lines += [f"## {title}", "", "More: " + ", ".join(f"[{text}]({page})" for page, text in more) + ".", ""]
        for name, paths in entries:
            lines += entry(schema, name, paths, anchors, pages)
    return introduction + "\n".join(lines).rstrip("\n") + "\n"


def page_of_keys():
    return make(Schema(json.loads(SCHEMA.read_text())))


def page_of_combinations(program):
    tables = subprocess.run([program, "list", "combinations"], check=True, capture_output=True, text=True).stdout
    for line in tables.splitlines():
        if re.search(r"\|\s*\|", line.replace("| |", "|x|", 1) if line.startswith("| |") else line):  # but in the corner of a table
            raise Failure(f"paceline list combinations: an empty cell: {line}")
    return (DOCS / "combinations.md").read_text() + "\n" + tables


def main(arguments):
    if len(arguments) != 2 and arguments != ["--check"]:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        pages = {"reference.md": page_of_keys()}
        if arguments == ["--check"]:
            return 0
        folder, program = Path(arguments[0]).resolve(), arguments[1]
        pages["combinations.md"] = page_of_combinations(program)
    except Failure as failure:
        print(f"make_reference: {failure}", file=sys.stderr)
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in pages.items():
        if folder == ROOT / "build" / "docs":  # to be read there; an installation has the other pages beside
            page = re.sub(r"\]\((?!#|[a-z]+:)", "](../../docs/", page)
        (folder / name).write_text(page)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

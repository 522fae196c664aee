#!/usr/bin/env python3
"""Checks results against their fingerprints: the same bytes on every machine, instruction set and number of threads.

Runs the scenarios of tests/fingerprints, which use everything that a scenario can name, and the shipped ones of
scenarios/, with long ones shortened. A file of tests/fingerprints/hashes holds the hashes of the tables that one of them
writes. Each scenario runs several times ("variants"): under every instruction set that PACELINE_ISA can choose, with
the functions that glibc chooses by CPU and without them, collectives then by events (PACELINE_EVENTS), on one thread and
on two. All variants must write the same bytes.

    tools/fingerprints.py PROGRAM            exit 1 if a table of any variant differs from its hash
    tools/fingerprints.py PROGRAM --write    run everything and write tests/fingerprints/hashes
    tools/fingerprints.py PROGRAM --compare  compare the variants with each other only, not with hashes
    tools/fingerprints.py PROGRAM --instruction-sets    print the values of PACELINE_ISA for this machine, one per line
    tools/fingerprints.py --self-test        check that a wrong hash, a wrong byte and a gap in the scenarios are found

    --set coverage|shipped|all    which scenarios (default: all)
    --only NAME,NAME              only these, such as nets or first-training
    --once                        in one variant: the program's own choice, on two threads
    --under "COMMAND"             run the program under a command such as "qemu-x86_64 -cpu Haswell", in one variant
    --keep FOLDER                 folder for the tables (default: build/fingerprints)
    --jobs NUMBER                 scenarios that run side by side (default: 1)
    --time-limit SECONDS          limit for one run (default: 300)
"""

import argparse
import collections
import concurrent.futures
import hashlib
import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COVERAGE = Path("tests/fingerprints")
SHIPPED = Path("scenarios")
LISTED = COVERAGE / "hashes"
SCHEMA = SHIPPED / "scenario.schema.json"
TABLES = ("results.csv", "timeline.csv", "summary.csv")

# Shortens shipped scenarios that take minutes to hours: with these settings a run takes at most about ten seconds.
SHORTENED = {
    "all-algorithms": ["stop.samples=4608", "cluster.fabric.link.preset=1GbE-tcp"],
    "bandwidth-what-if": ["cluster.nodes=16"],
    "compressors": ["stop.epochs=0.5"],
    "decentralized-speedup": ["stop.iterations=10", "cluster.nodes=16"],
    "decoupled-failures": ["stop.time=20h", "seed=1"],
    "dgc-accuracy": ["stop.epochs=0.5"],
    "dgc-accuracy-cnn": ["stop.iterations=11"],
    "dgc-accuracy-lstm": ["stop.iterations=30"],
    "dgc-time-to-accuracy": ["stop.epochs=0.5"],
    "failures": ["stop.time=5h"],
    "islands-training": ["stop.iterations=30", "cluster.fabric.link.bandwidth=1Gbps", "seed=1"],
    "language-models": ["stop.iterations=64", "cluster.fabric.link.bandwidth=1Gbps"],
    "large-batch": ["stop.epochs=5"],
    "mobile": ["stop.time=10min"],
    "money": ["cluster.fabric.link.bandwidth=25Gbps", "cluster.nodes=8"],
    "momentum-bias": ["stop.iterations=1500"],
    "momentum-bias-batch": ["stop.iterations=60"],
    "one-bit-lamb": ["stop.iterations=300"],
    "one-bit-training": ["stop.iterations=40"],
    "overlap-local-sgd": ["stop.iterations=60"],
    "sharding": ["cluster.fabric.link.bandwidth=100Gbps"],
    "slowmo": ["stop.epochs=1"],
    "streaming-diloco": ["cluster.fabric.link.bandwidth=10Gbps"],
}

# Without these CPU features glibc chooses other versions of exp, log, pow and the like. Results must not change.
GLIBC_MASK = "glibc.cpu.hwcaps=-FMA,-AVX2,-FMA4,-AVX512F"

# Names of the schema that the scenarios of tests/fingerprints need not use: link presets differ only in numbers.
NOT_NEEDED = {"preset"}

# The names of the lists of `paceline list`, and the scenario key whose "kind" each list names.
LISTS = {"algorithms": "algorithm", "fabrics": "fabric", "mixings": "mixing", "models": "model", "data": "data"}

Variant = collections.namedtuple("Variant", "name environment threads")


class Program:
    """The program under test, and the command that it runs under, if any."""

    def __init__(self, path, under="", time_limit=300):
        self.command = [*shlex.split(under), str(Path(path).resolve())]
        self.time_limit = time_limit

    def ask(self, *arguments):
        """Returns what the program prints, or ends this script if the program fails."""
        done = subprocess.run([*self.command, *arguments], cwd=ROOT, capture_output=True, text=True,
                              timeout=self.time_limit, check=False)
        if done.returncode != 0:
            sys.exit(f"fingerprints: {shlex.join([*self.command, *arguments])} failed: {done.stderr.strip()}")
        return done.stdout

    def instruction_sets(self):
        """Returns the values of PACELINE_ISA that this machine can run, or [""] if the program has no choice.

        `paceline --version` prints: instruction set: x86-64-v4 (of x86-64-v3, x86-64-v4)
        """
        found = re.search(r"^instruction set: .*\(of ([^)]*)\)", self.ask("--version"), re.MULTILINE)
        return [name.strip() for name in found.group(1).split(",")] if found else [""]

    def run(self, scenario, variant, folder):
        """Runs a scenario into a folder and returns the hash of each table that it writes."""
        shutil.rmtree(folder, ignore_errors=True)
        command = [*self.command, "run", str(scenario), "--out", str(folder), "--quiet", "--no-mpi", "--jobs", "1",
                   "--threads", str(variant.threads)]
        if scenario.parent == SHIPPED:
            command += [word for setting in SHORTENED.get(scenario.stem, []) for word in ("--set", setting)]
        environment = {key: value for key, value in os.environ.items()
                       if key not in ("PACELINE_ISA", "GLIBC_TUNABLES", "PACELINE_EVENTS")} | variant.environment
        try:
            done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True,
                                  timeout=self.time_limit, check=False)
        except subprocess.TimeoutExpired:
            sys.exit(f"fingerprints: {scenario} takes more than {self.time_limit} s; "
                     "a longer --time-limit allows it")
        if done.returncode != 0:
            sys.exit(f"fingerprints: {spelled(command, variant)} ended with {done.returncode}: {done.stderr.strip()}")
        return {table: hash_of(folder / table) for table in TABLES if (folder / table).exists()}


def spelled(command, variant):
    """Returns the command as a user would type it."""
    settings = [f"{key}={shlex.quote(value)}" for key, value in variant.environment.items()]
    return " ".join([*settings, shlex.join(command)])


def hash_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def variants_of(program, emulated=False, once=False):
    """Returns every combination of instruction set, glibc functions and threads, or only one."""
    if emulated:
        return [Variant("emulated", {}, 1)]
    if once:
        return [Variant("default", {}, 2)]
    found = []
    for isa, masked, threads in itertools.product(program.instruction_sets(), (False, True), (1, 2)):
        environment = {"PACELINE_ISA": isa} if isa else {}
        environment |= {"GLIBC_TUNABLES": GLIBC_MASK, "PACELINE_EVENTS": "1"} if masked else {}
        name = "-".join([isa or "default", *(["masked", "events"] if masked else []), f"{threads}t"])
        found.append(Variant(name, environment, threads))
    return found


def few_of(variants):
    """Returns a variant per instruction set, alternately masked on two threads and plain on one; both for a lone set.

    For scenarios that take long: every setting occurs, not every combination.
    """
    masked = [one for one in variants if "GLIBC_TUNABLES" in one.environment and one.threads == 2]
    plain = [one for one in variants if "GLIBC_TUNABLES" not in one.environment and one.threads == 1]
    if len(masked) < 2:
        return [*masked, *plain]
    return [pair[number % 2] for number, pair in enumerate(zip(masked, plain))]


def scenarios_of(which, only):
    """Returns the scenarios by name, such as scenarios/first-training."""
    found = []
    if which in ("coverage", "all"):
        found += sorted((ROOT / COVERAGE).glob("*.json"))
    if which in ("shipped", "all"):
        found += [path for path in sorted((ROOT / SHIPPED).glob("*.json"))
                  if path.name != SCHEMA.name]
    if only:
        unknown = set(only) - {path.stem for path in found}
        if unknown:
            sys.exit(f"fingerprints: no scenario is named {', '.join(sorted(unknown))}")
        found = [path for path in found if path.stem in only]
    return [path.relative_to(ROOT) for path in found]


def run_variants(program, scenario, variants, keep):
    """Runs a scenario in its variants. Returns {variant: {"scenarios/x/results.csv": hash}} and what to print."""
    begin = time.monotonic()
    name = scenario.with_suffix("")
    chosen = variants if scenario.parent == COVERAGE or len(variants) == 1 else few_of(variants)
    hashes = {}
    for variant in chosen:
        made = program.run(scenario, variant, keep / variant.name / name)
        hashes[variant.name] = {f"{name}/{table}": it for table, it in made.items()}
    return hashes, f"  {name}: {len(chosen)} variants, {time.monotonic() - begin:.1f} s"


def run_all(program, scenarios, variants, keep, jobs=1):
    """Runs scenarios, several side by side. Returns {variant: {"scenarios/x/results.csv": hash}}."""
    hashes = {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        try:
            for made, line in pool.map(lambda it: run_variants(program, it, variants, keep), scenarios):
                print(line, flush=True)
                for variant, tables in made.items():
                    hashes.setdefault(variant, {}).update(tables)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return hashes


def read_listed(folder):
    """Returns {"scenarios/x/results.csv": hash} of a folder with a file for each scenario, such as scenarios/x.txt."""
    files = sorted(folder.rglob("*.txt"))
    if not files:
        sys.exit(f"fingerprints: there are no hashes in {folder}; `make fingerprints` writes them")
    lines = [(file.relative_to(folder).with_suffix(""), line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return {f"{name}/{table}": it for name, line in lines for it, table in [line.split(maxsplit=1)]}


def write_listed(folder, hashes):
    """Writes a file for each scenario, and removes the others."""
    texts = collections.defaultdict(str)
    for name in sorted(hashes):
        texts[folder / Path(name).parent.with_suffix(".txt")] += f"{hashes[name]}  {Path(name).name}\n"
    for file in set(folder.rglob("*.txt")) - set(texts):
        file.unlink()
    for file, text in texts.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary = file.with_suffix(".tmp")
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, file)


def differences(hashes, listed, scenarios, keep):
    """Returns a line for each table that differs from its hash or between variants."""
    found = []
    prefixes = tuple(f"{scenario.with_suffix('')}/" for scenario in scenarios)
    order = list(hashes)
    names = sorted({name for made in hashes.values() for name in made})
    if listed is not None:
        names = sorted({*names, *(name for name in listed if name.startswith(prefixes))})
    for name in names:
        ran = [variant for variant in order if any(other.startswith(str(Path(name).parent) + "/")
                                                   for other in hashes[variant])]
        for variant in ran:
            made = hashes[variant].get(name, "no such table")
            if listed is not None and made != listed.get(name):
                found.append(f"{name}: {variant} gives {made}, "
                             f"{LISTED.name} says {listed.get(name, 'nothing')}: {keep / variant / name}")
        other = next((variant for variant in ran if hashes[variant].get(name) != hashes[ran[0]].get(name)), None)
        if other:
            found.append(f"{name}: {ran[0]} and {other} differ: "
                         f"diff {keep / ran[0] / name} {keep / other / name}")
    return found


def stale_lines(listed, root=ROOT):
    """Returns a line for each fingerprint of a scenario that no longer exists."""
    return [f"{name}: {LISTED.name} has it, and there is no such scenario" for name in listed
            if not (root / Path(name).parent).with_suffix(".json").exists()]


def used_names(scenario):
    """Returns {("algorithm.kind", "dense"), ("wire", "fp16"), ...}: the texts of a scenario, by key.

    A "kind" goes by the key of its object, because linear-regression is both a model and data. The keys of a
    sweep are paths, whose last part is the key.
    """
    found = set()

    def walk(value, key):
        if isinstance(value, dict):
            for name, inner in value.items():
                walk(inner, f"{key}.kind" if name == "kind" else name)
        elif isinstance(value, list):
            for inner in value:
                walk(inner, key)
        else:
            found.add((key, value))

    walk({key: value for key, value in scenario.items() if key != "sweep"}, "")
    for path, values in scenario.get("sweep", {}).items():
        parts = path.split(".")
        walk(values, ".".join(parts[-2:]) if parts[-1] == "kind" else parts[-1])
    return found


def names_of_schema(schema):
    """Returns what used_names() gives of a scenario that holds every text that the schema lists."""
    found, seen = set(), set()

    def walk(node, key):
        if "$ref" in node:
            name = node["$ref"].rsplit("/", 1)[-1]
            if (name, key) not in seen:
                seen.add((name, key))
                walk(schema["definitions"][name], key)
        found.update((key, value) for value in node.get("enum", []) if isinstance(value, str))
        if isinstance(node.get("const"), str):
            found.add((key, node["const"]))
        for inner in itertools.chain(*(node.get(word, []) for word in ("oneOf", "anyOf", "allOf"))):
            walk(inner, key)
        if isinstance(node.get("items"), dict):
            walk(node["items"], key)
        for name, inner in node.get("properties", {}).items():
            walk(inner, f"{key}.kind" if name == "kind" else name)

    walk(schema, "")
    return {(key, value) for key, value in found if key not in NOT_NEEDED}


def names_of_lists(program):
    """Returns the kinds that `paceline list` prints, in the same form."""
    found = set()
    for what, key in LISTS.items():
        names = re.findall(r"^  ([a-z0-9][a-z0-9-]*)  +\S", program.ask("list", what), re.MULTILINE)
        found |= {(f"{key}.kind", name) for name in names if name != "keys"}
    return found


def gaps(needed, scenarios):
    """Returns a line for each name that none of the scenarios uses."""
    used = set()
    for scenario in scenarios:
        used |= used_names(scenario)
    return [f"no scenario of {COVERAGE} has {key} = {value}" for key, value in sorted(needed - used)]


def read_json(path):
    return json.loads(path.read_text(encoding="utf-8"))


def coverage_gaps(program):
    needed = names_of_schema(read_json(ROOT / SCHEMA)) | names_of_lists(program)
    return gaps(needed, [read_json(path) for path in sorted((ROOT / COVERAGE).glob("*.json"))])


# The self-test's program: its tables are the same in all variants unless the environment says otherwise.
FAKE = """#!{python}
import os, sys
if sys.argv[1] == "--version":
    print("paceline 0\\ninstruction set: b (of a, b)")
elif sys.argv[1] == "list":
    print(sys.argv[2] + "\\n  one-kind             text\\n                       keys: kind")
else:
    out = sys.argv[sys.argv.index("--out") + 1]
    os.makedirs(out)
    text = "point,value\\n0,1.5\\n"
    wrong = os.environ.get("FAKE_WRONG", "").split("+")
    state = [os.environ.get("PACELINE_ISA"), "masked" if "GLIBC_TUNABLES" in os.environ else "plain",
             sys.argv[sys.argv.index("--threads") + 1]]
    if any(it in wrong for it in state):
        text = text.replace("1.5", "1.4")
    open(out + "/results.csv", "w").write(text)
"""


def self_test():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fake = folder / "fake"
        fake.write_text(FAKE.format(python=sys.executable), encoding="utf-8")
        fake.chmod(0o755)
        program = Program(fake)
        assert program.instruction_sets() == ["a", "b"]
        variants = variants_of(program)
        assert len(variants) == 8 and len({variant.name for variant in variants}) == 8
        settings = {(v.environment["PACELINE_ISA"], len(v.environment), v.threads) for v in few_of(variants)}
        assert len(settings) == 2 and [len({it[i] for it in settings}) for i in range(3)] == [2, 2, 2], settings
        for scenario in (COVERAGE / "x.json", SHIPPED / "x.json"):
            self_test_bytes(program, scenario, variants, folder)
    assert names_of_lists(program=program_of_text("  one-kind   text\n")) == {
        (f"{key}.kind", "one-kind") for key in LISTS.values()}
    assert len(stale_lines({"scenarios/first-training/results.csv": "", "scenarios/no-such/results.csv": ""})) == 1
    self_test_gaps()
    print("fingerprints: the self-test found every fault that it made")


def program_of_text(text):
    program = Program("none")
    program.ask = lambda *arguments: text
    return program


def self_test_bytes(program, scenario, variants, folder):
    def faults(listed, wrong):
        os.environ["FAKE_WRONG"] = wrong
        made = run_all(program, [scenario], variants, folder / "kept")
        del os.environ["FAKE_WRONG"]
        return differences(made, listed, [scenario], folder / "kept"), made

    found, made = faults(None, "")
    assert not found
    right = next(iter(made.values()))
    write_listed(folder / "listed", right)
    listed = read_listed(folder / "listed")
    assert listed == right and not faults(listed, "")[0]
    for wrong in ("a", "b", "masked", "plain", "1", "2"):
        assert faults(listed, wrong)[0], f"a byte that is wrong with {wrong} was not noticed"
        assert faults(None, wrong)[0], f"variants that differ with {wrong} were not noticed"
    assert faults(listed, "1+2")[0], "a byte that is wrong in all variants was not noticed"
    table = next(iter(listed))
    assert faults(listed | {table: "0" * 16}, "")[0], "a wrong hash was not noticed"
    assert faults({}, "")[0], "a table without a hash was not noticed"
    assert faults(listed | {str(Path(table).parent / "timeline.csv"): "0" * 16}, "")[0], "a lost table was not noticed"


def self_test_gaps():
    schema = {"properties": {"algorithm": {"$ref": "#/definitions/algorithm"}},
              "definitions": {"algorithm": {"oneOf": [{"$ref": "#/definitions/a"}, {"$ref": "#/definitions/b"}]},
                              "a": {"properties": {"kind": {"const": "a"}, "wire": {"enum": ["x", "y"]}}},
                              "b": {"properties": {"kind": {"enum": ["b"]}}}}}
    needed = names_of_schema(schema)
    assert needed == {("algorithm.kind", "a"), ("algorithm.kind", "b"), ("wire", "x"), ("wire", "y")}
    whole = {"algorithm": {"kind": "a", "wire": "x"},
             "sweep": {"algorithm": [{"kind": "b"}], "algorithm.wire": ["y"], "cluster.algorithm.kind": ["c"]}}
    assert not gaps(needed, [whole])
    assert ("algorithm.kind", "c") in used_names(whole)
    assert len(gaps(needed, [{"algorithm": {"kind": "a", "wire": "x"}}])) == 2


def arguments_of(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?")
    what = parser.add_mutually_exclusive_group()
    for name in ("check", "write", "compare", "instruction-sets", "self-test"):
        what.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--set", choices=("coverage", "shipped", "all"), default="all")
    parser.add_argument("--only", type=lambda text: text.split(","), default=[])
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--under", default="")
    parser.add_argument("--keep", type=Path, default=ROOT / "build" / "fingerprints")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--time-limit", type=float, default=300)
    chosen = parser.parse_args(words)
    if chosen.program is None and not chosen.self_test:
        parser.error("which PROGRAM?")
    if chosen.write and (chosen.only or chosen.set != "all" or chosen.under or chosen.once):
        parser.error("--write goes with all scenarios, run by this machine")
    return chosen


def main():
    chosen = arguments_of(sys.argv[1:])
    if chosen.self_test:
        self_test()
        return
    program = Program(chosen.program, chosen.under, chosen.time_limit)
    if chosen.instruction_sets:
        print("\n".join(program.instruction_sets()))
        return
    listed = read_listed(ROOT / LISTED) if not (chosen.write or chosen.compare) else None
    scenarios = scenarios_of(chosen.set, chosen.only)
    variants = variants_of(program, bool(chosen.under), chosen.once)
    keep = chosen.keep.resolve()
    print(f"fingerprints: {len(scenarios)} scenarios; variants: {', '.join(it.name for it in variants)}", flush=True)
    hashes = run_all(program, scenarios, variants, keep, chosen.jobs)
    found = differences(hashes, listed, scenarios, keep)
    found += stale_lines(listed or {})
    if chosen.set != "shipped" and not chosen.only and not chosen.under:
        found += coverage_gaps(program)
    if found:
        print(*found, sep="\n", file=sys.stderr)
        sys.exit(f"fingerprints: {len(found)} differences. The tables of each variant lie in {keep}; `diff` shows the "
                 "rows. If a number is meant to move, run `make fingerprints` and say so in changes/TOPIC.results.md.")
    tables = {name: it for made in hashes.values() for name, it in made.items()}
    if chosen.write:
        write_listed(ROOT / LISTED, tables)
    print(f"fingerprints: {len(tables)} tables of {len(scenarios)} scenarios, the same in {len(hashes)} variants"
          f"{'' if listed is None else f' and in {LISTED}'}")


if __name__ == "__main__":
    main()

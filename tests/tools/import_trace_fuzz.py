"""Changes traces at random and judges what tools/import_trace.py makes of them.

    tests/tools/import_trace_fuzz.py PACELINE [--count N] [--seed-from S]

Each changed trace is refused in one line that names the file, or gives a profile that `paceline check` accepts. A trace
of which a part is missing is refused, or gives the same profile, or a warning that the whole trace does not give: no
part is passed over in silence. The same seed gives the same trace, which a failure leaves in a folder that it names.
"""

import argparse
import copy
import gzip
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

from importing import TRACES, Imported, two_linears, with_kernels

VALUES = [None, True, -1, 0, 1, 7, 1e300, -1e-9, 2**63, 2**70, 1e17, "", "x", "-5", "12", "\ud800", "\u0000\n", [], {}, [[]],
          [[0]], [[-1]], [[2**40, 2**40]], [[3, "a"]], [[[2, 3], [4]]], {"a": 1}, "ProfilerStep#3", "Optimizer.step#x", "aten::lstm",
          "autograd::engine::evaluate_function: X", "kernel", "cpu_op", "nn.Module: A", "[[3, 4]]", "[" * 500, float("nan"),
          float("inf"), 10**4000]


def sources():
    """Returns the text of each shipped trace, and of one that is small enough for every change to matter."""
    texts = []
    for file in sorted(TRACES.glob("*.json*")):
        content = file.read_bytes()
        texts.append((gzip.decompress(content) if file.suffix == ".gz" else content).decode())
    small = [two_linears()] * 3 + [two_linears(thread=9), with_kernels(two_linears())]
    return texts + [json.dumps({"traceEvents": events}) for events in small]


def documents(text):
    decoder, found, at = json.JSONDecoder(), [], 0
    while at < len(text.rstrip()):
        while text[at].isspace():
            at += 1
        one, at = decoder.raw_decode(text, at)
        found.append(one)
    return found


def places(value, found):
    """Adds every (container, key) below a value."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []:
        found.append((value, key))
        places(value[key], found)
    return found


def change_structure(text, dice):
    whole = documents(text)
    for _ in range(dice.choice([1, 1, 1, 2, 5, 40])):
        everywhere = places(whole, [])
        if not everywhere:
            break
        container, key = dice.choice(everywhere)
        kind = dice.random()
        if kind < 0.55:
            container[key] = copy.deepcopy(dice.choice(VALUES))
        elif kind < 0.75:
            del container[key]
        elif kind < 0.85 and isinstance(container, list):
            container.insert(dice.randrange(len(container) + 1), copy.deepcopy(container[key]))
        elif kind < 0.92 and isinstance(container[key], (int, float)) and not isinstance(container[key], bool):
            container[key] = dice.choice([-1, 0.5, 3, 1e6]) * (container[key] if abs(container[key]) < 1e200 else 1)
        else:
            other, its = dice.choice(everywhere)
            if its in other if isinstance(other, dict) else its < len(other):
                container[key] = copy.deepcopy(other[its])
    sys.set_int_max_str_digits(0)  # also to write what no trace holds
    changed = "\n".join(json.dumps(one) for one in whole)
    sys.set_int_max_str_digits(4300)
    return changed.encode()


def list_of_parts(whole):
    """Returns the list of events or nodes of a trace."""
    first = whole[0]
    return first.get("traceEvents", first.get("nodes")) if len(whole) == 1 else whole


def begin_of(e):
    return float(e.get("ts", e.get("startTimeMicros", 0)))


def is_mark(e):
    return e.get("name", "").startswith("ProfilerStep")


def without_one_of(one, value):
    """Returns what keeps the events that differ from one in a value."""
    return lambda e: value(e) != value(one)


def keeper(one, dice):
    """Returns which events stay: all but those of a category or of names, some, or what is before or after one."""
    word = dice.choice(re.findall(r"[A-Za-z_]{4,}", one.get("name", "")) or ["none"])
    share = dice.random()
    return dice.choice([without_one_of(one, lambda e: e.get("cat", e.get("type"))),
                        without_one_of(one, lambda e: e.get("name")),
                        lambda e: word not in e.get("name", ""),
                        lambda e: dice.random() < share or is_mark(e),
                        lambda e: begin_of(e) < begin_of(one) or is_mark(e),
                        lambda e: begin_of(e) >= begin_of(one) or is_mark(e)])


def remove_value(parts, one, dice):
    """Removes a key, an argument or an attribute of every event."""
    inner = dice.choice([lambda e: e, lambda e: e.get("args", e.get("inputs", {}))])
    key = dice.choice(list(inner(one)) or ["none"])
    attribute = dice.choice([a["name"] for a in one.get("attr", [])] or ["none"])
    for e in parts:
        if "attr" in e and inner(e) is e:
            e["attr"] = [a for a in e["attr"] if a["name"] != attribute]
        else:
            inner(e).pop(key, None)


def remove_part(text, dice):
    """Removes all of a kind: events, or something that each of them has."""
    whole = documents(text)
    parts = list_of_parts(whole)
    one = dice.choice(parts)
    if dice.random() < 0.3:
        remove_value(parts, one, dice)
    else:
        parts[:] = filter(keeper(one, dice), parts)
    return "\n".join(json.dumps(part) for part in whole).encode()


def change_bytes(text, dice):
    content = bytearray(text.encode())
    kind = dice.random()
    if kind < 0.3:
        return bytes(content[:dice.randrange(len(content))])
    for _ in range(dice.choice([1, 1, 3, 30])):
        at = dice.randrange(len(content))
        if kind < 0.7:
            content[at] = dice.choice(b'{}[]",:0123456789-eE \\\x00\xff') if dice.random() < 0.7 else dice.randrange(256)
        else:
            del content[at:at + dice.choice([1, 2, 50])]
    return bytes(content)


def changed_trace(seed, texts):
    dice = random.Random(seed)
    text = dice.choice(texts)
    if dice.random() < 0.4:
        return remove_part(text, dice), dice.choice([[], [], ["--layers", "operators"]]), text
    content = change_structure(text, dice) if dice.random() < 0.7 else change_bytes(text, dice)
    if dice.random() < 0.1:
        content = gzip.compress(content, mtime=0)
        if dice.random() < 0.5:
            content = content[:dice.randrange(1, len(content))]
    options = dice.choice([[], [], [], ["--layers", "operators"], ["--layers", "ranges"], ["--parameters", "1000"],
                           ["--batch", "3"]])
    return content, options, None


def warnings_of(made):
    """Returns what the importer warned of, without the numbers and names of this trace."""
    return {re.sub(r"[0-9][0-9.]*|\(.*?\)", "", line)[:60] for line in made.errors.splitlines()}


def differs(made, whole):
    """Returns whether a profile has other parameters or passes, or no update. An optimizer may have any operators.

    In a Chakra trace of operators nothing but an operator itself shows its time, so the times of those may differ.
    """
    def shapes(one):
        return sorted(shape for *_, tensors in one.layers.values() for shape in tensors.values())

    def passes(one):
        return [sum(layer[i] for layer in one.layers.values()) for i in (0, 1)]

    if shapes(made) != shapes(whole) or (made.update_ns == 0) != (whole.update_ns == 0):
        return True
    if "of a Chakra trace" in whole.profile["source"]:
        return False
    return any(abs(a - b) * 20 > whole.total_ns for a, b in zip(passes(made), passes(whole)))


def silence_of(made, text, options):
    """Returns what is passed over in silence in a trace that lacks a part of `text`; None if nothing is."""
    with tempfile.TemporaryDirectory() as apart:
        file = Path(apart, "trace.json")
        file.write_text(text)
        whole = Imported(file, apart, *options)
        if not differs(made, whole) or warnings_of(made) - warnings_of(whole):
            return None
        return f"a part is missing, and nothing says so: {made.layers} for {whole.layers}, {made.errors}"


def fault_of(made, file, paceline):
    """Returns what is wrong with what the importer did; None if it was right."""
    told = [line for line in made.errors.splitlines() if not line.startswith("import_trace: warning: ")]
    if made.code != 0:
        if len(told) != 1 or not told[0].startswith(f"import_trace: {file}: ") or len(told[0]) > 700:
            return f"it is not refused in one line that names the file: {made.errors}"
        return "a profile was left behind" if made.out.exists() else None
    if told:
        return f"it said more than warnings: {told}"
    done = subprocess.run([paceline, "check", str(made.scenario)], capture_output=True, text=True, check=False)
    return f"paceline refuses what was made: {done.stderr}" if done.returncode else None


def judge(seed, texts, folder, paceline):
    content, options, whole = changed_trace(seed, texts)
    file = Path(folder, "trace.json")
    file.write_bytes(content)
    try:
        made = Imported(file, folder, *options)
    except Exception:  # noqa: BLE001, whatever it is, it is a fault of the importer
        return False, traceback.format_exc()
    fault = fault_of(made, file, paceline)
    return made.code == 0, fault or (silence_of(made, whole, options) if whole and made.code == 0 else None)


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("paceline")
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--seed-from", type=int, default=0)
    options = parser.parse_args(arguments)
    texts, accepted = sources(), 0
    for seed in range(options.seed_from, options.seed_from + options.count):
        folder = tempfile.mkdtemp(prefix="import-trace-")
        taken, fault = judge(seed, texts, folder, options.paceline)
        accepted += taken
        if fault:
            print(f"import_trace_fuzz: seed {seed}, {folder}/trace.json: {fault}", file=sys.stderr)
            return 1
        for file in Path(folder).iterdir():
            file.unlink()
        os.rmdir(folder)
    print(f"{options.count} changed traces: {accepted} give a profile, {options.count - accepted} are refused")
    return 0 if options.count < 100 or 0.1 < accepted / options.count < 0.9 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

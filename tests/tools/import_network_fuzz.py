"""Changes network descriptions at random and judges what tools/import_network.py makes of them.

    tests/tools/import_network_fuzz.py PACELINE [--count N] [--seed-from S]

Each changed file is refused in one line that names a file or an option, or gives a network. `paceline check` accepts every
twentieth of these. The same seed gives the same file, which a failure leaves in a folder that it names.
"""

import argparse
import contextlib
import io
import json
import random
import shutil
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

sys.argv, arguments_of_fuzz = sys.argv[:1], sys.argv[1:]  # the tests beside this file read them, too

from import_network_test import OfCsv, OfIperf, OfSimGrid, OfSlurm, import_network, matrix  # noqa: E402

WORDS = ["0", "-1", "999999999", "1e30", "nan", "x", "", ",", "=", "[0-3]", "[", "]", "GPU0", "NV4", "SYS", "<a/>", "\"", "{}", "null",
         "1Gbps", "5us", "\t", "\n", "\\", "\u00e9", "FATPIPE", "Full"]


def sources():
    """Returns (text, options) of each format."""
    simgrid = OfSimGrid()
    routes = simgrid.path("a", "b", "l1", "mid", "l2") + simgrid.path("a", "c", "l1", "mid", "l3") + simgrid.path("b", "c", "l2", "l3")
    cluster = '<cluster id="p" prefix="p-" suffix=".x" radical="0-5" speed="1Gf" bw="1MBps" lat="5us" bb_bw="1GBps" bb_lat="1us"/>'
    return [(OfCsv.STAR, []), (OfSlurm.TREE, ["--link", "1Gbps,2us", "--uplink", "25GbE-tcp"]),
            (simgrid.platform(simgrid.HOSTS + simgrid.LINKS + routes), []), (simgrid.platform(cluster), []),
            (matrix(["X PIX SYS SYS", "PIX X SYS SYS", "SYS SYS X NV2", "SYS SYS NV2 X"]), ["--pcie", "1GBps,1us", "--nvlink", "nvlink-3"]),
            (OfIperf().run_of("a", "b", 1e9, 2000), [])]


def changed(text, dice):
    for _ in range(dice.choice([1, 1, 2, 5])):
        at, kind = dice.randrange(len(text) + 1), dice.random()
        if kind < 0.4:
            text = text[:at] + dice.choice(WORDS) + text[at + dice.choice([0, 1, 4]):]
        elif kind < 0.6:
            text = text[:at] + text[at + dice.choice([1, 2, 30]):]
        elif kind < 0.8:
            lines = text.splitlines(True) or [""]
            lines.insert(dice.randrange(len(lines) + 1), dice.choice(lines))
            text = "".join(lines)
        else:
            digits = [i for i, letter in enumerate(text) if letter.isdigit()] or [0]
            at = dice.choice(digits)
            text = text[:at] + dice.choice("0123456789") + text[at + 1:]
    return text


def fault_of(file, out, options, is_checked, paceline):
    said, errors = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(errors):
            code = import_network.main([str(file), "--out", str(out), *options])
    except Exception:  # noqa: BLE001, whatever it is, it is a fault of the importer
        return False, traceback.format_exc()
    if code != 0:
        told = errors.getvalue()
        one_line = told.count("\n") == 1 and told.startswith((f"import_network: {file}: ", "import_network: --")) and len(told) < 900
        return False, None if one_line and not out.exists() else f"it is not refused in one line: {told}"
    if is_checked:
        scenario = file.parent / "scenario.json"
        scenario.write_text(json.dumps({"title": "t", "cluster": {"testbed": out.name}, "workload": {"gradient": "1MB", "step_time": "1ms"},
                                        "algorithm": {"kind": "dense"}, "stop": {"iterations": 1}}))
        done = subprocess.run([paceline, "check", str(scenario)], capture_output=True, text=True, check=False)
        return True, f"paceline refuses what was made: {done.stderr}" if done.returncode else None
    return True, None


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("paceline")
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--seed-from", type=int, default=0)
    options = parser.parse_args(arguments)
    texts, accepted = sources(), 0
    for seed in range(options.seed_from, options.seed_from + options.count):
        dice, folder = random.Random(seed), Path(tempfile.mkdtemp(prefix="import-network-"))
        text, more = dice.choice(texts)
        file, out = folder / "in.txt", folder / "network.json"
        file.write_text(changed(text, dice))
        taken, fault = fault_of(file, out, more, accepted % 20 == 0, options.paceline)
        accepted += taken
        if fault:
            print(f"import_network_fuzz: seed {seed}, {file}: {fault}", file=sys.stderr)
            return 1
        shutil.rmtree(folder)
    print(f"{options.count} changed files: {accepted} give a network, {options.count - accepted} are refused")
    return 0 if options.count < 100 or 0.1 < accepted / options.count < 0.9 else 1


if __name__ == "__main__":
    sys.exit(main(arguments_of_fuzz))

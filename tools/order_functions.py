#!/usr/bin/env python3
"""Writes cmake/function_order.txt: the functions that the smallest run calls, in the order in which they first appear.

The linker puts them next to each other (app/CMakeLists.txt). The kernel maps a program in pieces of 64 KiB, and these
functions, strewn over the program, took three MiB more. Names that are not in the program are ignored, so the file may be
older than the program; renew it when the smallest run grows (docs/performance.md).

  tools/order_functions.py build/release/paceline      needs valgrind
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def called_functions(profile, program):
    """Yields the mangled names of the program's functions in a profile of callgrind, which abbreviates names by numbers."""
    names = {"ob": {}, "fn": {}}
    ours = False
    for line in profile:
        found = re.match(r"(c?)(ob|fn)=\((\d+)\)(?: (.*))?$", line)
        if not found:
            continue
        is_callee, kind, number, name = found.groups()
        if name:
            names[kind][number] = name
        if is_callee:
            continue
        if kind == "ob":
            ours = Path(names[kind][number]) == program
        elif ours and not names[kind][number].startswith(("0x", "(")):
            yield names[kind][number].split("'")[0]


def main():
    program = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["valgrind", "--tool=callgrind", "--demangle=no", f"--callgrind-out-file={folder}/profile", program,
                        "run", ROOT / "bench/two_nodes.json", "--out", f"{folder}/results"], check=True, capture_output=True)
        with open(f"{folder}/profile", encoding="utf-8") as profile:
            functions = list(dict.fromkeys(called_functions(profile, program)))
    (ROOT / "cmake/function_order.txt").write_text("".join(f"{name}\n" for name in functions), encoding="utf-8")
    print(f"order_functions: {len(functions)} functions")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()

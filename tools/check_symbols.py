#!/usr/bin/env python3
"""Checks that the kernels of one instruction set share no function with anything else.

    tools/check_symbols.py LIBRARY          the archive with the kernels (libpaceline_models.a)
    tools/check_symbols.py --self-test      check that the checker finds a shared function

The linker keeps one copy of an inline function that several objects define. If the object of the AVX-512 kernels
defined one, a processor without AVX-512 might get that copy. Therefore, an object of kernels defines its table and
nothing else that other objects can see, and needs only C's memory functions.

Prints a line for each fault. Exit code 1 if there is one.
"""

import argparse
import re
import subprocess
import sys

OBJECT = re.compile(r"kernels_(\w+)\.cpp\.o$")
ALLOWED = re.compile(r"mem(cpy|set|move)$|__(asan|ubsan|sanitizer|lsan)_\w+$|_GLOBAL_OFFSET_TABLE_$|__stack_chk_fail$")


def symbols_of(library):
    """Returns (object, kind, name) of every symbol that other objects can see; kind U marks a required one."""
    listed = subprocess.run(["nm", "-A", "-C", "--extern-only", library], check=True, capture_output=True, text=True)
    for line in listed.stdout.splitlines():
        found = re.match(r"\S*?([\w.]+\.o):\s*[0-9a-f]*\s+([A-Za-z])\s+(.*)$", line)
        if found is None:
            sys.exit(f"check_symbols: nm printed a line that is not understood: {line}")
        yield found.groups()


def faults(symbols):
    seen = set()
    for name, kind, symbol in symbols:
        kernels = OBJECT.search(name)
        if kernels is None:
            continue
        table = f"paceline::kernels_{kernels[1]}"
        if symbol == table and kind != "U":
            seen.add(name)
        elif not ALLOWED.match(symbol):
            yield f"{name}: {'needs' if kind == 'U' else 'defines'} {symbol}; it may only define {table}"
    if not seen:
        yield "no object of kernels defines its table"


def self_test():
    table = ("kernels_v4.cpp.o", "D", "paceline::kernels_v4")
    good = [[table, ("kernels_v4.cpp.o", "U", "memcpy"), ("other.cpp.o", "W", "std::max(int, int)")]]
    bad = [[table, ("kernels_v4.cpp.o", "W", "paceline::inlined()")], [table, ("kernels_v4.cpp.o", "U", "expf")],
           [("kernels_v3.cpp.o", "U", "memcpy")], []]
    for symbols in good:
        assert not list(faults(symbols)), symbols
    for symbols in bad:
        assert list(faults(symbols)), symbols
    print("check_symbols: notices what it must")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", nargs="?")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
        return 0
    if arguments.library is None:
        parser.error("a library is missing")
    found = list(faults(symbols_of(arguments.library)))
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Checks that each block of code in docs/adding is a run of whole lines of the file that the paragraph before it names.

    tools/check_quotes.py               exit 1 and print each block that is not
    tools/check_quotes.py --self-test   check that the checker finds faults

The file is the last `folder/.../name` of that paragraph. Blocks of sh, bash and text are commands and what they print:
tools/check_pages.py runs these.
"""

import re
import sys
from pathlib import Path

from check_pages import BLOCK

ROOT = Path(__file__).resolve().parent.parent
NO_QUOTES = {"sh", "bash", "text"}
FILE = re.compile(r"`([\w.-]+(?:/[\w.-]+)+)`")


def faults_of(text, read):
    """Returns a line for each fault of a page. `read` returns the text of a file, or None if there is none."""
    faults = []
    if text.count("```") != 2 * len(BLOCK.findall(text)) or re.search(r"\n\n {4}\S", BLOCK.sub("", text)):
        faults.append("a block is indented or names no language, so nothing checks it")
    for block in BLOCK.finditer(text):
        kind, content = block.groups()
        if kind in NO_QUOTES:
            continue
        named = FILE.findall(text[: block.start()].rstrip().rsplit("\n\n", 1)[-1])
        file = named[-1] if named else None
        if file is None or (lines := read(file)) is None:
            faults.append(f"no file of the tree is named right before this block:\n{content}")
        elif f"\n{content}" not in f"\n{lines}":
            faults.append(f"{file} does not have these lines:\n{content}")
    return faults


def read_from_tree(file):
    path = ROOT / file
    return path.read_text(encoding="utf-8") if path.is_file() else None


def self_test():
    """Checks pages of which the first is right and each other one has one fault."""
    tree = {"a/b.cpp": "one\n  two\nthree\n"}
    right = "As in `a/c.cpp` and `a/b.cpp`:\n\n```cpp\n  two\nthree\n```\n\n```sh\ntrue\n```\n"
    wrong = [("  two", "two"), ("three\n", "thre\n"), ("a/b.cpp", "a/d.cpp"), ("`a/c.cpp` and `a/b.cpp`", "the file"),
             (":\n\n", ":\n\nA paragraph.\n\n"), ("```cpp", "```"), ("```sh", "    code\n\n```sh")]
    cases = [(right, False), (right.replace("  two\n", ""), False), *((right.replace(*change), True) for change in wrong)]
    for text, is_wrong in cases:
        if bool(faults_of(text, tree.get)) != is_wrong:
            print(f"check_quotes: self-test failed on:\n{text}", file=sys.stderr)
            return 1
    return 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if arguments:
        print(__doc__, file=sys.stderr)
        return 2
    pages = sorted((ROOT / "docs" / "adding").glob("*.md"))
    faults = [f"{page.relative_to(ROOT)}: {fault}" for page in pages for fault in faults_of(page.read_text(encoding="utf-8"), read_from_tree)]
    print("\n".join(faults) or f"check_quotes: {len(pages)} pages, all code on them stands in the tree")
    return 1 if faults or not pages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

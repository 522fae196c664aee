#!/usr/bin/env python3
"""Checks that the commands of the tutorial, of the how-to pages and of docs/adding do what the pages show.

    tools/check_pages.py PACELINE [PAGE...]     run the pages' commands; exit 1 and print the differences
    tools/check_pages.py --self-test            check that the checker finds faults

Each page runs from top to bottom in its own folder, which has the shipped scenarios, examples/, tools/ and tests/, and
PACELINE as `paceline`. PACELINE's folder is build/release there.

  ```json, ```csv, ```python   is written to the file that the paragraph before it names: "Write `name`",
                               or the last `name` of a paragraph that ends with a colon, unless the tree has
                               that file: then it is a quote (tools/check_quotes.py);
  ```sh                        is run by bash and must succeed (```bash is only shown);
  ```text right after it       is the expected output; a line "..." stands for any lines. If it begins with
                               "paceline: " and no "warning", it is an error, and the commands must fail.

On every other page of docs/ and in README.md, the scenarios that commands name must exist, and `paceline check` must
accept their `--set` options.

A number may be shown with fewer decimals than are printed. Otherwise lines must be equal except for the width of gaps:
results have the same bytes on every machine.
"""

import os
import re
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
DECIMAL = re.compile(r"-?\d+\.\d+")
NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?")
TIMEOUT_S = 120


class Failure(Exception):
    pass


def pages():
    folders = [ROOT / "docs" / "how-to", ROOT / "docs" / "adding"]
    return [ROOT / "docs" / "tutorial.md", *(page for folder in folders for page in sorted(folder.glob("*.md")))]


def file_named_before(text):
    """Returns the file that the paragraph before a block names: "Write `name`", or the last `name` before a colon."""
    paragraph = text.rstrip().rsplit("\n\n", 1)[-1]
    name = r"`([\w./-]+\.(?:json|csv|py))`"
    written = re.findall(r"Write\s+" + name, paragraph)
    named = re.findall(name, paragraph) if paragraph.endswith(":") else []
    return (written or named or [None])[-1]


def same_word(shown, printed):
    """Returns whether both words are equal, or the shown number is the printed one, rounded to its decimals."""
    if shown == printed:
        return True
    if not DECIMAL.fullmatch(shown) or not NUMBER.fullmatch(printed):
        return False
    step = Decimal(1).scaleb(-len(shown.partition(".")[2]))
    return abs(Decimal(printed) - Decimal(shown)) <= step / 2


def same_line(shown, printed):
    words = list(zip(shown.split(), printed.split()))
    return len(shown.split()) == len(printed.split()) and all(same_word(a, b) for a, b in words)


def same_lines(shown, printed):
    if not shown:
        return not printed
    if shown[0].strip() == "...":
        return any(same_lines(shown[1:], printed[i:]) for i in range(len(printed) + 1))
    return bool(printed) and same_line(shown[0], printed[0]) and same_lines(shown[1:], printed[1:])


def lines_of(text):
    return [line.rstrip() for line in text.strip("\n").splitlines() if line.strip()]


def is_error(line):
    return line.startswith("paceline: ") and not line.startswith("paceline: warning: ")


def run(command, folder, binary, must_fail, timeout_s=TIMEOUT_S):
    environment = dict(os.environ, PATH=f"{binary.parent}:{os.environ['PATH']}", LC_ALL="C")
    done = subprocess.run(["bash", "-eu", "-o", "pipefail", "-c", command], cwd=folder, env=environment, timeout=timeout_s,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if (done.returncode != 0) != must_fail:
        raise Failure(f"this {'did not fail' if must_fail else 'failed'}:\n{command}{done.stdout}")
    return done.stdout


def check_page(text, folder, binary):
    """Runs a page in a folder and returns its number of command blocks."""
    blocks = list(BLOCK.finditer(text))
    commands = 0
    for i, block in enumerate(blocks):
        kind, content = block.groups()
        name = file_named_before(text[: block.start()])
        if kind in ("json", "csv", "python") and name and not ("/" in name and (ROOT / name).is_file()):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content)
        if kind != "sh":
            continue
        commands += 1
        following = blocks[i + 1] if i + 1 < len(blocks) else None
        if following and (following.group(1) != "text" or text[block.end():following.start()].strip()):
            following = None
        shown = lines_of(following.group(2)) if following else None
        printed = run(content, folder, binary, bool(shown) and is_error(shown[0]))
        if shown is not None and not same_lines(shown, lines_of(printed)):
            raise Failure(f"this printed something else:\n{content}--- shown\n{following.group(2)}--- printed\n{printed}")
    return commands


def check(files, binary):
    wrong = 0
    for page in files:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for shipped in ("scenarios", "examples", "tools", "tests"):
                (folder / shipped).symlink_to(ROOT / shipped)
            (folder / "build").mkdir()
            (folder / "build" / "release").symlink_to(binary.parent)
            try:
                check_page(page.read_text(), folder, binary)
            except (Failure, subprocess.TimeoutExpired) as failure:
                print(f"check_pages: {page}: {failure}", file=sys.stderr)
                wrong += 1
    return 1 if wrong else 0


COMMAND = re.compile(r"(?:paceline|\$P) (?:run|check|explain|trace) (scenarios/[\w./-]+\.json)((?: --set (?:'[^'\n]*'|[^\s'`]+))*)")


def named_commands(text):
    """Returns the shipped scenarios that commands name, with the commands' settings."""
    return sorted({(file, settings) for file, settings in COMMAND.findall(text)})


def check_named_commands(binary):
    wrong = 0
    run_pages = set(pages())
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for file, settings in named_commands(page.read_text()) if page not in run_pages else []:
            try:
                if not (ROOT / file).is_file():
                    raise Failure(f"there is no {file}")
                if settings and "$" not in settings:
                    run(f"paceline check {file}{settings} >/dev/null\n", ROOT, binary, False)
            except Failure as failure:
                print(f"check_pages: {page}: {failure}", file=sys.stderr)
                wrong += 1
    return 1 if wrong else 0


def self_test():
    """Checks pages of which the first is right and each other one has one fault."""
    right = "Write `a.json`:\n\n```json\n{}\n```\n\n```sh\ncat a.json\necho x 1.0401\n```\n\n```text\n{}\n...\nx  1.0\n```\n"
    cases = [(right, True), (right.replace("x  1.0", "x  1.1"), False), (right.replace("x  1.0", "y  1.0"), False),
             (right.replace("...\n", "").replace("{}\nx", "{}\n{}\nx"), False), (right.replace("echo", "false; echo"), False),
             ("```sh\necho paceline: no; false\n```\n```text\npaceline: no\n```\n", True), ("```sh\necho paceline: no\n```\n```text\npaceline: no\n```\n", False),
             ("```sh\necho paceline: warning: w\n```\n```text\npaceline: warning: w\n```\n", True)]
    named = named_commands("    $P run scenarios/a.json --set x.y=1 --set 'z={\"k\": 1}' --out r\n`paceline check scenarios/b.json`\n")
    if named != [("scenarios/a.json", " --set x.y=1 --set 'z={\"k\": 1}'"), ("scenarios/b.json", "")]:
        print(f"check_pages: self-test failed: {named}", file=sys.stderr)
        return 1
    for text, expected in cases:
        with tempfile.TemporaryDirectory() as name:
            try:
                check_page(text, Path(name), Path("/bin/true"))
                passed = True
            except Failure:
                passed = False
        if passed != expected:
            print(f"check_pages: self-test failed on:\n{text}", file=sys.stderr)
            return 1
    return 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if not arguments or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    binary = Path(arguments[0]).resolve()
    if arguments[1:]:
        return check([Path(name) for name in arguments[1:]], binary)
    return max(check(pages(), binary), check_named_commands(binary))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

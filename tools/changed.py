#!/usr/bin/env python3
"""Checks what a branch changed, in minutes: `make changed`. The rest is CI's.

    tools/changed.py [--base COMMIT]    the commit to compare with, the work tree and new files included (default: base())
    tools/changed.py --results          only check that changes/ explains each fingerprint that moved

Runs the stage `sources` of docs/checks.md; builds the program and the tests in build/release, as `make test` does; runs
the tests of the rooms that were touched and of the rooms that include the touched files; and runs the pages whose commands
were touched or name a key that was. Says at the end which changed files nothing of this covers.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "release"
PRODUCT = ("sim", "topologies", "models", "algorithms", "analysis", "app")
SCHEMA = "scenarios/scenario.schema.json"
PAGES = re.compile(r"docs/(tutorial|how-to/.*|adding/.*)\.md$")
KEY = re.compile(r'^[-+]\s*"(\w+)":', re.M)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
RECENT = 40  # commits, where there is no other branch to compare with


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def base():
    """Returns PACELINE_BASE; or where the branch left origin/main; or, at origin/main, the commit before the last 40."""
    if "PACELINE_BASE" in os.environ:
        return os.environ["PACELINE_BASE"]
    found = subprocess.run(["git", "merge-base", "HEAD", "origin/main"], cwd=ROOT, capture_output=True, text=True, check=False)
    head, at = git("rev-parse", "HEAD").strip(), found.stdout.strip()
    return at if at not in ("", head) else git("rev-list", f"--max-count={RECENT + 1}", "HEAD").split()[-1]


def changed_files(since):
    """Returns the paths that differ from the commit or are new, those that are gone included."""
    new = git("ls-files", "--others", "--exclude-standard")
    return sorted({*git("diff", "--name-only", since).split(), *new.split()})


def unexplained(since):
    """Returns the fingerprints that moved, if no file of changes/ that was written since says which numbers did."""
    moved = git("diff", "--diff-filter=M", "--name-only", since, "--", "tests/fingerprints/hashes").split()
    written = [path for path in changed_files(since) if path.startswith("changes/") and path.endswith(".results.md")]
    return [] if written else moved


def room_of(path):
    return "/".join(path.split("/")[:2])


def tests_of(changed, texts):
    """Returns the patterns of the test files to run: of touched rooms and of rooms that include a touched file, and
    touched tests themselves. `texts` are the product's sources by path."""
    touched = [path for path in changed if path.startswith(tuple(f"{layer}/" for layer in PRODUCT)) and path.endswith((".cpp", ".hpp"))]
    headers = {path.removesuffix(".cpp").removesuffix(".hpp") + ".hpp" for path in touched}
    rooms = {room_of(path) for path in touched}
    rooms |= {room_of(path) for path, text in texts.items() if not headers.isdisjoint(INCLUDE.findall(text))}
    own = [path for path in changed if path.startswith("tests/") and path.endswith("_test.cpp") and (ROOT / path).exists()]
    return sorted(f"*/tests/{room}/*" for room in rooms) + [f"*/{path}" for path in own if room_of(path.removeprefix("tests/")) not in rooms]


def pages_of(changed, schema_diff):
    """Returns the pages to run: touched ones, and those that name a key whose line in the schema was touched."""
    keys = set(KEY.findall(schema_diff))
    names = re.compile("|".join(rf'["`.]{re.escape(key)}["`=]' for key in keys) or "(?!)")
    pages = [path for path in git("ls-files", "docs").split() if PAGES.match(path) and (ROOT / path).exists()]
    return [page for page in pages if page in changed or names.search((ROOT / page).read_text(encoding="utf-8"))]


def run(what, command):
    begin = time.monotonic()
    print(f"changed: {what}", flush=True)
    if subprocess.run(command, cwd=ROOT, check=False).returncode != 0:
        sys.exit(f"changed: failed: {what}")
    print(f"changed: {time.monotonic() - begin:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--base", default=None)
    parser.add_argument("--results", action="store_true")
    chosen = parser.parse_args()
    since = chosen.base or base()
    if chosen.results:
        moved = unexplained(since)
        sys.exit(f"changed: {', '.join(moved)} moved since {since[:12]}: say what in changes/TOPIC.results.md" if moved else 0)
    changed = changed_files(since)
    print(f"changed: {len(changed)} files since {git('log', '-1', '--format=%h %s', since).strip()}")
    os.environ["PACELINE_BASE"] = since  # for lint
    run("sources", ["tools/checks.py", "--stage", "sources"])

    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in git("ls-files", *PRODUCT).split()
             if path.endswith((".cpp", ".hpp")) and (ROOT / path).exists()}
    tests, pages = tests_of(changed, texts), pages_of(changed, git("diff", since, "--", SCHEMA))
    if tests or pages:
        run("builds", ["tools/build.sh", "release", "paceline", *(["paceline_tests"] if tests else []), *(["adding_tests"] if pages else [])])
    if tests:
        run(f"tests: {' '.join(tests)}", [str(BUILD / "tests" / "paceline_tests"), f"--source-file={','.join(tests)}"])
    if pages:
        run(f"pages: {' '.join(pages)}", [sys.executable, "-B", "tools/check_pages.py", str(BUILD / "paceline"), *pages])

    covered = re.compile(r"\.md$|^changes/|^(sim|topologies|models|algorithms|analysis|app|tests)/.*\.[ch]pp$")
    rest = [path for path in changed if not covered.search(path)]
    if rest:
        print("changed: not covered here (docs/checks.md says what does, such as `make check-explorer` for explorer/):", *rest, sep="\n    ")


if __name__ == "__main__":
    main()

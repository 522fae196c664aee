#!/usr/bin/env python3
"""Checks docs/adding: each page adds one thing by a patch, which must apply, compile, and do what the page says.

    tools/check_adding.py            check pages and patches, build, and run the pages' commands
    tools/check_adding.py --texts    compare pages with patches; build nothing
    tools/check_adding.py --sanitizers EXPRESSION
                                     the same with preset asan, so that in CI one build serves the pages and the sanitizers;
                                     it also has the tests whose path matches the expression, which are left to ctest

The patch of docs/adding/NAME.md is docs/adding/NAME.patch. Compared with it are

  the first table of the page   its first column names the files that the patch touches, no more and no fewer;
  every block of code           but for commands and what they print: its lines stand in the patch as they are, among
                                the lines that are added to one file. JSON of a file without a folder, which the
                                paragraph before it names (tools/check_pages.py), is no part of the patch but the
                                commands' input.

Each patch must apply to the tree. A copy of the tree with all of them, build/adding/tree (build/adding/sanitized), is then
built once, at -O1, with the tests that the pages choose by PACELINE_TESTS. There the commands of the ```sh blocks run, as in
tools/check_pages.py. Four kinds, which each page has once, are not run as they stand:

  git apply docs/adding/NAME.patch
  cmake --preset release -D PACELINE_TESTS='A|B'        every alternative must match the path of a test
  cmake --build build/release --target ...              what stands above it runs before the build, the rest after it
  build/release/tests/paceline_tests -tc='A*,B*'        every part must match a test; a test of several pages runs once

A patch that no longer applies is renewed in a checkout without changes:

    git apply --3way docs/adding/NAME.patch     then resolve what conflicts
    git add --all && git diff --cached --binary >NAME.tmp && git reset --quiet --hard && mv NAME.tmp docs/adding/NAME.patch
"""

import filecmp
import os
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import check_pages  # noqa: E402
from check_pages import Failure  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "adding"
# -O0 would compile in two thirds of the time, but then the tests take five times as long.
FLAGS = ["-D", "CMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG"]
WITHOUT = ["-D", "PACELINE_BENCH=OFF", "-D", "PACELINE_INSTALL=OFF", "-D", "PACELINE_MPI=OFF"]
TESTS = "build/release/tests/paceline_tests"
TIMEOUT_S = 900
APPLY = re.compile(r"^git apply (\S+)$", re.M)
CONFIGURE = re.compile(r"^cmake --preset release -D PACELINE_TESTS='([^']+)'$", re.M)
BUILD = re.compile(r"^cmake --build build/release --target ([\w ]+)$", re.M)
FILTER = re.compile(r"^build/release/tests/paceline_tests -tc='([^']+)'$", re.M)
STEP = re.compile(r"^(?:git apply|cmake|build/release/tests/paceline_tests) [^\n]*\n?", re.M)


def added_lines(patch):
    """Returns, for each file that a patch touches, its runs of added lines as one text."""
    files, name, runs = {}, None, []
    for line in patch.splitlines():
        if line.startswith("diff --git "):
            name = line.rsplit(" b/", 1)[1]
            runs = files.setdefault(name, [])
        elif name and line.startswith("+") and not line.startswith("+++ "):
            runs.append(line[1:])
        elif name and runs and runs[-1] is not None:
            runs.append(None)  # whatever stands between two runs
    return {name: "".join("\0" if line is None else line + "\n" for line in runs) for name, runs in files.items()}


def files_of_table(text):
    """Returns the files that the first column of a page's first table names."""
    rows = re.search(r"^\|[^\n]*\n\|[-|]+\n((?:\|[^\n]*\n)+)", text, re.M)
    cells = [row.split("|")[1] for row in rows.group(1).splitlines()] if rows else []
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def is_input(kind, name):
    return kind == "json" and name is not None and name.endswith(".json") and "/" not in name


def blocks_of(text):
    """Returns the blocks of a page as tuples: kind, content, the file named before it, where it begins and ends."""
    return [(block.group(1), block.group(2), check_pages.file_named_before(text[: block.start()]), block.start(), block.end())
            for block in check_pages.BLOCK.finditer(text)]


def compare(text, patch):
    """Checks a page against its patch."""
    files = added_lines(patch)
    listed = files_of_table(text)
    if listed != set(files):
        raise Failure(f"the first table and the patch name other files: {', '.join(sorted(listed ^ set(files)))}")
    if re.search(r"\n\n {4}\S", check_pages.BLOCK.sub("", text)):
        raise Failure("a block is indented; blocks that nobody fences, nobody checks")
    for kind, content, name, _, _ in blocks_of(text):
        if kind in ("sh", "bash", "text") or is_input(kind, name):
            continue
        if not any(content in lines for lines in files.values()):
            raise Failure(f"this is not among the lines that the patch adds:\n{content}")
    steps = "".join(content for kind, content, *_ in blocks_of(text) if kind == "sh")
    for needed, what in ((APPLY, "git apply docs/adding/NAME.patch"), (CONFIGURE, "cmake --preset release -D PACELINE_TESTS='...'"),
                         (BUILD, "cmake --build build/release --target ..."), (FILTER, "paceline_tests -tc='...'")):
        if len(needed.findall(steps)) != 1:
            raise Failure(f"not one command is: {what}")


def alternatives(expression):
    """Splits a regular expression at its outermost bars."""
    parts, depth = [""], 0
    for letter in expression:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "|" and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def check_expression(expression, files):
    """Checks that each alternative of PACELINE_TESTS matches a source of the tests."""
    tests = ["/" + name for name in files if name.startswith("tests/") and name.endswith(".cpp")]
    for part in alternatives(expression):
        if not any(re.search(part, name) for name in tests):
            raise Failure(f"PACELINE_TESTS: no file in tests/ matches '{part}'")


def apply(patch, folder, *options):
    """Applies a patch in a folder that need not be a checkout."""
    done = subprocess.run(["git", "apply", *options, str(patch)], cwd=folder, stderr=subprocess.PIPE, text=True,
                          env=dict(os.environ, GIT_CEILING_DIRECTORIES=str(folder.parent)))
    if done.returncode != 0:
        raise Failure(f"{patch.name} does not apply (tools/check_adding.py says how to renew it):\n{done.stderr}")


def copy_with_patches(source, names, patches, folder):
    """Makes a folder of these files, with patches each of which applies without the others."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / name, folder / name)
    for patch in patches:
        apply(patch, folder, "--check")
    for patch in patches:
        apply(patch, folder)


def update(folder, staged):
    """Makes a folder equal to a staged one, and leaves files that are equal, and those that commands wrote, alone."""
    names = {str(path.relative_to(staged)) for path in staged.rglob("*") if path.is_file()}
    before = folder.with_suffix(".files")  # what was staged the last time
    for name in set(before.read_text().split("\n") if before.exists() else []) - names - {""}:
        (folder / name).unlink(missing_ok=True)
    before.write_text("\n".join(sorted(names)))
    for name in names:
        target = folder / name
        if not target.is_file() or not filecmp.cmp(staged / name, target, shallow=False):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(staged / name, target)
    return names


def build(tree, preset, expressions, targets):
    environment = dict(os.environ, GIT_CEILING_DIRECTORIES=str(tree.parent))
    werror = os.environ.get("PACELINE_WERROR", "OFF")
    configure = ["cmake", "--preset", preset, "-B", "build/release", *(FLAGS if preset == "release" else []), *WITHOUT,
                 "-D", f"PACELINE_WERROR={werror}", "-D", f"PACELINE_TESTS={'|'.join(expressions)}", "--log-level=NOTICE"]
    make = ["cmake", "--build", "build/release", "--parallel", str(len(os.sched_getaffinity(0))), "--target", *targets]
    log = tree.with_suffix(".log")
    with log.open("w") as out:
        for command in (configure, make):
            if subprocess.run(command, cwd=tree, env=environment, stdout=out, stderr=subprocess.STDOUT).returncode != 0:
                raise Failure(f"the tree with all patches does not build:\n{''.join(log.read_text().splitlines(True)[-60:])}")


def commands_of(text):
    """Returns what stands above the build and what stands below it: input files, and commands with what they print."""
    blocks = blocks_of(text)
    above, below, seen = [], [], False
    for i, (kind, content, name, _, end) in enumerate(blocks):
        steps = below if seen else above
        if is_input(kind, name):
            steps.append(("write", name, content))
        if kind != "sh":
            continue
        shown = None
        if i + 1 < len(blocks) and blocks[i + 1][0] == "text" and not text[end : blocks[i + 1][3]].strip():
            shown = check_pages.lines_of(blocks[i + 1][1])
        before, found, after = content.partition("cmake --build ")
        after = after.partition("\n")[2] if found else ""
        for part in (before, after):
            if STEP.sub("", part).strip():
                (below if part is after else steps).append(("run", STEP.sub("", part), shown))
        seen = seen or bool(found)
    return above, below


def run(steps, tree):
    binary = tree / "build" / "release" / "paceline"
    for what, first, second in steps:
        if what == "write":
            (tree / first).write_text(second)
            continue
        printed = check_pages.run(first, tree, binary, False, TIMEOUT_S)
        if second is not None and not check_pages.same_lines(second, check_pages.lines_of(printed)):
            raise Failure(f"this printed something else:\n{first}--- shown\n" + "\n".join(second) + f"\n--- printed\n{printed}")


def tests_of(filters, list_tests):
    """Returns, for each part of the filters, the tests that it matches and no part before it; a part must match one."""
    taken, parts = set(), []
    for part in [part for patterns in filters for part in patterns.split(",")]:
        those = list_tests(part)
        if not those:
            raise Failure(f"no test matches -tc='{part}'")
        parts.append([name for name in those if name not in taken])
        taken.update(those)
    return [part for part in parts if part]


def list_tests(tree, pattern):
    listed = subprocess.run([TESTS, "-ltc", f"-tc={pattern}"], cwd=tree, capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if line and line[0] not in "[="]


def files_of_tests(tree):
    """Returns the path of each test's file, from the tree's top on."""
    listed = subprocess.run([TESTS, "-ltc", "-r=xml"], cwd=tree, capture_output=True, text=True, check=True).stdout
    return {test.get("name"): test.get("filename").removeprefix(str(tree))
            for test in xml.etree.ElementTree.fromstring(listed).iter("TestCase")}


def without(parts, files, expressions):
    """Leaves out the tests whose file matches one of the expressions."""
    left = [[name for name in part if not any(re.search(expression, files[name]) for expression in expressions)] for part in parts]
    return [part for part in left if part]


def run_tests(names, tree):
    pattern = ",".join(re.sub(r'[,"\\]', "?", name) for name in names)  # "?" matches any letter
    done = subprocess.run([TESTS, f"-tc={pattern}"], cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT_S)
    count = re.search(r"test cases: *(\d+)", done.stdout)
    if done.returncode != 0 or count is None or int(count.group(1)) < len(names):
        raise Failure(f"these tests fail: {pattern}\n{done.stdout[-4000:]}")


def check_all(pages, patches, sanitized_tests):
    """Applies all patches, builds once, and runs the commands of all pages and the tests that ctest does not run. Returns
    the faults."""
    start = time.monotonic()
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True,
                            check=True).stdout
    staged, tree = WORK / "staged", WORK / ("sanitized" if sanitized_tests else "tree")
    copy_with_patches(ROOT, [name for name in listed.split("\0") if name and (ROOT / name).is_file()], patches, staged)
    names = update(tree, staged)
    expressions = [expression for text in pages.values() for expression in CONFIGURE.findall(text)]
    for expression in expressions:
        check_expression(expression, names)
    for text in pages.values():
        run(commands_of(text)[0], tree)
    targets = {target for text in pages.values() for those in BUILD.findall(text) for target in those.split()}
    build(tree, "asan" if sanitized_tests else "release", expressions + sanitized_tests, sorted(targets))
    built = time.monotonic()
    tests = tests_of([FILTER.search(text).group(1) for text in pages.values()], lambda pattern: list_tests(tree, pattern))
    if sanitized_tests:
        tests = without(tests, files_of_tests(tree), sanitized_tests)
    faults = []
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        jobs = [("tests", pool.submit(run_tests, names, tree)) for names in tests]
        jobs += [(page, pool.submit(run, commands_of(text)[1], tree)) for page, text in pages.items()]
        for what, job in jobs:
            try:
                job.result()
            except (Failure, subprocess.SubprocessError) as failure:
                faults.append(f"{what}: {failure}")
    print(f"check_adding: {len(pages)} patches apply; built in {built - start:.0f} s, commands ran in {time.monotonic() - built:.0f} s")
    return faults


def main(arguments):
    sanitized_tests = arguments[1:] if arguments[:1] == ["--sanitizers"] else []
    if arguments not in ([], ["--texts"]) and len(sanitized_tests) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    folder = ROOT / "docs" / "adding"
    pages = {page: page.read_text() for page in sorted(folder.glob("*.md"))}
    faults = []
    for page, text in pages.items():
        try:
            compare(text, page.with_suffix(".patch").read_text())
            if [str(page.relative_to(ROOT).with_suffix(".patch"))] != APPLY.findall(text):
                raise Failure("the page applies another patch than its own")
        except (Failure, OSError) as failure:
            faults.append(f"{page}: {failure}")
    if not faults and arguments != ["--texts"]:
        try:
            faults = check_all(pages, [page.with_suffix(".patch") for page in pages], sanitized_tests)
        except (Failure, subprocess.SubprocessError) as failure:
            faults = [str(failure)]
    for fault in faults:
        print(f"check_adding: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

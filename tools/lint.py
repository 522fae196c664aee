#!/usr/bin/env python3
"""Runs clang-tidy over the product's .cpp files, several of them as one translation unit.

    tools/lint.py                 every file, with the checks of .ci/lint-checks
    tools/lint.py --changed       what differs from changed.base(), a header by a file that includes it
    tools/lint.py --share N       one file in N, by a hash of its name and of HEAD, so that every file has its turn
    tools/lint.py --families      every family of .clang-tidy over every file, one by one (an hour)
    tools/lint.py --families --tests    the same over the tests

clang-tidy spends most of its time for a file on the headers that it includes; a batch of files of one
library pays for them once. Files of a batch must not use the same name in their anonymous namespaces.
The compiler finds collisions that a simple reading misses, and the batch is then cut in two.

Prints the output of clang-tidy. Exits 1 if there is any, or if a file does not compile by itself.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

import changed

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "lint"
HEADERS = str(ROOT) + r"/(sim|topologies|models|algorithms|analysis|app|bench|examples)/.*\.[ch]pp$"
# The last name before a parenthesis, a brace, an equals sign or an array's bracket.
DEFINED = re.compile(r"^(?:(?:struct|class|enum class|enum) (\w+)|using (\w+) ="
                     r"|(?!using |template )[\w:].*?\b(\w+)\s*[({=\[])")


def private_names(source):
    """Returns the names that the file defines at the left margin of its anonymous namespaces."""
    names, inside = set(), False
    for line in source.splitlines():
        if line.startswith("namespace {"):
            inside = True
        elif line.startswith("}  // namespace") and "paceline" not in line:
            inside = False
        elif inside and (found := DEFINED.match(line)):
            names.add(found[1] or found[2] or found[3])
    if "BENCHMARK_MAIN" in source or "int main(" in source:
        names.add("main")
    return names


def flags_of(entry):
    """Returns the command without its file, and without compiler warnings, which the build gives already."""
    words = shlex.split(entry["command"])
    for option, takes_value in (("-o", True), ("-c", False)):
        at = words.index(option)
        del words[at : at + (2 if takes_value else 1)]
    words.remove(entry["file"])
    return tuple(words + ["-w"])


def batches_of(entries, size):
    """Returns lists of (file, ...) with equal flags and distinct private names, by first fit."""
    batches = []
    for entry in sorted(entries, key=lambda e: e["file"]):
        names = private_names(pathlib.Path(entry["file"]).read_text())
        flags = flags_of(entry)
        for batch in batches:
            if batch["flags"] == flags and len(batch["files"]) < size and not names & batch["names"]:
                batch["files"].append(entry["file"])
                batch["names"] |= names
                break
        else:
            batches.append({"flags": flags, "files": [entry["file"]], "names": names})
    return [(batch["flags"], batch["files"]) for batch in batches]


def lint(batch, folder, build, checks):
    """Returns clang-tidy's output for a batch, which is cut in two if its files collide."""
    flags, files = batch
    name = "-".join(pathlib.Path(files[0]).relative_to(ROOT).with_suffix("").parts)
    unit = folder / f"{name}-and-{len(files) - 1}.cpp"
    unit.write_text("".join(f'#include "{file}"\n' for file in files))
    command = ["clang-tidy-19", "--quiet", f"--config-file={ROOT}/.clang-tidy", f"--checks={checks}",
               f"--header-filter={HEADERS}", str(unit), "--", *flags[1:]]
    run = subprocess.run(command, cwd=build, capture_output=True, text=True, check=False)
    if "[clang-diagnostic-error]" in run.stdout and len(files) > 1:
        print(f"lint: {unit.name} is cut in two: "
              + next(line for line in run.stdout.splitlines() if "diagnostic-error" in line), flush=True)
        half = len(files) // 2
        return "".join(lint((flags, part), folder, build, checks)
                       for part in (files[:half], files[half:]))
    return run.stdout if run.returncode == 0 else run.stdout or run.stderr


def changed_files(files):
    """Returns those of `files` that a branch changed, a header by a file that includes it.

    The file of a header is the .cpp beside it, or else the first that includes it.
    """
    since = changed.base()
    print(f"lint: what differs from {since[:12]}", flush=True)
    paths = changed.changed_files(since)
    by_path = {str(pathlib.Path(file).relative_to(ROOT)): file for file in files}
    found = {by_path[path] for path in paths if path in by_path}
    for header in (path for path in paths if path.endswith(".hpp") and (ROOT / path).exists()):
        beside = header.removesuffix(".hpp") + ".cpp"
        including = (path for path in sorted(by_path) if f'#include "{header}"' in (ROOT / path).read_text())
        if path := beside if beside in by_path else next(including, None):
            found.add(by_path[path])
    return found


def in_share(file, commit, share):
    """Whether the file is one of those, one in `share`, whose turn it is at this commit."""
    text = f"{pathlib.Path(file).relative_to(ROOT)} {commit}"
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) % share == 0


def database():
    """Configures build/lint, where nothing is compiled, and returns its commands: one for each source."""
    options = ["-D", "PACELINE_UNITY=OFF", "-D", "PACELINE_PRECOMPILE=OFF", "--log-level=WARNING"]
    subprocess.run(["cmake", "--preset", "release", "-B", str(BUILD), *options], cwd=ROOT, check=True)
    return json.loads((BUILD / "compile_commands.json").read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--changed", action="store_true")
    parser.add_argument("--share", type=int, default=1)
    parser.add_argument("--families", action="store_true")
    parser.add_argument("--tests", action="store_true")
    parser.add_argument("--size", type=int, default=16, help="files of a batch at the most")
    arguments = parser.parse_args()

    entries = database()
    if arguments.families:
        which = r"(/tests/|_test).*\.cpp$" if arguments.tests else r"^(?!.*/(build|tests)/)(?!.*_test\.cpp$).*\.cpp$"
        return subprocess.run(["run-clang-tidy-19", "-p", str(BUILD), "-quiet", "-j", str(os.cpu_count()), which], check=False).returncode
    others = (str(ROOT / "tests"), str(ROOT / "build"))
    entries = [entry for entry in entries if entry["file"].endswith(".cpp") and not entry["file"].startswith(others)
               and not entry["file"].endswith("_test.cpp")]
    if arguments.changed:
        chosen = changed_files({entry["file"] for entry in entries})
        entries = [entry for entry in entries if entry["file"] in chosen]
    commit = changed.git("rev-parse", "HEAD").strip()
    entries = [entry for entry in entries if in_share(entry["file"], commit, arguments.share)]
    checks = ",".join((ROOT / ".ci" / "lint-checks").read_text().split())
    folder = BUILD / "lint"
    folder.mkdir(exist_ok=True)
    batches = batches_of(entries, arguments.size)
    print(f"lint: {len(entries)} files in {len(batches)} batches", flush=True)
    clean = True
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for said in pool.map(lambda batch: lint(batch, folder, BUILD, checks), batches):
            if said.strip():
                clean = False
                print(said, flush=True)
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Runs clang-tidy over the product's .cpp files, several of them as one translation unit.

clang-tidy spends most of its time for a file on the headers that it includes; a batch of files of one
library pays for them once. Files of a batch must not use the same name in their anonymous namespaces.
The compiler finds collisions that a simple reading misses, and the batch is then cut in two.

Prints the output of clang-tidy. Exits 1 if there is any, or if a file does not compile by itself.

With --changed-in N (CI), it takes what the last N commits or the work tree changed, and one in --share of the other
files, by a hash of the file's name and of HEAD, so that every file has its turn. It names what it leaves out.
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

ROOT = pathlib.Path(__file__).resolve().parent.parent
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


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()


def changed_files(commits, files):
    """Returns those of `files` that the last commits or the work tree changed, a header by a file that includes it.

    The file of a header is the .cpp beside it, or else the first that includes it.
    """
    changed = {*git("log", f"-{commits}", "--name-only", "--pretty=format:"), *git("diff", "--name-only", "HEAD")}
    by_path = {str(pathlib.Path(file).relative_to(ROOT)): file for file in files}
    found = {by_path[path] for path in changed if path in by_path}
    headers = {path for path in changed if path.endswith(".hpp") and (ROOT / path).exists()}
    for header in sorted(headers):
        beside = header.removesuffix(".hpp") + ".cpp"
        including = (path for path in sorted(by_path) if f'#include "{header}"' in (ROOT / path).read_text())
        if path := beside if beside in by_path else next(including, None):
            found.add(by_path[path])
    return found


def in_share(file, commit, share):
    """Whether the file is one of those, one in `share`, whose turn it is at this commit."""
    text = f"{pathlib.Path(file).relative_to(ROOT)} {commit}"
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) % share == 0


def name_those_left_out(files):
    """Prints the files by folder."""
    folders = {}
    for file in sorted(pathlib.Path(file).relative_to(ROOT) for file in files):
        folders.setdefault(file.parent, []).append(file.stem)
    print(f"lint: left out this time, {len(files)} files (make check-lint has them):")
    for folder, stems in folders.items():
        print(f"    {folder}: {' '.join(stems)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="a build with compile_commands.json")
    parser.add_argument("--checks", type=pathlib.Path, default=ROOT / ".ci" / "lint-checks")
    parser.add_argument("--size", type=int, default=16, help="files of a batch at the most")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="files whose path has this in it")
    parser.add_argument("--changed-in", type=int, metavar="N", help="what the last N commits changed, and a share of the rest")
    parser.add_argument("--share", type=int, default=4, help="with --changed-in: one in so many of the rest")
    arguments = parser.parse_args()

    build = arguments.build.resolve()
    tests, built = str(ROOT / "tests"), str(ROOT / "build")
    entries = [entry for entry in json.loads((build / "compile_commands.json").read_text())
               if entry["file"].endswith(".cpp") and arguments.only in entry["file"]
               and not entry["file"].startswith((tests, built)) and not entry["file"].endswith("_test.cpp")]
    if arguments.changed_in is not None:
        everything = {entry["file"] for entry in entries}
        changed = changed_files(arguments.changed_in, everything)
        commit = git("rev-parse", "HEAD")[0]
        chosen = changed | {file for file in everything if in_share(file, commit, arguments.share)}
        print(f"lint: {len(changed)} files that the last {arguments.changed_in} commits changed, and {len(chosen - changed)} "
              f"of the other {len(everything - changed)}, one in {arguments.share} by a hash of name and commit", flush=True)
        entries = [entry for entry in entries if entry["file"] in chosen]
        name_those_left_out(everything - chosen)
    checks = ",".join(arguments.checks.read_text().split())
    folder = build / "lint"
    folder.mkdir(exist_ok=True)
    batches = batches_of(entries, arguments.size)
    print(f"lint: {len(entries)} files in {len(batches)} batches", flush=True)
    clean = True
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for said in pool.map(lambda batch: lint(batch, folder, build, checks), batches):
            if said.strip():
                clean = False
                print(said, flush=True)
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main())

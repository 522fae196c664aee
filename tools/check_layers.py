#!/usr/bin/env python3
"""Refuses includes that go against the layers of docs/design.md, or that cost every reader seconds.

    tools/check_layers.py [ROOT]        check the tree at ROOT (default: this repository)
    tools/check_layers.py --self-test   check that the checker refuses what it must

Prints `file:line: what; allowed: what instead` for each fault. Exit code 1 if there is one.
"""

import re
import sys

import line_check

# folder: the folders that it may include
PRODUCT = ["sim", "topologies", "models", "algorithms", "analysis", "app"]
MAY_INCLUDE = {
    "sim": ["sim"],
    "topologies": ["sim", "topologies"],
    "models": ["sim", "models"],
    "algorithms": ["sim", "topologies", "models", "algorithms"],
    "analysis": ["sim", "topologies", "models", "algorithms", "analysis"],
    "app": PRODUCT,
    "tests": [*PRODUCT, "bench", "tests"],
    "bench": [*PRODUCT, "bench", "tests"],
}
HEADERS = {".hpp", ".h", ".ipp", ".inl"}
SOURCES = {".cpp", ".cc"}

# (include, what it costs or breaks, where it is allowed)
HEAVY_IN_HEADERS = [
    (re.compile(r"boost/graph/"), "Boost.Graph in a header", ".cpp files"),
    (re.compile(r"nlohmann/json\.hpp$"), "json.hpp in a header", "nlohmann/json_fwd.hpp"),
    (re.compile(r"Eigen/(Dense|Eigen)$"), "Eigen/Dense in a header", "Eigen/Core"),
]
JSON_FOLDERS = ["app", "tests"]
ENGINE_ALLOWED = re.compile(r"[a-z_0-9]+$|fmt/|boost/random(/|\.hpp$)|sim/engine/")
ENGINE_ALLOWED_TEXT = "the standard library, fmt, Boost.Random, sim/engine"

INCLUDE = re.compile(r"\s*#\s*include\b\s*(?P<open>[<\"]?)(?P<path>[^>\"]*)")


def faults_of_include(file, quoted, path):
    """Yields (what, allowed) for an include of `path` in `file`, which is relative to the root."""
    folder = file.parts[0]
    target = path.split("/")[0]
    if target in MAY_INCLUDE and "/" in path:
        if target not in MAY_INCLUDE[folder]:
            yield f"{folder} includes {path}", ", ".join(MAY_INCLUDE[folder])
        elif not quoted:
            yield f"our own {path} in angle brackets", f'#include "{path}"'
    elif quoted:
        yield f'"{path}" is not a path from the root of the repository', '"folder/.../file.hpp"'

    if file.suffix in HEADERS:
        for pattern, what, allowed in HEAVY_IN_HEADERS:
            if pattern.match(path):
                yield what, allowed
    if target == "nlohmann" and folder not in JSON_FOLDERS:
        yield f"JSON in {folder}", f"JSON in {', '.join(JSON_FOLDERS)}; typed options elsewhere"
    if file.parts[:2] == ("sim", "engine") and not ENGINE_ALLOWED.match(path):
        yield f"sim/engine includes {path}", ENGINE_ALLOWED_TEXT


def faults_of_file(root, file):
    """Yields one line of text for each fault of `file`."""
    for number, line in enumerate((root / file).read_text(encoding="utf-8").splitlines(), 1):
        include = INCLUDE.match(line)
        if include is None:
            continue
        if not include["open"]:
            yield f"{file}:{number}: an include by macro; allowed: the path, written out"
            continue
        for what, allowed in faults_of_include(file, include["open"] == '"', include["path"]):
            yield f"{file}:{number}: {what}; allowed: {allowed}"


def files_of(root):
    """The C++ files in the folders that have a layer, relative to the root, in a fixed order."""
    found = (f for folder in MAY_INCLUDE for f in (root / folder).rglob("*"))
    return sorted(f.relative_to(root) for f in found if f.suffix in HEADERS | SOURCES)


def check(root):
    """Returns (number of files, faults)."""
    files = files_of(root)
    return len(files), [fault for file in files for fault in faults_of_file(root, file)]


# One line per rule; every one of the bad must be refused, once, and none of the good.
GOOD = [
    ("sim/engine/a.hpp", '#include "sim/engine/b.hpp"'),
    ("sim/engine/a.cpp", "#include <fmt/format.h>"),
    ("sim/engine/random.hpp", "#include <boost/random/uniform_01.hpp>"),
    ("sim/network/a.hpp", "#include <Eigen/Core>"),
    ("topologies/a.cpp", "#include <boost/graph/adjacency_list.hpp>"),
    ("models/a.cpp", "#include <Eigen/Dense>"),
    ("algorithms/a.cpp", '#include "topologies/mixing/ring.hpp"'),
    ("analysis/a.cpp", '#include "algorithms/a.hpp"'),
    ("app/a.hpp", "#include <nlohmann/json_fwd.hpp>"),
    ("app/a.cpp", "#include <nlohmann/json.hpp>"),
    ("tests/app/a_test.cpp", '#include "app/a.hpp"'),
    ("bench/a.cpp", '#include "tests/run.hpp"'),
]
BAD = [
    ("sim/a.cpp", '#include "models/a.hpp"'),
    ("sim/network/a.hpp", '#include "topologies/a.hpp"'),
    ("sim/b.cpp", "#  include <algorithms/a.hpp>"),
    ("topologies/a.hpp", '#include "models/a.hpp"'),
    ("models/a.hpp", '#include "topologies/a.hpp"'),
    ("algorithms/a.hpp", '#include "analysis/a.hpp"'),
    ("analysis/a.hpp", '#include "app/a.hpp"'),
    ("app/a.cpp", '#include "tests/run.hpp"'),
    ("app/b.cpp", '#include "a.hpp"'),
    ("app/c.cpp", '#include "../sim/a.hpp"'),
    ("app/d.cpp", "#include <sim/a.hpp>"),
    ("app/e.cpp", "#include HEADER"),
    ("topologies/b.hpp", "#include <boost/graph/graph_traits.hpp>"),
    ("app/a.hpp", "#include <nlohmann/json.hpp>"),
    ("models/b.hpp", "#include <Eigen/Dense>"),
    ("models/b.cpp", "#include <nlohmann/json.hpp>"),
    ("bench/a.cpp", "#include <nlohmann/json.hpp>"),
    ("sim/engine/a.cpp", "#include <Eigen/Core>"),
    ("sim/engine/b.cpp", "#include <boost/container/small_vector.hpp>"),
    ("sim/engine/c.cpp", '#include "sim/network/a.hpp"'),
    ("sim/engine/d.cpp", "#include <unistd.h>"),
]


if __name__ == "__main__":
    sys.exit(line_check.main("check_layers", __doc__, check, GOOD, BAD, of_what="includes",
                             done="all includes go the right way"))

#!/usr/bin/env python3
"""Refuses includes that go against the layers of docs/design.md or in circles, or that cost every reader seconds.

A folder at the root is a layer, a folder in it a room. LAYERS and ROOMS say what each may include. Besides, no chain of
includes leads back to its folder, nor to its pair of files (x.hpp and x.cpp). A friend is a class of the same room, and a
folder has at most 40 files.

    tools/check_layers.py [ROOT]        check the tree at ROOT (default: this repository)
    tools/check_layers.py --self-test   check that the checker refuses what it must

Prints `file:line: what; allowed: what instead` for each fault. Exit code 1 if there is one.
"""

import re
import sys
from collections import Counter
from pathlib import Path

import line_check

# layer: the layers that it may include
PRODUCT = ["sim", "topologies", "models", "algorithms", "analysis", "app"]
LAYERS = {
    "sim": ["sim"],
    "topologies": ["sim", "topologies"],
    "models": ["sim", "models"],
    "algorithms": ["sim", "topologies", "models", "algorithms"],
    "analysis": ["sim", "topologies", "models", "algorithms", "analysis"],
    "app": PRODUCT,
    "explorer": [*PRODUCT, "explorer"],
    "python": [*PRODUCT, "python"],
    "tests": [*PRODUCT, "bench", "tests"],
    "bench": [*PRODUCT, "bench", "tests"],
    "examples": [*PRODUCT, "tests", "examples"],
}

# layer: {room: the rooms of the layer that it may include besides itself}. A room's inner folders belong to it. Rooms of
# one layer that are not listed may include each other, as long as that leads to no circle.
FAMILY = ["algorithms/compression", "algorithms/optimizers", "algorithms/rounds", "algorithms/lives", "algorithms/timing",
          "algorithms/mail", "algorithms/runtime", "algorithms/coders", "algorithms/exchange"]
ROOMS = {
    "sim/numeric": [],  # sim/engine, which all may include, has ENGINE_ALLOWED
    "sim/compute": ["sim/numeric"],
    "sim/network": ["sim/numeric"],
    "sim/ahead": ["sim/network"],
    "sim/messages": ["sim/numeric", "sim/network"],
    "sim/collectives": ["sim/network", "sim/ahead", "sim/messages"],
    "algorithms/compression": [],
    "algorithms/optimizers": [],
    "algorithms/rounds": FAMILY[:1],
    "algorithms/lives": FAMILY[2:3],
    "algorithms/timing": [],
    "algorithms/mail": FAMILY[2:4],
    "algorithms/runtime": FAMILY[:6],
    "algorithms/coders": FAMILY[:7],
    "algorithms/exchange": FAMILY[:8],
    "algorithms/collective": FAMILY,
    "algorithms/dense": FAMILY,
    "algorithms/sparse": FAMILY,
    "algorithms/compressed": FAMILY,
    "algorithms/adaptive": FAMILY,
    "algorithms/decentralized": FAMILY,
    "algorithms/gossip": FAMILY,
    "algorithms/local": [*FAMILY, "algorithms/gossip"],  # SlowMo over SGP
    "algorithms/servers": [*FAMILY, "algorithms/local"],  # FedAvg's local steps
    "algorithms/islands": [*FAMILY, "algorithms/dense"],  # what an island does inside
    "analysis/fit": [],
    "analysis/forms": [],
    "analysis/measures": ["analysis/trust"],
    "analysis/traces": ["analysis/measures"],
    "analysis/trust": [],
    "app/host": ["app/json"],
    "app/json": [],
    "app/scenario": ["app/json"],
    "app/run": ["app/json", "app/scenario"],
    "app/study": ["app/host", "app/json", "app/scenario", "app/run"],
    "app/questions": ["app/host", "app/json", "app/scenario", "app/run", "app/study"],
    "app/commands": ["app/host", "app/json", "app/scenario", "app/run", "app/study", "app/questions"],
}
HEADERS = {".hpp", ".h", ".ipp", ".inl"}
SOURCES = {".cpp", ".cc"}

# (include, what it costs or breaks, where it is allowed)
HEAVY_IN_HEADERS = [
    (re.compile(r"boost/graph/"), "Boost.Graph in a header", ".cpp files"),
    (re.compile(r"nlohmann/json\.hpp$"), "json.hpp in a header", "nlohmann/json_fwd.hpp"),
    (re.compile(r"Eigen/(Dense|Eigen)$"), "Eigen/Dense in a header", "Eigen/Core"),
]
JSON_FOLDERS = ["app", "explorer", "python", "tests", "bench", "examples"]
ENGINE_ALLOWED = re.compile(r"[a-z_0-9]+$|fmt/|boost/random(/|\.hpp$)|boost/circular_buffer\.hpp$|boost/smart_ptr/intrusive_|sim/engine/")
ENGINE_ALLOWED_TEXT = "the standard library, fmt, Boost.Random, Boost.CircularBuffer, intrusive pointers of Boost.SmartPtr, sim/engine"

# Rooms that programs without threads and files are built of (PACELINE_EMBEDDED), the headers that they may not include,
# and the files that use threads where there are threads.
EMBEDDED = ["sim", "topologies", "models", "algorithms", "analysis", "app/json", "app/scenario", "app/run", "explorer"]
THREADS_AND_FILES = re.compile(r"(filesystem|fstream|mutex|shared_mutex|thread|stop_token|condition_variable|future|semaphore|"
                               r"latch|barrier|unistd\.h|fcntl\.h|pthread\.h|mpi\.h|sys/.*|tbb/.*|oneapi/.*)$")
PARALLEL = [Path("models/tensors/parallel.hpp"), Path("models/tensors/parallel.cpp")]

INCLUDE = re.compile(r"\s*#\s*include\b\s*(?P<open>[<\"]?)(?P<path>[^>\"]*)")
FRIEND = re.compile(r"\bfriend\s+(?:class\s+|struct\s+)?(?:\w*::)*(\w+)\s*(?:<[^;]*>)?\s*;")
CLASS = re.compile(r"\b(?:class|struct)\s+(?:\[\[[^]]*\]\]\s*|alignas\([^)]*\)\s*)*(\w+)\s*(?:<[^;{]*>)?\s*(?:final\s*)?[:{]")


def room_of(file):
    """The layer and the room of a file, such as app/json."""
    return "/".join(file.parts[:2])


def faults_of_include(file, quoted, path):
    """Yields (what, allowed) for an include of `path` in `file`, which is relative to the root."""
    folder = file.parts[0]
    target = path.split("/")[0]
    if target in LAYERS and "/" in path:
        room, target_room = room_of(file), room_of(Path(path))
        if target not in LAYERS[folder]:
            yield f"{folder} includes {path}", ", ".join(LAYERS[folder])
        elif room in ROOMS and target_room in ROOMS and folder == target and target_room not in [room, *ROOMS[room]]:
            yield f"{room} includes {path}", ", ".join([room, *ROOMS[room]])
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
    if {folder, room_of(file)} & set(EMBEDDED) and not quoted and THREADS_AND_FILES.match(path) and file not in PARALLEL:
        yield f"threads or files in {room_of(file)}: {path}", f"{PARALLEL[0]}, app/host and what uses it"
    elif file.parts[:2] == ("sim", "engine") and not ENGINE_ALLOWED.match(path):
        yield f"sim/engine includes {path}", ENGINE_ALLOWED_TEXT


def includes_of(root, file):
    """Returns (line number, match of INCLUDE) for each include of `file`."""
    lines = enumerate((root / file).read_text(encoding="utf-8").splitlines(), 1)
    return [(number, include) for number, line in lines if (include := INCLUDE.match(line))]


def faults_of_file(file, includes):
    """Yields one line of text for each fault of `file` by itself."""
    for number, include in includes:
        if not include["open"]:
            yield f"{file}:{number}: an include by macro; allowed: the path, written out"
            continue
        for what, allowed in faults_of_include(file, include["open"] == '"', include["path"]):
            yield f"{file}:{number}: {what}; allowed: {allowed}"


def circles(edges):
    """Yields circles of a graph {node: {successor: ...}}, each as its nodes in order, until every node of one is named."""
    state = {}

    def visit(node, path):
        state[node] = "open"
        for successor in edges.get(node, {}):
            if state.get(successor) == "open":
                yield path[path.index(successor):]
            elif successor not in state:
                yield from visit(successor, [*path, successor])
        state[node] = "done"

    for node in sorted(edges):
        if node not in state:
            yield from visit(node, [node])


def faults_of_circles(includes_by_file):
    """Yields a line of text for each include of a chain that leads back to its folder or to its pair of files.

    Includes that are refused for themselves are left out.
    """
    groups = {"pairs of files": lambda file: str(file.with_suffix("")), "folders": lambda file: str(file.parent)}
    for what, group in groups.items():
        known = {group(file) for file in includes_by_file}
        edges = {}
        for file, includes in includes_by_file.items():
            for number, include in includes:
                target = group(Path(include["path"]))
                refused = any(faults_of_include(file, include["open"] == '"', include["path"]))
                if target in known and target != group(file) and not refused:
                    edges.setdefault(group(file), {}).setdefault(target, f"{file}:{number}")
        for circle in circles(edges):
            chain = " -> ".join([*circle, circle[0]])
            for node, successor in zip(circle, [*circle[1:], circle[0]]):
                yield f"{edges[node][successor]}: {what} include in a circle: {chain}; allowed: one direction"


MOST_FILES = 40  # of a folder: a folder that needs a map has outgrown itself


def faults_of_folders(files):
    """Yields a line of text for each folder of more C++ files."""
    for folder, count in sorted(Counter(file.parent for file in files).items()):
        if count > MOST_FILES:
            yield f"{folder}: {count} C++ files; allowed: {MOST_FILES}; part the folder by what its files are about"


def faults_of_friends(root, files):
    """Yields a line of text for each friend that is a class which its room does not define."""
    texts = {file: (root / file).read_text(encoding="utf-8") for file in files}
    classes = {}
    for file, text in texts.items():
        classes.setdefault(room_of(file), set()).update(CLASS.findall(text))
    for file, text in texts.items():
        for number, line in enumerate(text.splitlines(), 1):
            for friend in FRIEND.findall(line):
                if friend not in classes[room_of(file)]:
                    yield f"{file}:{number}: friend of another room: {friend}; allowed: classes of {room_of(file)}"


def files_of(root):
    """The C++ files in the folders that have a layer, relative to the root, in a fixed order."""
    found = (f for folder in LAYERS for f in (root / folder).rglob("*"))
    return sorted(f.relative_to(root) for f in found if f.suffix in HEADERS | SOURCES)


def check(root):
    """Returns (number of files, faults)."""
    files = files_of(root)
    includes_by_file = {file: includes_of(root, file) for file in files}
    of_files = (fault for file, includes in includes_by_file.items() for fault in faults_of_file(file, includes))
    return len(files), [*of_files, *faults_of_circles(includes_by_file), *faults_of_friends(root, files),
                        *faults_of_folders(files)]


# One line per rule; every one of the bad must be refused, once, and none of the good.
GOOD = [
    ("sim/engine/a.hpp", '#include "sim/engine/b.hpp"'),
    ("sim/engine/a.cpp", "#include <fmt/format.h>"),
    ("sim/engine/random.hpp", "#include <boost/random/uniform_01.hpp>"),
    ("sim/engine/channel.hpp", "#include <boost/circular_buffer.hpp>"),
    ("sim/network/a.hpp", "#include <Eigen/Core>"),
    ("topologies/a.cpp", "#include <boost/graph/adjacency_list.hpp>"),
    ("models/a.cpp", "#include <Eigen/Dense>"),
    ("algorithms/a.cpp", '#include "topologies/mixing/ring.hpp"'),
    ("analysis/a.cpp", '#include "algorithms/a.hpp"'),
    ("app/a.hpp", "#include <nlohmann/json_fwd.hpp>"),
    ("app/a.cpp", "#include <nlohmann/json.hpp>"),
    ("tests/app/a_test.cpp", '#include "app/a.hpp"'),
    ("bench/a.cpp", '#include "tests/run.hpp"'),
    ("examples/a_test.cpp", '#include "tests/run.hpp"'),
    ("algorithms/sparse/a.cpp", '#include "algorithms/runtime/a.hpp"'),
    ("app/study/ranks/a.cpp", '#include "app/json/a.hpp"'),
    ("app/scenario/cluster/a.cpp", '#include "app/scenario/algorithms/a.hpp"'),
    ("app/host/a.cpp", "#include <filesystem>"),
    ("app/study/a.cpp", "#include <tbb/global_control.h>"),
    ("models/tensors/parallel.cpp", "#include <tbb/parallel_for.h>"),
    ("sim/engine/b.cpp", "#include <atomic>"),
    ("sim/collectives/a.cpp", '#include "sim/ahead/a.hpp"'),
    ("sim/network/b.hpp", "class [[nodiscard]] Alpha final : Beta { friend class Gamma; };"),
    ("sim/network/c.hpp", "struct Gamma { friend struct Alpha; friend bool operator==(Gamma, Gamma); };"),
    ("sim/network/d.hpp", "template <class T> class List { friend class List<int>; };"),
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
    ("tests/a.cpp", '#include "examples/a.hpp"'),
    ("app/b.cpp", '#include "a.hpp"'),
    ("app/c.cpp", '#include "../sim/a.hpp"'),
    ("app/d.cpp", "#include <sim/a.hpp>"),
    ("app/e.cpp", "#include HEADER"),
    ("topologies/b.hpp", "#include <boost/graph/graph_traits.hpp>"),
    ("app/a.hpp", "#include <nlohmann/json.hpp>"),
    ("models/b.hpp", "#include <Eigen/Dense>"),
    ("models/b.cpp", "#include <nlohmann/json.hpp>"),
    ("models/a.cpp", "#include <nlohmann/json.hpp>"),
    ("algorithms/runtime/a.cpp", '#include "algorithms/dense/a.hpp"'),
    ("algorithms/dense/a.cpp", '#include "algorithms/sparse/a.hpp"'),
    ("analysis/forms/a.cpp", '#include "analysis/measures/a.hpp"'),
    ("app/scenario/cluster/a.hpp", '#include "app/host/a.hpp"'),
    ("app/run/a.hpp", '#include "app/study/ranks/a.hpp"'),
    ("sim/p.hpp", '#include "sim/q.hpp"'),
    ("sim/q.cpp", '#include "sim/p.hpp"'),
    ("models/f/a.hpp", '#include "models/g/z.hpp"'),
    ("models/g/b.hpp", '#include "models/f/z.hpp"'),
    ("sim/engine/a.cpp", "#include <Eigen/Core>"),
    ("sim/engine/b.cpp", "#include <boost/container/small_vector.hpp>"),
    ("sim/engine/c.cpp", '#include "sim/network/a.hpp"'),
    ("sim/engine/d.cpp", "#include <unistd.h>"),
    ("models/data/a.cpp", "#include <fstream>"),
    ("algorithms/runtime/b.cpp", "#include <tbb/parallel_for.h>"),
    ("app/json/a.cpp", "#include <filesystem>"),
    ("app/scenario/a.hpp", "#include <mutex>"),
    ("app/run/b.cpp", "#include <sys/resource.h>"),
    ("sim/network/b.cpp", '#include "sim/ahead/a.hpp"'),
    ("sim/network/c.cpp", '#include "sim/collectives/a.hpp"'),
    ("sim/ahead/a.cpp", '#include "sim/collectives/a.hpp"'),
    ("sim/messages/a.cpp", '#include "sim/ahead/a.hpp"'),
    ("sim/network/b.hpp", "class Alpha { friend class Gamma; };"),
    ("sim/network/c.hpp", "class Gamma; struct Beta { friend Gamma; };"),
    ("sim/ahead/b.hpp", "struct Gamma { friend struct paceline::Alpha; };"),
]


if __name__ == "__main__":
    sys.exit(line_check.main("check_layers", __doc__, check, GOOD, BAD, of_what="includes",
                             done="all includes go the right way"))

"""Traces that are not what they seem, and outputs that are not where they seem, of tools/import_trace.py."""

import gzip
import json
import os
import random
import resource
import sys
import time

from arena import ROOT, Skipped, one_line

TRACE = (ROOT / "tests" / "traces" / "data-parallel.chakra.json").read_bytes()
BOTH = ("--out", "net.json", "--scenario", "curve.json")


def _start(arena, *arguments, **how):
    arena.program = str(ROOT / "tools" / "import_trace.py")
    return arena.start(*arguments, under=[sys.executable, "-B"], **how)


def _import(arena, *arguments, **how):
    return arena.end(_start(arena, *arguments, **how))


def _contents(arena):
    return {name: arena.read(name) for name in arena.names(".")}


def importer_onto_its_input(arena):
    """the importer writes over neither its trace nor a user's file, by no spelling and no link"""
    arena.write("inner/trace.json", TRACE)
    arena.write("inner/mine.json", "a user's")
    for name in ("trace.json", "mine.json"):
        os.symlink(f"inner/{name}", arena.path / f"soft-{name}")
        os.symlink(f"soft-{name}", arena.path / f"twice-{name}")
        os.link(arena.path / "inner" / name, arena.path / f"hard-{name}")
        handle = os.open(arena.path / "inner" / name, os.O_RDONLY)
        for spelling in (f"inner/{name}", f"./inner/../inner//{name}", f"/proc/self/cwd/inner/{name}", f"soft-{name}",
                         f"twice-{name}", f"hard-{name}", f"/proc/self/fd/{handle}", f"/dev/fd/{handle}"):
            for output in (["--out", spelling], ["--out", "net.json", "--scenario", spelling]):
                ended = _import(arena, "inner/trace.json", *output, pass_fds=[handle])
                assert ended.code == 2 and one_line(ended.err) and spelling.encode() in ended.err, (output, ended)
        os.close(handle)
    assert (arena.read("inner/trace.json"), arena.read("inner/mine.json")) == (TRACE, b"a user's")
    assert not (arena.path / "net.json").exists() and arena.names("inner") == ["mine.json", "trace.json"]


def importer_killed_while_it_writes(arena):
    """an importer that is killed while it writes leaves the old files or the new ones, and nothing half"""
    if not os.path.isdir("/proc/self/fd"):
        raise Skipped("there is no /proc here")
    layers = 3000
    nodes = [{"name": f"COMP_NODE_{i}_{part}", "type": 4, "duration_micros": 1} for part in ("FWD", "BWD_WG") for i in range(layers)]
    nodes += [{"name": f"COMM_{i}", "type": 7, "data_deps": [layers + i + 1], "attr": [{"name": "comm_size", "int64_val": 4}]}
              for i in range(layers)]
    arena.write("long.json", json.dumps({"nodes": [{"id": i, **node} for i, node in enumerate(nodes, 1)]}))
    arena.write("short.json", TRACE)
    assert _import(arena, "long.json", *BOTH).code == 0
    new = {name: arena.read(name) for name in ("net.json", "curve.json")}
    assert _import(arena, "short.json", *BOTH).code == 0
    before, moments, killed = _contents(arena), random.Random(5), 0
    for _ in range(5):
        process = _start(arena, "long.json", *BOTH)
        while process.poll() is None and not _writes(arena, process.pid):
            pass
        time.sleep(moments.choice([0, 0.0005, 0.002, 0.01]))
        killed += process.poll() is None
        process.kill()
        process.communicate()
        for name, content in _contents(arena).items():
            whole = (before[name], new.get(name)) if name in before else new.values()
            assert content in whole, (name, content[-200:])
            if name not in before:
                os.unlink(arena.path / name)
        for name, content in before.items():
            arena.write(name, content)
    assert killed > 0


def _writes(arena, process):
    """Returns whether a process has one of the arena's files open, other than its trace."""
    folder = f"/proc/{process}/fd"
    try:
        files = [os.readlink(f"{folder}/{number}") for number in os.listdir(folder)]
    except OSError:
        return False
    return any(file.startswith(f"{arena.path}/") and not file.endswith("/long.json") for file in files)


def importer_on_a_full_disk(arena):
    """an importer whose disk is full says so, and leaves the old files"""
    place = arena.tmpfs("disk", "40k")
    arena.write("disk/trace.json", TRACE)
    both = ("--out", "disk/net.json", "--scenario", "disk/curve.json")
    assert _import(arena, "disk/trace.json", *both).code == 0
    before = arena.names("disk"), arena.read("disk/net.json"), arena.read("disk/curve.json")
    with open(place / "filler", "wb", buffering=0) as filler:
        try:
            while filler.write(b"x" * 4096):
                pass
        except OSError:
            pass
    for outputs in (both, both[:2], ("--out", "disk/new.json", "--scenario", "curve.json")):
        ended = _import(arena, "disk/trace.json", *outputs, "--name", "another")
        assert ended.code == 2 and b"cannot be written: No space left on device" in ended.err, (outputs, ended)
    os.unlink(place / "filler")
    assert (arena.names("disk"), arena.read("disk/net.json"), arena.read("disk/curve.json")) == before
    assert not (arena.path / "curve.json").exists()


def bombs(arena):
    """a gzip file that unpacks to gigabytes, once or twice, is refused in a line and in little memory"""
    piece = gzip.compress(b"[" + b" " * (64 << 20))
    arena.write("bomb.json.gz", piece * 33)
    arena.write("twice.json.gz", gzip.compress(piece * 33))
    for name, said in (("bomb.json.gz", b"unpacks to more than 2 GiB"), ("twice.json.gz", b"packed by gzip twice")):
        ended = _import(arena, name, limits=[(resource.RLIMIT_AS, 200 << 20)])
        assert ended.code == 2 and one_line(ended.err) and name.encode() in ended.err and said in ended.err, ended

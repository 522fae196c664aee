"""Folders for results that others use, and what is in them."""

import json
import os
import subprocess

from arena import RESULTS, SMALL


def _only_journal(arena, folder):
    (name,) = arena.names(f"{folder}/points")
    return arena.path / folder / "points" / name


def two_at_once(arena):
    """of processes that run into one folder at once, one works and the others say who does"""
    # A run lasts for much longer than the start of a process, so that the five overlap.
    run = ["run", "small.json", "--set", "stop.iterations=200000", "--out"]
    assert arena.run(*run, "whole").code == 0
    whole = arena.read("whole/results.csv")
    winners = losers = 0
    for _ in range(8):
        running = [arena.start(*run, "o") for _ in range(5)]
        ended = [arena.end(process) for process in running]
        for one in ended:
            if one.code == 2:
                losers += 1
                assert b"o: is in use by " in one.err and b"--out" in one.err, one
            else:
                winners += 1
                assert one.code == 0 and one.err == b"", one
        assert arena.read("o/results.csv") == whole and arena.names("o") == RESULTS
    assert winners >= 8 and losers > 0, (winners, losers)


def holder_is_told(arena):
    """the second process says which process holds the folder, where and since when"""
    first = arena.start("run", "small.json", "--out", "o", "--set", "stop.iterations=1000000000")
    try:
        while not (arena.path / "o/points").is_dir():
            assert first.poll() is None
        ended = arena.run("run", "small.json", "--out", "o", "--resume")
        assert ended.code == 2 and f"in use by process {first.pid} on ".encode() in ended.err, ended
        assert b": paceline run small.json --set stop.iterations=1000000000 --out o;" in ended.err, ended
    finally:
        first.kill()
        first.communicate()
    assert arena.run("run", "small.json", "--out", "o").code == 0  # a kill frees the folder
    assert arena.names("o") == RESULTS


def links_at_results(arena):
    """links in the place of results are replaced, and what they lead to stays"""
    precious = arena.write("precious", "a user's")
    for name in ("results.csv", "results.csv.tmp", "table.txt", "manifest.json", "points/x.point"):
        (arena.path / "o" / name).parent.mkdir(parents=True, exist_ok=True)
        os.symlink(precious, arena.path / "o" / name)
    assert arena.run("run", "small.json", "--out", "o", "--force").code == 0
    assert precious.read_bytes() == b"a user's"
    for name in ("results.csv", "table.txt", "manifest.json"):
        assert not (arena.path / "o" / name).is_symlink()


def odd_points(arena):
    """a FIFO, a device, a link, a folder and an endless file in points/ are passed over with a line"""
    study = SMALL | {"sweep": {}}
    del study["sweep"]
    arena.write("one.json", json.dumps(study))
    assert arena.run("run", "one.json", "--out", "o").code == 0
    journal, results = _only_journal(arena, "o"), arena.read("o/results.csv")
    whole = journal.read_bytes()
    for what in ("fifo", "device", "link", "folder", "endless", "cut", "altered", "unreadable"):
        subprocess.run(["rm", "-rf", journal.parent], check=True)
        journal.parent.mkdir()
        if what == "fifo":
            os.mkfifo(journal)
        elif what == "device":
            os.symlink("/dev/zero", journal)
        elif what == "link":
            os.symlink(arena.write("elsewhere", whole), journal)
        elif what == "folder":
            (journal / "inside").mkdir(parents=True)
        elif what == "endless":
            journal.touch()
            os.truncate(journal, 1 << 40)
        elif what == "cut":
            journal.write_bytes(whole[:-5])
        elif what == "altered":
            journal.write_bytes(whole.replace(b"0", b"1", 1))
        else:
            journal.touch(0o000)
        for kept in (False, True):
            ended = arena.run("run", "one.json", "--out", "o", "--resume", "--log-json", timeout=20)
            assert ended.code == 0, (what, ended)
            odd = what in ("fifo", "device", "link", "folder")
            assert (b"o/points/" in ended.err) == odd and (b'"kept":1' in ended.err) == kept, (what, ended)
            assert arena.read("o/results.csv") == results, what
            assert len(arena.names("o/points")) == 2, what
    assert arena.path.joinpath("elsewhere").read_bytes() == whole


def odd_files_in_the_folder(arena):
    """a FIFO or an endless file in the place of a result is not waited for"""
    for name in ("manifest.json", "results.csv", "table.txt", "figures.txt", ".lock"):
        folder = f"o-{name.strip('.')}"
        (arena.path / folder).mkdir()
        os.mkfifo(arena.path / folder / name)
        ended = arena.run("run", "small.json", "--out", folder, timeout=20)
        assert ended.code == (0 if name == "figures.txt" else 2), (name, ended)
        ended = arena.run("run", "small.json", "--out", folder, "--force", timeout=20)
        assert ended.code == (2 if name == ".lock" else 0), (name, ended)


def odd_scenarios(arena):
    """a device, a folder, a pipe, an endless and an empty file as scenario"""
    assert arena.run("run", "/dev/zero", timeout=20).code == 2
    assert arena.run("check", ".").code == 2
    assert arena.run("check", "/dev/null").code == 2
    assert arena.shell('"$P" check <(cat small.json)').code == 0
    assert arena.shell('"$P" check /dev/stdin < small.json').code == 0
    for name in ("profile", "trace"):
        os.mkfifo(arena.path / name)
    ended = arena.run("check", "small.json", "--set", 'cluster.access={"kind": "trace", "file": "trace"}', timeout=20)
    assert ended.code == 2, ended


def results_of_others(arena):
    """results of another study, and a user's files, are replaced only on request"""
    assert arena.run("run", "small.json", "--out", "o").code == 0
    old = arena.read("o/results.csv")
    arena.write("other.json", json.dumps(SMALL | {"stop": {"iterations": 5}}))
    ended = arena.run("run", "other.json", "--out", "o")
    assert ended.code == 2 and b"another scenario, small.json" in ended.err and b"--force" in ended.err, ended
    assert arena.read("o/results.csv") == old
    arena.write("mine/summary.csv", "a user's")
    ended = arena.run("run", "small.json", "--out", "mine")
    assert ended.code == 2 and arena.read("mine/summary.csv") == b"a user's", ended
    assert arena.run("run", "small.json", "--out", "o", "--set", "stop.iterations=4").code == 0
    assert arena.run("run", "other.json", "--out", "o", "--force").code == 0


def old_figures(arena):
    """figures of earlier results do not stay beside new ones"""
    assert arena.run("run", "small.json", "--out", "o").code == 0
    for name in ("speedup.svg", "mine.svg"):
        arena.write(f"o/{name}", "<svg/>")
    arena.write("o/figures.txt", "speedup.svg\n../small.json\n")
    assert arena.run("run", "small.json", "--out", "o").code == 0
    assert (arena.path / "o/speedup.svg").exists()  # the same results
    ended = arena.run("run", "small.json", "--out", "o", "--set", "stop.iterations=4")
    assert ended.code == 0 and b"removed figures of earlier results: speedup.svg" in ended.err, ended
    assert arena.names("o") == sorted([*RESULTS, "mine.svg"]) and (arena.path / "small.json").exists()


def old_points(arena):
    """finished points that nobody has used for forty days are removed, others stay"""
    assert arena.run("run", "small.json", "--out", "o").code == 0
    used = _only_journal(arena, "o").name
    ages = {"0" * 16 + ".points": 41, "1" * 16 + ".points": 39, used: 39,
            "0" * 32 + ".point": 31, "1" * 32 + ".point": 29}  # the latter of 0.2.0
    for name, days in ages.items():
        file = arena.path / "o/points" / name
        file.touch()
        os.utime(file, (file.stat().st_mtime - 86400 * days,) * 2)
    ended = arena.run("run", "small.json", "--out", "o", "--resume", "--log-json")
    assert ended.code == 0 and b'"kept":3' in ended.err, ended
    names = arena.names("o/points")
    assert {name for name, days in ages.items() if name in names} == {"1" * 16 + ".points", used, "1" * 32 + ".point"}
    (arena.path / "o/points" / used).unlink()  # its points have been written again
    ended = arena.run("run", "small.json", "--out", "o", "--resume", "--log-json")
    assert ended.code == 0 and b'"kept":3' in ended.err, ended


def folder_without_rights(arena):
    """a folder that cannot be made or written is refused before anything runs"""
    for out in ("", "/proc/x", "small.json", "small.json/o", "/dev/null", "a" * 300):
        ended = arena.run("run", "small.json", "--out", out)
        assert ended.code == 2 and ended.err, (out, ended)

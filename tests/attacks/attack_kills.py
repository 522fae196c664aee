"""Kills, and what goes on after them."""

import random
import re
import shlex
import signal
import time

from arena import RESULTS, SCENARIOS

STUDY = ["run", str(SCENARIOS / "dgc-speedup.json"), "--set", "stop.iterations=4", "--jobs", "2"]


def kills(arena):
    """killed at random moments and resumed, a study ends with the bytes of a whole one"""
    moments = random.Random(11)
    begin = time.monotonic()
    assert arena.run(*STUDY, "--out", "whole").code == 0
    seconds = time.monotonic() - begin
    for _ in range(8):
        process = arena.start(*STUDY, "--out", "o", "--resume")
        time.sleep(moments.uniform(0, seconds))
        process.kill()
        process.communicate()
    assert arena.run(*STUDY, "--out", "o", "--resume").code == 0
    for name in ("results.csv", "table.txt"):
        assert arena.read(f"o/{name}") == arena.read(f"whole/{name}")
    assert arena.names("o") == RESULTS


def resume_line(arena):
    """the line that says how to go on has every option that was given, and works"""
    options = ["--set", "stop.iterations=300", "--set", "title=\"it's a title\"", "--out", "a folder", "--jobs", "1",
               "--threads", "1", "--quiet", "--no-mpi", "--force", "--trace", "--trace-points", "0", "--trace-time", "..1ms",
               "--trace-limit", "5000"]
    process = arena.start("run", str(SCENARIOS / "dgc-speedup.json"), *options)
    while sum(file.read_bytes().count(b"paceline-point") for file in (arena.path / "a folder").glob("points/*.points")) < 3:
        assert process.poll() is None, arena.end(process)
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    ended = arena.end(process)
    assert ended.code == 130, ended
    line = re.search(r"to resume: paceline (.*)\n", ended.err.decode()).group(1)
    words = shlex.split(line)
    assert words[:2] == ["run", str(SCENARIOS / "dgc-speedup.json")] and words[-1] == "--resume", line
    assert sorted(words[2:-1]) == sorted(options), line
    assert arena.run(*words).code == 0
    assert arena.read("a folder/results.csv").count(b"\n") == 85

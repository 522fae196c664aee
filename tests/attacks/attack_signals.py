"""Signals at any time."""

import json
import os
import signal
import time

from arena import SMALL

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def _ends_within_a_second(arena, process, number):
    assert process.poll() is None, arena.end(process)
    begin = time.monotonic()
    process.send_signal(number)
    ended = arena.end(process, timeout=10)
    took = time.monotonic() - begin
    code = ended.code if ended.code >= 0 else 128 - ended.code
    assert code == 128 + number, ended
    # A second as users count it, and another for a machine with other work.
    assert took < 2, f"took {took:.1f} s"
    return ended


def _end_by_default(arena, process, number):
    """Commands that do not run points leave signals as they are, so the shell sees the signal itself."""
    assert process.poll() is None
    begin = time.monotonic()
    process.send_signal(number)
    assert process.wait(10) in (-number, 128 + number)
    assert time.monotonic() - begin < 2


def scenario_that_never_comes(arena):
    """a signal ends a command that waits for a FIFO"""
    os.mkfifo(arena.path / "fifo")
    for number in SIGNALS:
        for command in (["run", "fifo"], ["check", "fifo"], ["explain", "fifo"],
                        ["solve", "fifo", "--vary", "seed=1..2", "--find", "step_time_s", "--equals", "1"]):
            process = arena.start(*command)
            time.sleep(0.15)
            _end_by_default(arena, process, number)
            process.communicate()


def many_points(arena):
    """a signal ends a run that still reads its points"""
    study = SMALL | {"sweep": {"seed": list(range(300)), "cluster.nodes": list(range(2, 302))}}
    arena.write("many.json", json.dumps(study))
    for number in SIGNALS:
        process = arena.start("run", "many.json", "--out", "o")
        time.sleep(0.5)
        _ends_within_a_second(arena, process, number)


def while_points_run(arena):
    """a signal ends a run in the middle of points"""
    for number in SIGNALS:
        process = arena.start("run", "small.json", "--out", f"o{number}", "--set", "stop.iterations=1000000000")
        time.sleep(0.4)
        ended = _ends_within_a_second(arena, process, number)
        assert b"to resume: paceline run small.json" in ended.err, ended


def ignored_by_nohup(arena):
    """a signal that was ignored before stays ignored"""
    process = arena.start("run", "small.json", "--out", "o", "--set", "stop.iterations=20000", under=["nohup"])
    time.sleep(0.1)
    process.send_signal(signal.SIGHUP)
    assert arena.end(process).code == 0

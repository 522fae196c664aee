"""Output that cannot be written."""

import json
import resource
import subprocess

from arena import RESULTS, SMALL

COMMANDS = [["--help"], ["--version"], ["run", "--help"], ["check", "--help"], ["explain", "--help"], ["solve", "--help"],
            ["plot", "--help"], ["list", "--help"], ["list"], ["list", "algorithms", "--json"], ["check", "small.json"],
            ["explain", "small.json", "--point", "1"], ["explain", "small.json", "--point", "1", "--json"],
            ["solve", "small.json", "--set", "cluster.nodes=2", "--find", "step_time_s", "--equals", "0.02", "--vary",
             "cluster.fabric.link.bandwidth=100Mbps..10Gbps", "--grid", "3"]]


def full_standard_output(arena):
    """a full standard output is exit code 1 with a word, for every command"""
    for command in COMMANDS:
        with open("/dev/full", "wb") as full:
            ended = arena.run(*command, stdout=full)
        assert ended.code == 1, (command, ended)
        assert ended.err == b"paceline: standard output cannot be written: No space left on device\n", (command, ended)


def closed_standard_output(arena):
    """a closed standard output is exit code 1 with a word, for every command"""
    for command in COMMANDS:
        ended = arena.shell(f'"$P" {" ".join(command)} >&-')
        assert ended.code == 1 and ended.err.startswith(b"paceline: standard output cannot be written"), (command, ended)


def file_that_cannot_grow(arena):
    """ulimit -f ends a command with words instead of a signal"""
    with open(arena.path / "out", "wb") as out:
        ended = arena.run("list", stdout=out, limits=[(resource.RLIMIT_FSIZE, 100)])
    assert ended.code == 1 and b"File too large" in ended.err, ended
    ended = arena.run("run", "small.json", "--out", "o", limits=[(resource.RLIMIT_FSIZE, 300)])
    assert ended.code == 1 and b"File too large" in ended.err, ended


def pipe_that_nobody_reads(arena):
    """a closed pipe ends a command without a word, and a study not at all"""
    ended = arena.shell('"$P" list | true; echo "${PIPESTATUS[0]}"')
    assert ended.out in (b"0\n", b"1\n") and ended.err == b"", ended
    ended = arena.shell('"$P" run small.json --log-json --out o 2>&1 | true; test "${PIPESTATUS[0]}" -le 1')
    assert ended.code == 0 and arena.names("o") == RESULTS, ended


def closed_standard_error(arena):
    """a standard error that is closed or full aborts nothing"""
    for stream in (">&-", ">/dev/full"):
        ended = arena.shell(f'"$P" check nope.json 2{stream}')
        assert ended.code == 2 and b"standard error cannot be written" in ended.out, ended
        assert arena.shell(f'"$P" runn 2{stream}').code == 2
        assert arena.shell(f'"$P" check small.json 2{stream}').code == 0


def full_log(arena):
    """a study with a full --log-json runs to its end and writes its results"""
    with open("/dev/full", "wb") as full:
        ended = arena.run("run", "small.json", "--log-json", "--out", "o", stderr=full)
    assert ended.code == 1 and b"standard error cannot be written" in ended.out, ended
    assert arena.names("o") == RESULTS and arena.read("o/results.csv").count(b"\n") == 4


def log_on_a_full_disk(arena):
    """a log that fills its disk in the middle of a study does not stop it"""
    place = arena.tmpfs("disk", "8k")
    arena.write("many.json", json.dumps(SMALL | {"sweep": {"seed": list(range(200))}}))
    with open(place / "log", "wb") as log:
        ended = arena.run("run", "many.json", "--log-json", "--out", "o", stderr=log)
    assert ended.code == 1 and b"No space left on device" in ended.out, ended
    assert arena.read("o/results.csv").count(b"\n") == 201


def results_on_a_full_disk(arena):
    """a full disk ends a study with words, and --resume goes on where there is room again"""
    whole = arena.run("run", "small.json", "--out", "whole")
    assert whole.code == 0, whole
    place = arena.tmpfs("disk", "40k")
    (place / "ballast").write_bytes(bytes(28 << 10))
    ended = arena.run("run", "small.json", "--out", "disk/o")
    assert ended.code in (1, 2) and b"No space left on device" in ended.err, ended
    (place / "ballast").unlink()
    subprocess.run(["mount", "-o", "remount,size=4m", place], check=True)
    ended = arena.run("run", "small.json", "--out", "disk/o", "--resume")
    assert ended.code == 0, ended
    assert arena.read("disk/o/results.csv") == arena.read("whole/results.csv")


def all_streams_closed(arena):
    """results do not go to the descriptor of a closed stream"""
    ended = arena.shell('"$P" run small.json --out o --quiet <&- >&- 2>&-')
    assert ended.code == 0 and arena.names("o") == RESULTS, ended
    assert arena.read("o/results.csv").startswith(b"point,")

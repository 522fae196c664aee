"""Small machines, strange environments."""

import os
import resource

from arena import RESULTS, Skipped

STUDY = ["run", "small.json", "--jobs", "2", "--threads", "2", "--out", "o"]


def _ends_well_within(arena, kibibytes):
    """Whether the study worked with this much memory (None: the program could not start); fails unless it or words came."""
    process = arena.start(*STUDY, "--force", limits=[(resource.RLIMIT_AS, kibibytes << 10)])
    out, err = process.communicate(timeout=60)
    if process.returncode == 127 or b"error while loading shared libraries" in err:
        return None  # the loader itself had too little
    if process.returncode == -11 and not err and kibibytes <= 60 << 10:
        return None  # the kernel could not start the program
    assert b"fault of the program" not in err and b"terminate called" not in err, (kibibytes, err)
    assert process.returncode in (0, 1, 2), (kibibytes, process.returncode, out, err)
    assert process.returncode == 0 or err, kibibytes
    return process.returncode == 0


def little_memory(arena):
    """ulimit -v gives results or words, at every size"""
    sizes = [megabytes << 10 for megabytes in (*range(20, 120, 10), *range(120, 600, 40))]
    worked = [size for size in sizes if _ends_well_within(arena, size)]
    assert worked, "no size was enough"
    # Just below what is enough, memory runs out anywhere: in a thread that starts, in unwinding.
    for size in range(worked[0] - (10 << 10), worked[0], 64):
        for _ in range(2):
            _ends_well_within(arena, size)


def few_files_and_threads(arena):
    """few open files, few threads and one core give results or words"""
    for limits in ([(resource.RLIMIT_NOFILE, 8)], [(resource.RLIMIT_NOFILE, 16)], [(resource.RLIMIT_STACK, 256 << 10)],
                   [(resource.RLIMIT_CORE, 0)]):
        ended = arena.run(*STUDY, limits=limits)
        assert ended.code == 0 or ended.err, (limits, ended)
    if os.geteuid() != 0:
        ended = arena.run(*STUDY, limits=[(resource.RLIMIT_NPROC, 1)])
        assert ended.code == 0 or ended.err, ended
    assert arena.run(*STUDY, under=["taskset", "-c", str(min(os.sched_getaffinity(0)))]).code == 0


def odd_locales(arena):
    """locales with other commas and letters change no byte of the results"""
    assert arena.run("run", "small.json", "--out", "whole").code == 0
    for locale in ("C", "POSIX", "de_DE.UTF-8", "tr_TR.UTF-8", "ar_EG.UTF-8", "no-such-locale"):
        ended = arena.run(*STUDY, env={"LC_ALL": locale, "LANG": locale, "LANGUAGE": locale})
        assert ended.code == 0 and ended.err == b"", (locale, ended)
        for name in ("results.csv", "table.txt"):
            assert arena.read(f"o/{name}") == arena.read(f"whole/{name}"), locale


def odd_environments(arena):
    """no environment, no HOME, an odd TERM and an odd zone of time do no harm"""
    ended = arena.shell('env -i "$P" run small.json --out o')
    assert ended.code == 0 and arena.names("o") == RESULTS, ended
    for env in ({"TERM": ""}, {"TERM": "\x1b[31m"}, {"TZ": "../../../etc/passwd"}, {"HOME": "/nowhere"},
                {"TMPDIR": "/nowhere"}, {"PACELINE_ISA": ""}, {"PACELINE_ISA": "\x1b[31mneon"}):
        ended = arena.run(*STUDY, env=env)
        assert ended.code == (2 if "neon" in str(env) else 0) or "ISA" in str(env), (env, ended)


def broken_matplotlib(arena):
    """a matplotlib that does not load is told in one line"""
    assert arena.run("run", "small.json", "--out", "o").code == 0
    if b"figures need" in arena.run("plot", "o", "speedup", "--format", "svg").err:
        raise Skipped("there is no matplotlib here")
    for body in ("raise ImportError('libfoo.so.1:\\n not found')", "raise RuntimeError('\\x1b[31mbroken')",
                 "import no_such_module", "1 +", "raise AttributeError('_ARRAY_API not found')"):
        arena.write("broken/matplotlib/__init__.py", body)
        ended = arena.run("plot", "o", "speedup", env={"PYTHONPATH": str(arena.path / "broken")})
        assert ended.code == 2 and ended.err.count(b"\n") == 1, (body, ended)
        assert b"matplotlib" in ended.err, (body, ended)


def figures_that_cannot_be_told(arena):
    """plot with a full standard output is exit code 1 with a word"""
    assert arena.run("run", "small.json", "--out", "o").code == 0
    if b"figures need" in arena.run("plot", "o", "speedup", "--format", "svg").err:
        raise Skipped("there is no matplotlib here")
    with open("/dev/full", "wb") as full:
        ended = arena.run("plot", "o", "speedup", "--format", "svg", stdout=full)
    assert ended.code == 1 and b"standard output cannot be written" in ended.err, ended

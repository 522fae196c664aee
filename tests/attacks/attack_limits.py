"""Small machines, strange environments."""

import json
import os
import pathlib
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
    assert b"internal error" not in err and b"terminate called" not in err, (kibibytes, err)
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


def _control_group(arena, bytes_of_memory):
    """Makes a control group with this limit; returns the file that a process joins it by. Raises Skipped."""
    name = f"paceline-attack-{os.getpid()}"
    for root, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        group = pathlib.Path(root, name)
        try:
            group.mkdir()
        except OSError:
            continue
        arena.groups.append(group)
        try:
            (group / limit).write_text(str(bytes_of_memory))
        except OSError:
            continue
        return group / "cgroup.procs"
    raise Skipped("a control group with a limit of memory cannot be made here")


NEEDS_HALF_A_GIGABYTE = {
    "cluster": {"nodes": 16, "fabric": {"kind": "star", "link": {"bandwidth": "10Gbps"}}},
    "workload": {"model": {"kind": "mlp", "hidden": [512, 512]}, "batch": 4, "step_time": "1ms",
                 "data": {"kind": "digits", "train": 320, "test": 64}},
    "optimizer": {"learning_rate": 0.1}, "algorithm": {"kind": "dsgd", "mixing": {"kind": "ring"}},
    "stop": {"iterations": 2}}


def control_groups(arena):
    """what a control group has no memory for is refused before anything runs, and what fits runs"""
    arena.write("large.json", json.dumps(NEEDS_HALF_A_GIGABYTE))
    joins = _control_group(arena, 300_000_000)
    for nodes, code in ((16, 2), (4, 0)):
        ended = arena.shell(f'echo $BASHPID > {joins}; exec "$P" run large.json --quiet --jobs 1 --out o '
                            f'--set cluster.nodes={nodes}')
        assert ended.code == code, ended
        assert code == 0 or b"free under the limit of its control group" in ended.err, ended
    assert arena.names(".").count("o") == 1


def data_sets_beyond_memory(arena):
    """a study whose data sets together exceed the memory runs, and a data set that alone does is refused"""
    study = {**NEEDS_HALF_A_GIGABYTE, "algorithm": {"kind": "dense"}, "sweep": {"seed": list(range(1, 13))}}
    study["workload"] = {"model": {"kind": "softmax-regression"}, "batch": 4, "step_time": "1ms",
                         "data": {"kind": "gaussian-mixture", "train": 100_000, "test": 100, "dimension": 100}}
    study["cluster"] = {**study["cluster"], "nodes": 2}
    study["stop"] = {"iterations": 1}
    study["measure"] = {"samples": 100}
    arena.write("seeds.json", json.dumps(study))
    little = [(resource.RLIMIT_AS, 400 << 20)]
    ended = arena.run("run", "seeds.json", "--quiet", "--jobs", "1", "--threads", "1", "--out", "o", limits=little)
    assert ended.code == 0, ended
    ended = arena.run("run", "seeds.json", "--set", "workload.data.train=10000000", "--out", "p", limits=little)
    assert ended.code == 2 and b"need about 4.0 GB of memory" in ended.err and b"under ulimit -v" in ended.err, ended


def small_partitions(arena):
    """partitions that would take all memory are refused before anything runs"""
    study = {**NEEDS_HALF_A_GIGABYTE, "version": 2, "workload": {"profile": "gpt2-xl", "step_time": "1s"},
             "algorithm": {"kind": "sgd", "schedule": {"pieces": "25MiB", "partition": "1MB"}}, "stop": {"iterations": 1}}
    del study["optimizer"]
    arena.write("pieces.json", json.dumps(study))
    little = [(resource.RLIMIT_AS, 120 << 20)]
    ended = arena.run("run", "pieces.json", "--quiet", "--jobs", "1", "--threads", "1", "--out", "o", limits=little)
    assert ended.code == 2 and b"under ulimit -v" in ended.err, ended
    for partition in ("1B", "1kB"):
        ended = arena.run("check", "pieces.json", "--set", f"algorithm.schedule.partition={partition}")
        assert ended.code == 2 and b"schedule.partition: cuts a step into" in ended.err, ended


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

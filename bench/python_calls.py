"""What the Python module costs: its import, one call, and the engine inside it against the program.

    make python && PYTHONPATH=build/release/python /usr/bin/python3 bench/python_calls.py [OTHER_PROGRAM ...]

Prints medians. The program and the module (and other programs that are named) run the same studies in turn, and their CPU
seconds are compared, because the machine is shared. docs/performance.md records the results.
"""

import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time

import paceline

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "build/release/paceline"
POINT = {
    "cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps", "latency": "50us"}}},
    "workload": {"gradient": "1MB", "step_time": "10ms"},
    "algorithm": {"kind": "dense"},
    "stop": {"iterations": 3},
}
STUDIES = {
    "messages (ring of 1024, 4 steps)": ("scenarios/ring-allreduce.json", {"cluster.nodes": 1024, "stop.iterations": 4}),
    "training (first-training)": ("scenarios/first-training.json", {}),
}


def spread(values):
    return f"{statistics.median(values):.3g} ({min(values):.3g} to {max(values):.3g})"


def import_ms():
    script = "import time; t = time.perf_counter(); import paceline; print(time.perf_counter() - t)"
    return [1e3 * float(subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout)
            for _ in range(15)]


def call_ms():
    beyond = []
    for _ in range(500):
        begin = time.perf_counter()
        point = paceline.run(POINT, progress=False).points[0]
        beyond.append(1e3 * (time.perf_counter() - begin - point.wall_clock_s))
    return beyond[10:]


def cpu_s(command):
    """Returns the CPU seconds of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(file, changes, others):
    settings = [part for path, value in changes.items() for part in ("--set", f"{path}={value}")]
    options = ["run", file, *settings, "--jobs", "1", "--threads", "1", "--quiet", "--force", "--out"]
    commands = {"module": [sys.executable, "-B", "-m", "paceline", *options], "program": [PROGRAM, *options],
                **{other: [other, *options] for other in others}}
    seconds = {name: [] for name in commands}
    for _ in range(7):
        for i, (name, command) in enumerate(commands.items()):
            seconds[name].append(cpu_s([*command, f"build/bench-python-{i}"]))
    base = seconds["program"]
    for name, values in seconds.items():
        ratio = statistics.median(a / b for a, b in zip(values, base))
        print(f"  {name:10} CPU s {spread(values)}   {ratio:.3f} of the program's")


if __name__ == "__main__":
    print(f"import: {spread(import_ms())} ms")
    print(f"one call of one point beyond the simulation: {spread(call_ms())} ms")
    for title, (file, changes) in STUDIES.items():
        print(title)
        compare(file, changes, sys.argv[1:])

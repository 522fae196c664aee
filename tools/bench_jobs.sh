#!/usr/bin/env bash
# Measures how much sooner a study of 16 equal points ends with --jobs 2, and with mpirun -np 2 --jobs 1, than with
# --jobs 1. Prints medians of alternating runs, for wall-clock time and CPU time. One study is timing-only, the other
# trains.
# Usage: tools/bench_jobs.sh [RUNS [PACELINE]]   (default: 5 build/release/paceline)
set -euo pipefail
cd "$(dirname "$0")/.."

exec python3 - "${1:-5}" "${2:-build/release/paceline}" <<'PYTHON'
import json, os, resource, shutil, statistics, subprocess, sys, tempfile, time

RUNS, PACELINE = int(sys.argv[1]), sys.argv[2]
SEEDS = {"seed": list(range(1, 17))}
TIMING = {
    "cluster": {"nodes": 128, "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps", "latency": "50us"}}},
    "workload": {"gradient": "97MB", "step_time": "100ms"},
    "algorithm": {"kind": "dense"},
    "stop": {"iterations": 100},
    "sweep": SEEDS,
}
TRAINING = {
    "cluster": {"nodes": 8, "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps", "latency": "50us"}}},
    "workload": {"model": {"kind": "mlp", "hidden": [64]}, "data": {"kind": "digits", "train": 512, "test": 256},
                 "batch": 32, "step_time": "10ms"},
    "optimizer": {"learning_rate": 0.05},
    "algorithm": {"kind": "dense"},
    "measure": {"every": "250 iterations"},
    "stop": {"iterations": 500},
    "sweep": SEEDS,
}
MPIRUN = ["mpirun", "-np", "2", *(["--allow-run-as-root"] if os.geteuid() == 0 else [])]
WAYS = {"--jobs 1": ([], 1), "--jobs 2": ([], 2), "mpirun -np 2, --jobs 1": (MPIRUN, 1)}
if shutil.which("mpirun") is None:
    del WAYS["mpirun -np 2, --jobs 1"]
    print("mpirun is not installed: only --jobs")


def run(scenario, out, launcher, jobs):
    """Wall-clock and CPU seconds, and the results."""
    command = [*launcher, PACELINE, "run", scenario, "--quiet", "--threads", str(jobs), "--jobs", str(jobs), "--out", out]
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, check=True)
    wall, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(f"{out}/results.csv") as results:
        return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, results.read()


for name, study in {"timing": TIMING, "training": TRAINING}.items():
    walls, cpus, results = {way: [] for way in WAYS}, {way: [] for way in WAYS}, set()
    with tempfile.TemporaryDirectory() as folder:
        scenario = f"{folder}/{name}.json"
        with open(scenario, "w") as file:
            json.dump(study, file)
        for _ in range(RUNS):
            for way, (launcher, jobs) in WAYS.items():
                wall, cpu, result = run(scenario, f"{folder}/out", launcher, jobs)
                walls[way].append(wall)
                cpus[way].append(cpu)
                results.add(result)
    if len(results) != 1:
        sys.exit(f"{name}: the results differ")
    alone = statistics.median(walls["--jobs 1"])
    print(f"{name}, 16 equal points, medians of {RUNS} runs")
    for way in WAYS:
        wall, cpu = statistics.median(walls[way]), statistics.median(cpus[way])
        print(f"  {way:24} {wall:7.2f} s wall-clock  {cpu:7.2f} s CPU  {alone / wall:5.2f} times as fast", flush=True)
PYTHON

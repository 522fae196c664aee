#!/usr/bin/env bash
# Measures training with real gradients in samples per second of wall-clock time, with 16 workers and batch 32 each:
# bench/training.json and bench/training_torch.py alternate in one session. Results are medians of three; for PyTorch,
# the better of one and two threads. For paceline, the time of a short run is subtracted from that of a long one, so
# that generating the data does not count.
# Usage: tools/bench_training.sh
set -euo pipefail
cd "$(dirname "$0")/.."

exec /usr/bin/python3 - <<'PYTHON'
import json, os, statistics, subprocess, tempfile

WORKERS, BATCH, SHORT = 16, 32, 10
IMAGES = []
TEXT = ['workload.data={"kind":"artificial-language","vocabulary":64,"train":8192,"test":256}']
MODELS = {
    "mlp": (IMAGES, 210),
    "cnn": (IMAGES + ['workload.model={"kind":"cnn"}'], 40),
    "lstm": (TEXT + ['workload.model={"kind":"lstm","hidden":128}'], 30),
}


def walls(iterations, settings):
    with tempfile.TemporaryDirectory() as out:
        command = ["build/release/paceline", "run", "bench/training.json", "--quiet", "--jobs", "1", "--out", out]
        for setting in [f"stop.iterations={iterations}", *settings]:
            command += ["--set", setting]
        subprocess.run(command, check=True)
        with open(f"{out}/manifest.json") as manifest:
            return [point["wall_clock_s"] for point in json.load(manifest)["points"]]


def paceline(settings, iterations):
    """Samples per second, dense and DGC."""
    pairs = zip(walls(SHORT, settings), walls(iterations, settings))
    return [WORKERS * BATCH * (iterations - SHORT) / (long - short) for short, long in pairs]


def torch(model, algorithm, threads):
    done = subprocess.run(["/usr/bin/python3", "bench/training_torch.py", model, algorithm, "--threads", str(threads),
                           "--seconds", "2"], check=True, capture_output=True, text=True,
                          env=os.environ | {"OMP_WAIT_POLICY": "passive"})
    return json.loads(done.stdout)["samples_per_s"]


print("training, 16 workers x batch 32: samples/s")
for model, (settings, iterations) in MODELS.items():
    ours, theirs = [], {"dense": {1: [], 2: []}, "dgc": {1: [], 2: []}}
    for _ in range(3):
        ours.append(paceline(settings, iterations))
        for algorithm, runs in theirs.items():
            for threads in runs:
                runs[threads].append(torch(model, algorithm, threads))
    for rate, (algorithm, runs) in zip(map(statistics.median, zip(*ours)), theirs.items()):
        one, two = (statistics.median(runs[threads]) for threads in (1, 2))
        print(f"{model:5} {algorithm:5} paceline {rate:8.0f}   PyTorch, 1 thread {one:8.0f}, 2 threads {two:8.0f}   "
              f"ratio {rate / max(one, two):.2f}x", flush=True)
PYTHON

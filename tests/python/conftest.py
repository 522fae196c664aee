"""What the tests of the Python module share. PACELINE_PROGRAM names the program that results are compared with."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("PACELINE_PROGRAM", ROOT / "build/release/paceline"))


def ring(**changes):
    """Returns a scenario of one point: four nodes all-reduce 1 MB, three times."""
    scenario = {
        "cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps", "latency": "50us"}}},
        "workload": {"gradient": "1MB", "step_time": "10ms"},
        "algorithm": {"kind": "dense"},
        "stop": {"iterations": 3},
    }
    return {**scenario, **changes}


def training(**changes):
    """Returns a scenario that trains a softmax regression on four nodes for a few steps."""
    scenario = {
        "title": "Four nodes learn",
        "cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps", "latency": "50us"}}},
        "workload": {
            "model": {"kind": "softmax-regression"},
            "data": {"kind": "gaussian-mixture", "classes": 3, "dimension": 4, "train": 120, "test": 30},
            "batch": 8,
            "step_time": "1ms",
        },
        "optimizer": {"learning_rate": 0.1},
        "algorithm": {"kind": "dense"},
        "stop": {"iterations": 12},
        "measure": {"every": "4 iterations"},
    }
    return {**scenario, **changes}


def endless(points=1):
    """Returns a scenario whose first points are short and whose last would run for hours."""
    return ring(cluster={"nodes": 64, "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps", "latency": "50us"}}},
                stop={"iterations": 1},
                sweep={"stop.iterations": [*range(1, points), 5_000_000]})


def ring_step_s(nodes=4, size=1e6, bandwidth=1e9, latency=50e-6, compute=10e-3):
    """The closed form of a step of `ring`: computing, then 2(n-1) messages of a chunk each, over two links."""
    chunk = -(-size // nodes)
    return compute + 2 * (nodes - 1) * (2 * latency + 8 * chunk / bandwidth)


@pytest.fixture
def command(tmp_path):
    """Runs the program; returns the finished process."""
    def run(*arguments, **options):
        return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False,
                              cwd=options.get("cwd", tmp_path), timeout=300)
    return run

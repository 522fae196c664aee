"""Where an attack happens: a folder with a small study, and the program, whose every end is judged."""

import json
import os
import resource
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "scenarios"

SMALL = {"title": "a small study",
         "cluster": {"nodes": 2, "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps"}}},
         "workload": {"gradient": "1MB", "step_time": "10ms"},
         "algorithm": {"kind": "dense"}, "stop": {"iterations": 3},
         "sweep": {"cluster.nodes": [1, 2, 4]}}
RESULTS = ["manifest.json", "points", "results.csv", "table.txt"]


class Skipped(Exception):
    """Raised by an attack that cannot be made here; says why."""


class Ended:
    """How a run of the program ended."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __repr__(self):
        return f"code {self.code}\nout: {self.out[-2000:]!r}\nerr: {self.err[-2000:]!r}"


class Arena:
    def __init__(self, program):
        self.program = program

    def __enter__(self):
        self.path = Path(tempfile.mkdtemp(prefix="paceline-attack-"))
        self.mounted = []
        self.groups = []  # control groups, removed at the end
        self.write("small.json", json.dumps(SMALL))
        return self

    def __exit__(self, *_):
        for place in self.mounted:
            subprocess.run(["umount", "--lazy", place], check=False)
        for group in self.groups:
            group.rmdir()
        shutil.rmtree(self.path, ignore_errors=True)

    def write(self, name, content):
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    def read(self, name):
        return (self.path / name).read_bytes()

    def names(self, name):
        return sorted(os.listdir(self.path / name))

    def start(self, *arguments, limits=(), env=None, under=(), **streams):
        """Starts the program in the folder. `limits`: pairs of a resource and its limit."""
        def before():
            for what, most in limits:
                resource.setrlimit(what, (most, most))
            for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores these, a shell does not
                signal.signal(number, signal.SIG_DFL)
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
        return subprocess.Popen([*under, self.program, *map(str, arguments)], cwd=self.path, preexec_fn=before,
                                env=os.environ | {"OMP_NUM_THREADS": "1"} | (env or {}), **streams)

    def end(self, process, timeout=60):
        """Waits for the program and judges how it ended."""
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise AssertionError(f"has not ended after {timeout} s: {process.args}") from None
        ended = Ended(process.returncode, out or b"", err or b"")
        judge(ended, process.args)
        return ended

    def run(self, *arguments, timeout=60, **how):
        return self.end(self.start(*arguments, **how), timeout)

    def shell(self, script, timeout=60):
        """Runs a bash script in the folder, with $P for the program."""
        process = subprocess.Popen(["bash", "-c", script], cwd=self.path, env=os.environ | {"P": self.program},
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return self.end(process, timeout)

    def tmpfs(self, name, size):
        """Mounts a small file system. Raises Skipped where that is not allowed."""
        place = self.path / name
        place.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "attack", place], capture_output=True,
                              check=False)
        if done.returncode != 0:
            raise Skipped(f"a small tmpfs cannot be mounted here: {done.stderr.decode().strip()}")
        self.mounted.append(place)
        return place


def judge(ended, command):
    assert ended.code in (0, 1, 2) or 128 < ended.code < 160, f"{command}: {ended}"
    for text in (ended.out, ended.err):
        bad = [c for c in text.decode("utf-8", "surrogateescape") if c != "\n" and not is_shown(c)]
        assert not bad, f"{command}: says {bad[0]!r}: {ended}"
        assert b"internal error" not in text, f"{command}: {ended}"
        assert b"Traceback" not in text, f"{command}: {ended}"


def is_shown(c):
    return ord(c) >= 0x20 and not 0x7F <= ord(c) < 0xA0 and not 0xD800 <= ord(c) < 0xE000


def one_line(text):
    return text.endswith(b"\n") and text.count(b"\n") == 1

"""Runs tools/import_trace.py in this process, makes traces for its tests, and has what all of its tests do."""

import contextlib
import gzip
import io
import json
import re
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TRACES = ROOT / "tests" / "traces"
sys.path.insert(0, str(ROOT / "tools"))

import import_trace  # noqa: E402

UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


class Imported:
    """What the importer said and made. `layers` are by name: (forward ns, backward ns, {tensor: shape})."""

    def __init__(self, trace, folder, *options):
        self.out, self.scenario = Path(folder, "net.json"), Path(folder, "scenario.json")
        for file in (self.out, self.scenario):
            file.unlink(missing_ok=True)
        output, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            self.code = import_trace.main([str(trace), "--out", str(self.out), "--scenario", str(self.scenario), *options])
        self.said, self.errors = output.getvalue(), errors.getvalue()
        self.profile = json.loads(self.out.read_text()) if self.code == 0 else None

    @property
    def layers(self):
        return {layer["name"]: (ns(layer["forward"]), ns(layer["backward"]),
                                {t["name"]: tuple(t["shape"]) for t in layer["tensors"]}) for layer in self.profile["layers"]}

    @property
    def total_ns(self):
        return sum(forward + backward for forward, backward, _ in self.layers.values())

    @property
    def update_ns(self):
        return ns(json.loads(self.scenario.read_text())["workload"].get("update_time", "0ns"))


def ns(text):
    number, unit = re.fullmatch(r"([0-9.]+)(s|ms|us|ns)", text).groups()
    whole, _, fraction = number.partition(".")
    size = UNITS[unit]
    return int(whole) * size + (int(fraction) * size // 10**len(fraction) if fraction else 0)


def event(category, name, start, length, thread=1, **args):
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": thread, "ts": start, "dur": length, "args": args}


def operator(name, start, length, sequence=None, dims=None, thread=1):
    args = {} if sequence is None else {"Sequence number": sequence, "Fwd thread id": 0}
    if dims is not None:
        args["Input Dims"] = dims
    return event("cpu_op", name, start, length, thread, **args)


EVALUATE = "autograd::engine::evaluate_function: "


def two_linears(thread=1):
    """A step of two dense layers: forward 10 and 20 us, backward 30 and 50 us, an update of 7 us, one of 2 us between."""
    return [
        event("user_annotation", "ProfilerStep#3", 0, 200),
        operator("aten::linear", 10, 10, 1, [[4, 6], [5, 6], [5]]),
        operator("aten::addmm", 11, 8, 2, [[5], [4, 6], [6, 5], [], []]),
        operator("aten::linear", 20, 20, 3, [[4, 5], [3, 5], [3]]),
        operator("aten::addmm", 21, 9, 4, [[3], [4, 5], [5, 3], [], []]),
        operator("aten::sum", 40, 2, 5),
        operator(EVALUATE + "AddmmBackward0", 50, 25, 4, thread=thread),
        operator("AddmmBackward0", 51, 20, 4, [[4, 3]], thread=thread),
        operator(EVALUATE + "torch::autograd::AccumulateGrad", 75, 5, thread=thread),
        operator("torch::autograd::AccumulateGrad", 76, 3, dims=[[3]], thread=thread),
        operator(EVALUATE + "TBackward0", 80, 10, 3, thread=thread),
        operator(EVALUATE + "torch::autograd::AccumulateGrad", 90, 10, thread=thread),
        operator("torch::autograd::AccumulateGrad", 91, 9, dims=[[3, 5]], thread=thread),
        operator(EVALUATE + "AddmmBackward0", 100, 20, 2, thread=thread),
        operator("AddmmBackward0", 101, 18, 2, [[4, 5]], thread=thread),
        operator(EVALUATE + "torch::autograd::AccumulateGrad", 120, 4, thread=thread),
        operator("torch::autograd::AccumulateGrad", 121, 2, dims=[[5]], thread=thread),
        operator(EVALUATE + "TBackward0", 124, 1, 1, thread=thread),
        operator(EVALUATE + "torch::autograd::AccumulateGrad", 125, 5, thread=thread),
        operator("torch::autograd::AccumulateGrad", 126, 4, dims=[[5, 6]], thread=thread),
        event("user_annotation", "Optimizer.step#SGD.step", 140, 20),
        operator("aten::add_", 141, 7),
    ]


def with_kernels(events, launch="cuda_runtime", kernel="kernel", **more):
    """Adds kernels of 100, 200, 400, 300 and 50 us: of the two layers forward, of both backward, of the update."""
    made = list(events)
    for number, (start, length) in enumerate([(12, 100), (22, 200), (52, 400), (101, 300), (142, 50)], 1):
        made += [event(launch, "cudaLaunchKernel", start, 1, correlation=number, **more),
                 event(kernel, "gemm", 1000 + 500 * number, length, 7, correlation=number, device=0, **more)]
    return made


def shipped_events(name):
    """Returns the events of a shipped trace of PyTorch."""
    content = (TRACES / name).read_bytes()
    return json.loads(gzip.decompress(content) if name.endswith(".gz") else content)["traceEvents"]


def write(folder, content, name="trace.json"):
    file = Path(folder, name)
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def write_events(folder, events, name="trace.json"):
    return write(folder, {"schemaVersion": 1, "traceEvents": events}, name)


class Test(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def imported(self, events, *options):
        made = Imported(write_events(self.folder, events), self.folder, *options)
        self.assertEqual(made.code, 0, made.errors)
        return made

    def refused(self, trace, *options):
        made = Imported(trace, self.folder, *options)
        self.assertEqual(made.code, 2, made.said)
        self.assertFalse(made.out.exists())
        lines = [line for line in made.errors.splitlines() if not line.startswith("import_trace: warning: ")]
        self.assertEqual(len(lines), 1, made.errors)
        self.assertIn(str(trace), lines[0])
        return lines[0]

    def refused_events(self, events, *options):
        return self.refused(write_events(self.folder, events), *options)

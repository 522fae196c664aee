#!/usr/bin/env python3
"""Records the traces of this folder that come from PyTorch. Needs python3-torch of Debian 12 (tools/deps.sh --bench).

    tests/traces/record_pytorch.py FOLDER

Debian's PyTorch 1.13 has no Kineto, whose export is the format that users have, but its profiler records the same
operators, sequence numbers and input shapes. This script trains a small convolutional net for a step on one thread of
the CPU and writes what was measured in the layout of Kineto's Chrome JSON:

    small-cnn.pt.trace.json         what was measured: operators on the CPU, nothing invented except the spans nn.Module,
                                    which forward hooks measure, and ProfilerStep, around the step
    small-cnn-gpu.pt.trace.json.gz  the same operators with invented kernels, as if each operator that computes had
                                    launched one of 0.37 times its length: structure, not a measurement

Its layout is that of call_stack/backward_thread.json of facebookresearch/HolisticTraceAnalysis (categories, args of
operators, kernels and launches) and of torch/csrc/profiler (names of args, flows ac2g).
"""

import gzip
import json
import sys
import time
from pathlib import Path

import torch
from torch import nn

PID, TID = 4021, 4021


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32)
        self.conv2, self.bn2 = nn.Conv2d(32, 64, 3, padding=1, stride=2, bias=False), nn.BatchNorm2d(64)
        self.fc1, self.fc2 = nn.Linear(64 * 16 * 16, 256), nn.Linear(256, 10)
        self.relu = nn.ReLU()

    def forward(self, x):
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.relu(self.bn2(self.conv2(x)))
        return self.fc2(self.relu(self.fc1(x.flatten(1))))


def record():
    """Returns the profiler's events of one step, in microseconds since its beginning, and the length of the step."""
    torch.manual_seed(1)
    torch.set_num_threads(1)
    net, loss = Net(), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    x, y = torch.randn(32, 3, 32, 32), torch.randint(0, 10, (32,))

    def step():
        optimizer.zero_grad()
        loss(net(x), y).backward()
        optimizer.step()

    for _ in range(5):
        step()
    name_modules(net, loss)
    with torch.autograd.profiler.profile(record_shapes=True, use_kineto=False) as profiler:
        with torch.autograd.profiler.record_function("ProfilerStep#5"):
            step()
    return sorted((e for e in profiler.function_events if not made_by_range(e)),
                  key=lambda e: (e.time_range.start, -e.time_range.end))


def made_by_range(event):
    """Returns whether this profiler's record_function did it itself: it makes a tensor of one entry as its handle."""
    while event.cpu_parent is not None and event.cpu_parent.scope != 7:
        event = event.cpu_parent
    return event.name == "aten::zeros" or (event.name == "aten::empty" and event.cpu_parent is None)


def name_modules(*roots):
    """Makes each module without children report itself as Kineto's with_modules does: class and number."""
    numbers = {}
    for root in roots:
        for module in root.modules():
            if next(module.children(), None) is not None:
                continue
            kind = type(module).__name__
            numbers[kind] = numbers.get(kind, -1) + 1
            wrap(module, f"nn.Module: {kind}_{numbers[kind]}")


def wrap(module, name):
    inner = module.forward

    def forward(*arguments):
        with torch.autograd.profiler.record_function(name):
            return inner(*arguments)
    module.forward = forward


def chrome_event(event, index, start):
    category = "user_annotation" if event.scope == 7 else "cpu_op"
    if event.name.startswith("nn.Module: "):
        category = "python_function"
    name = event.name.replace("ProfilerStep*", "ProfilerStep#5")  # as it is in Kineto's export
    args = {"External id": 2049 + index, "Ev Idx": index}
    if category == "python_function":
        args = {"Python id": index, "Python parent id": 1, "Python module id": int(event.name.rsplit("_", 1)[1])}
    elif category == "cpu_op":
        if event.sequence_nr >= 0:
            args |= {"Sequence number": event.sequence_nr, "Fwd thread id": event.fwd_thread or 0}
        if event.input_shapes and not event.name.startswith("autograd::engine"):
            args["Input Dims"] = event.input_shapes
    return {"ph": "X", "cat": category, "name": name, "pid": PID, "tid": TID if event.thread == 1 else TID + event.thread,
            "ts": start + int(event.time_range.start), "dur": int(event.time_range.end - event.time_range.start), "args": args}


def with_kernels(events, own):
    """Adds a launch and a kernel to each operator that computes. `own` are the operators' own times in microseconds."""
    made, device_free, correlation = [], 0, 9000
    for event, busy in zip(events, own):
        made.append(event)
        if event["cat"] != "cpu_op" or busy < 2 or event["name"].startswith("autograd::"):
            continue
        correlation += 1
        launch, length = event["ts"] + event["dur"] - 1, round(0.37 * busy, 3)
        device_free = max(device_free, launch + 5)
        common = {"External id": event["args"]["External id"], "correlation": correlation}
        made.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": PID, "tid": event["tid"], "ts": launch,
                     "dur": 1, "args": {"cbid": 211, **common}})
        made.append({"ph": "s", "id": correlation, "pid": PID, "tid": event["tid"], "ts": launch, "cat": "ac2g", "name": "ac2g"})
        made.append({"ph": "X", "cat": "kernel", "name": f"void at::native::{event['name'].removeprefix('aten::')}_kernel<float>",
                     "pid": 0, "tid": 7, "ts": device_free, "dur": length,
                     "args": {"device": 0, "context": 1, "stream": 7, "grid": [8, 1, 1], "block": [128, 1, 1], **common}})
        made.append({"ph": "f", "id": correlation, "pid": 0, "tid": 7, "ts": device_free, "cat": "ac2g", "name": "ac2g", "bp": "e"})
        device_free = round(device_free + length, 3)
    return made


def document(events, devices):
    return {"schemaVersion": 1, "deviceProperties": devices, "traceEvents": events, "traceName": "small-cnn.pt.trace.json"}


def text_of(json_document):
    """Returns JSON with a line for each event."""
    head = json.dumps({k: v for k, v in json_document.items() if k != "traceEvents"})
    return head[:-1] + ', "traceEvents": [\n' + ",\n".join(json.dumps(e) for e in json_document["traceEvents"]) + "\n]}\n"


def main(folder):
    start = int(time.time() * 1e6)
    recorded = record()
    events = [chrome_event(event, i, start) for i, event in enumerate(recorded)]
    process = [{"name": "process_name", "ph": "M", "ts": start, "pid": PID, "tid": 0, "args": {"name": "python3"}}]
    Path(folder, "small-cnn.pt.trace.json").write_text(text_of(document(process + events, [])))
    gpu = text_of(document(process + with_kernels(events, [event.self_cpu_time_total for event in recorded]), [{"id": 0, "name": "invented device"}]))
    with gzip.GzipFile(Path(folder, "small-cnn-gpu.pt.trace.json.gz"), "wb", mtime=0) as out:
        out.write(gpu.encode())


if __name__ == "__main__":
    main(sys.argv[1])

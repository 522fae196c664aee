#!/usr/bin/env python3
"""Measures training steps on one GPU with PyTorch: forward, backward and update, by net, precision and batch.

    bench/gpu_steps.py FOLDER [--nets NAME,...] [--precisions NAME,...] [--most-batch N] [--seconds N] [--no-traces]

FOLDER receives steps.csv (a row for each net, precision and batch), about.json (the card and the software), kernels.csv
(how many kernels a step launches, and how long the device is busy with them), and traces of single steps for
tools/import_trace.py. Nets have random weights and the shapes of models/profiles; inputs are random and stay on the
device. Needs PyTorch, torchvision and transformers; takes some ten minutes on an H100. Without a GPU it measures the CPU by
its clock, which only tests this script.

Steps follow each other without a wait, as in training. A phase lasts from one CUDA event to the next, so it contains the
time in which the device waits for launches. `launch_ms` is what the host takes to issue a step to an idle device.
Batches double until a step takes longer than 0.7 s, or memory is short.
"""

import argparse
import contextlib
import csv
import gzip
import json
import os
import platform
import statistics
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule

ON_GPU = torch.cuda.is_available()
DEVICE = "cuda" if ON_GPU else "cpu"
NETS = ("resnet-50", "vit-b-16", "bert-base", "bert-large", "gpt2")
PRECISIONS = ("fp32", "tf32", "bf16")
MOST_STEP_S = 0.7
COLUMNS = ("net", "precision", "layout", "batch", "steps", "step_ms", "step_q1_ms", "step_q3_ms", "forward_ms", "backward_ms",
           "update_ms", "launch_ms", "memory_gb", "sm_mhz", "watts")


class Images(nn.Module):
    """A net of images with its loss."""

    def __init__(self, name):
        super().__init__()
        import torchvision
        self.net = {"resnet-50": torchvision.models.resnet50, "vit-b-16": torchvision.models.vit_b_16}[name]()

    def batch(self, size):
        return torch.randn(size, 3, 224, 224), torch.randint(0, 1000, (size,))

    def forward(self, images, labels):
        return F.cross_entropy(self.net(images), labels)


class Bert(nn.Module):
    """Pre-training of BERT: sequences of 128 tokens of which 20 are decoded, and the next sentence."""

    def __init__(self, name):
        super().__init__()
        from transformers import BertConfig, BertForPreTraining
        large = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
        self.net = BertForPreTraining(BertConfig(**(large if name == "bert-large" else {})))

    def batch(self, size):
        masked = torch.stack([torch.randperm(128)[:20] for _ in range(size)])
        return (torch.randint(0, 30522, (size, 128)), masked, torch.randint(0, 30522, (size, 20)),
                torch.randint(0, 2, (size,)))

    def forward(self, tokens, masked, words, follows):
        sequence, pooled = self.net.bert(tokens)[:2]
        decoded = sequence.gather(1, masked.unsqueeze(2).expand(-1, -1, sequence.size(2)))
        guesses, relation = self.net.cls(decoded, pooled)
        return F.cross_entropy(guesses.flatten(0, 1), words.flatten()) + F.cross_entropy(relation, follows)


class Gpt2(nn.Module):
    """GPT-2 on sequences of 1024 tokens, without dropout, as in its pre-training by nanoGPT."""

    def __init__(self, layers=12):
        super().__init__()
        from transformers import GPT2Config, GPT2LMHeadModel
        self.net = GPT2LMHeadModel(GPT2Config(n_layer=layers, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False))

    def batch(self, size):
        return torch.randint(0, 50257, (size, 1024)), torch.randint(0, 50257, (size, 1024))

    def forward(self, tokens, targets):
        return F.cross_entropy(self.net(tokens).logits.flatten(0, 1), targets.flatten())


class Training:
    """A net, its optimizer and how it is stepped."""

    def __init__(self, name):
        self.name = name
        with torch.device(DEVICE):
            self.net = Gpt2() if name == "gpt2" else (Bert if name.startswith("bert") else Images)(name)
        self.net.train()
        parameters = self.net.parameters()
        self.optimizer = (torch.optim.SGD(parameters, lr=1e-4, momentum=0.9) if isinstance(self.net, Images) else
                          torch.optim.AdamW(parameters, lr=1e-6))
        self.run = self.net  # what computes the loss, such as the net in a DDP
        self.layout = torch.contiguous_format

    def choose(self, precision):
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
        self.bf16 = precision == "bf16"

    def channels_last(self):
        self.layout = torch.channels_last
        self.net.to(memory_format=torch.channels_last)

    def inputs(self, size):
        with torch.device(DEVICE):
            return [x.contiguous(memory_format=self.layout) if x.dim() == 4 else x for x in self.net.batch(size)]

    def forward(self, inputs):
        with torch.autocast(DEVICE, torch.bfloat16) if self.bf16 else contextlib.nullcontext():
            return self.run(*inputs)

    def update(self):
        self.optimizer.step()
        self.optimizer.zero_grad()

    def step(self, inputs, mark=lambda: None):
        mark()
        loss = self.forward(inputs)
        mark()
        loss.backward()
        mark()
        self.update()
        mark()


class Marks:
    """Instants on the device, or of the host's clock where there is no GPU."""

    def __init__(self):
        self.taken = []

    def __call__(self):
        if ON_GPU:
            event = torch.cuda.Event(enable_timing=True)
            event.record()
            self.taken.append(event)
        else:
            self.taken.append(time.perf_counter())

    def between_ms(self):
        if ON_GPU:
            return [a.elapsed_time(b) for a, b in zip(self.taken, self.taken[1:])]
        return [(b - a) * 1e3 for a, b in zip(self.taken, self.taken[1:])]


def wait():
    if ON_GPU:
        torch.cuda.synchronize()


def state_of_card():
    """Returns the clock of the multiprocessors in MHz and the power in W; Nones if they cannot be read."""
    try:
        import pynvml
        pynvml.nvmlInit()
        card = pynvml.nvmlDeviceGetHandleByIndex(0)
        return pynvml.nvmlDeviceGetClockInfo(card, pynvml.NVML_CLOCK_SM), pynvml.nvmlDeviceGetPowerUsage(card) / 1000
    except Exception:  # of whatever kind: the figures are only told
        return None, None


def issue_ms(training, inputs):
    wait()
    start = time.perf_counter()
    training.step(inputs)
    return (time.perf_counter() - start) * 1e3


def measure(training, size):
    """Returns the row of one batch."""
    if ON_GPU:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    inputs = training.inputs(size)
    for _ in range(3):
        training.step(inputs)
    wait()
    start = time.perf_counter()
    training.step(inputs)
    wait()
    slow = time.perf_counter() - start > 0.25
    launch = statistics.median(issue_ms(training, inputs) for _ in range(2 if slow else 4))
    wait()
    marks = [Marks() for _ in range(7 if slow else 16)]
    for one in marks:
        training.step(inputs, one)
    mhz, watts = state_of_card()  # while the device is busy
    wait()
    phases = [one.between_ms() for one in marks[1:]]  # the first found an idle device
    steps = [sum(one) for one in phases]
    q1, median, q3 = statistics.quantiles(steps, n=4, method="inclusive")
    memory = torch.cuda.max_memory_allocated() / 1e9 if ON_GPU else 0
    return {"batch": size, "steps": len(steps), "step_ms": median, "step_q1_ms": q1, "step_q3_ms": q3,
            **{f"{name}_ms": statistics.median(column) for name, column in zip(("forward", "backward", "update"), zip(*phases))},
            "launch_ms": launch, "memory_gb": memory, "sm_mhz": mhz, "watts": watts}


def measure_series(training, precision, layout, most, end, rows):
    training.choose(precision)
    size = 1
    while size <= most and time.monotonic() < end:
        try:
            row = measure(training, size)
        except torch.OutOfMemoryError:
            print(f"{training.name} {precision} {layout} {size}: out of memory", flush=True)
            break
        rows.append({"net": training.name, "precision": precision, "layout": layout, **row})
        print(" ".join(f"{value:.4g}" if isinstance(value, float) else str(value) for value in rows[-1].values()), flush=True)
        if row["step_ms"] > MOST_STEP_S * 1e3:
            break
        size *= 2
    training.optimizer.zero_grad()
    if ON_GPU:
        torch.cuda.empty_cache()


def measure_net(name, precisions, most, end, rows):
    training = Training(name)
    for precision in precisions:
        measure_series(training, precision, "contiguous", most, end, rows)
    if name == "resnet-50" and "bf16" in precisions:
        training.channels_last()
        measure_series(training, "bf16", "channels-last", most, end, rows)


def count_kernels(name, precisions, rows):
    training = Training(name)
    for precision in precisions:
        for size in (1, 8 if name == "gpt2" else 32):
            rows.append(kernels_of(training, precision, size))


def kernels_of(training, precision, size):
    """Returns how many kernels a step launches, and how long they take in sum."""
    training.choose(precision)
    inputs = training.inputs(size)
    for _ in range(3):
        training.step(inputs)
    wait()
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        training.step(inputs)
        wait()
    events = [event for event in profiler.profiler.kineto_results.events()
              if event.device_type() == torch.autograd.DeviceType.CUDA and "#" not in event.name()]
    return {"net": training.name, "precision": precision, "batch": size, "kernels": len(events),
            "busy_ms": sum(event.duration_ns() for event in events) / 1e6}


def record(name, *arguments):
    """Writes a trace of one step, as docs/how-to/from-a-trace.md records it."""
    record_step(Training(name), *arguments)


def record_step(training, precision, size, file, with_modules):
    training.choose(precision)
    inputs = training.inputs(size)
    activities = [ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * ON_GPU
    with profile(activities=activities, record_shapes=True, with_modules=with_modules, with_stack=with_modules,
                 schedule=schedule(wait=3, warmup=2, active=1),
                 on_trace_ready=lambda p: p.export_chrome_trace(str(file))) as profiler:
        for _ in range(6):
            training.optimizer.zero_grad()
            training.forward(inputs).backward()
            training.optimizer.step()
            wait()
            profiler.step()
    keep_what_is_imported(file)


def keep_what_is_imported(file):
    """Leaves in a trace only what tools/import_trace.py reads, which is a third of it."""
    with gzip.open(file, "rt", encoding="utf-8") as text:
        events = json.load(text)["traceEvents"]
    kept = []
    for event in events:
        category, name = event.get("cat"), event["name"]
        if event.get("ph") != "X" or (category == "python_function" and not name.startswith("nn.Module: ")):
            continue
        args = {key: value for key, value in event.get("args", {}).items()
                if key in ("Sequence number", "Input Dims", "External id", "correlation", "device")}
        name = name.split("<")[0] if category == "kernel" else name  # without the arguments of templates
        kept.append({**{key: event[key] for key in ("ph", "cat", "pid", "tid", "ts", "dur")}, "name": name, "args": args})
    with gzip.GzipFile(file, "wb", mtime=0) as out:
        out.write(('{"traceEvents": [\n' + ",\n".join(map(json.dumps, kept)) + "\n]}\n").encode())


def record_data_parallel(name, precision, size, file):
    """The same of a group of one process, whose DDP still reduces its buckets."""
    training = Training(name)
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29577"}
    torch.distributed.init_process_group("nccl" if ON_GPU else "gloo", rank=0, world_size=1)
    training.run = nn.parallel.DistributedDataParallel(training.net, device_ids=[0] if ON_GPU else None)
    record_step(training, precision, size, file, False)
    torch.distributed.destroy_process_group()


def rate_of_product(kind, precision, size=8192):
    """Returns the TFLOP/s of a product of square matrices: what the card gives at best."""
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    a, b = (torch.randn(size, size, device=DEVICE, dtype=kind) for _ in range(2))
    for _ in range(3):
        a @ b
    marks = Marks()
    for _ in range(11):
        marks()
        a @ b
    marks()
    wait()
    return 2 * size**3 / statistics.median(marks.between_ms()[1:]) / 1e9


def about():
    said = {"date": time.strftime("%Y-%m-%d"), "torch": torch.__version__, "python": platform.python_version()}
    for name in ("torchvision", "transformers"):
        with contextlib.suppress(ImportError):
            said[name] = __import__(name).__version__
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        said["cpu"] = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    if ON_GPU:
        said |= {"card": torch.cuda.get_device_name(), "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version()}
        with contextlib.suppress(Exception):
            import pynvml
            pynvml.nvmlInit()
            said["driver"] = pynvml.nvmlSystemGetDriverVersion()
        said["product_tflops"] = {precision: rate_of_product(kind, precision) for precision, kind in
                                  (("fp32", torch.float32), ("tf32", torch.float32), ("bf16", torch.bfloat16))}
    return said


def write(file, rows, columns):
    with open(file, "w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, columns)
        writer.writeheader()
        writer.writerows({key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()}
                         for row in rows)


def attempt(what, *arguments):
    """Calls what; a failure is printed, and what was measured before it is kept."""
    try:
        return what(*arguments)
    except Exception as fault:
        print(f"gpu_steps: {what.__name__} failed: {type(fault).__name__}: {fault}", flush=True)
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nets", default=",".join(NETS))
    parser.add_argument("--precisions", default=",".join(PRECISIONS))
    parser.add_argument("--most-batch", type=int, default=256)
    parser.add_argument("--seconds", type=float, default=600, help="no batch is begun later")
    parser.add_argument("--no-traces", action="store_true")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    start, most = time.monotonic(), arguments.most_batch
    nets, precisions = arguments.nets.split(","), arguments.precisions.split(",")
    torch.backends.cudnn.benchmark = True
    (arguments.folder / "about.json").write_text(json.dumps(about(), indent=2) + "\n", encoding="utf-8")

    rows, kernels = [], []
    for name in nets:
        attempt(measure_net, name, precisions, most, start + arguments.seconds, rows)
        write(arguments.folder / "steps.csv", rows, COLUMNS)
    for name in nets if ON_GPU else []:  # after all timing, because a profiler that was in use slows launches
        attempt(count_kernels, name, precisions, kernels)
    if kernels:
        write(arguments.folder / "kernels.csv", kernels, kernels[0])
    if arguments.no_traces:
        return
    for name, precision, most_size, with_modules in (("resnet-50", "tf32", 32, True), ("resnet-50", "bf16", 32, True),
                                                     ("gpt2", "bf16", 4, True), ("bert-base", "bf16", 16, False)):
        if name in nets:
            size = min(most_size, most)
            file = arguments.folder / f"{name}-{precision}-{size}.pt.trace.json.gz"
            attempt(record, name, precision, size, file, with_modules)
    if "resnet-50" in nets:
        size = min(32, most)
        attempt(record_data_parallel, "resnet-50", "tf32", size, arguments.folder / f"resnet-50-ddp-{size}.pt.trace.json.gz")


if __name__ == "__main__":
    main()

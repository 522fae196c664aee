"""Chrome JSON of torch.profiler (Kineto): which step, which spans nest in which, and which kernels belong to them.

Events of phase "X" count. Their categories are, in new and in old spelling:

    cpu_op, Operator                   operators, of forward and of backward
    user_annotation                    ProfilerStep#n, record_function, Optimizer.step#SGD.step
    python_function                    with_modules or with_stack: "nn.Module: Linear_0"
    cuda_runtime, cuda_driver, Runtime a launch; its "correlation" is that of its kernel
    kernel, gpu_memcpy, gpu_memset     what a device does

A launch lies in the operator that launches. A kernel without a correlation has the operator's "External id". If the trace
has kernels whose launches lie in the step, their times are the operators' times; otherwise these are the operators' own,
on the CPU.
"""

import re
import statistics
from collections import Counter

from .fault import printable, shown
from .step import EVALUATE, Span, Step

KINDS = {"cpu_op": "operator", "operator": "operator", "user_annotation": "range", "python_function": "module"}
LAUNCHES = {"cuda_runtime", "cuda_driver", "runtime"}
DEVICE = {"kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset"}
MARK = re.compile(r"ProfilerStep\s*#\s*([0-9]{1,15})$")
NODE_OF_GRAPH = re.compile(r"^torch::autograd::AccumulateGrad$|Backward[0-9]*$")
EXCHANGE = re.compile(r"nccl|rccl|gloo|c10d", re.IGNORECASE)


class Event:
    __slots__ = ("place", "name", "category", "thread", "start", "end", "ns", "args")

    def __init__(self, reader, event, place):
        self.place = place
        self.category = printable(event["cat"]).lower() if isinstance(event.get("cat"), str) else ""
        self.name = reader.text(event, "name", place)
        self.start = reader.microseconds(event, "ts", place)
        self.ns = reader.nanoseconds(event, "dur", place)
        self.end = self.start + self.ns / 1000
        self.thread = f"{shown(event.get('pid'))}/{shown(event.get('tid'))}"
        self.args = reader.object(event.get("args", {}), f"{place}.args")


def read_events(reader, events, place):
    """Returns the events that matter, by kind: what nests, launches, and what a device does."""
    kept = {"span": [], "launch": [], "device": []}
    wanted = {**dict.fromkeys(KINDS, "span"), **dict.fromkeys(LAUNCHES, "launch"), **dict.fromkeys(DEVICE, "device")}
    for i, event in enumerate(reader.list(events, place or "the trace")):
        here = f"{place}[{i}]"
        reader.object(event, here)
        category = event.get("cat")
        kind = wanted.get(category.lower()) if isinstance(category, str) else None
        if event.get("ph") != "X" or kind is None:
            continue
        if category.lower() == "python_function" and not is_module(event.get("name")):
            continue
        kept[kind].append(Event(reader, event, here))
    return kept


def is_module(name):
    return not isinstance(name, str) or name.startswith("nn.Module: ")


def choose_step(reader, spans, asked, warn):
    """Returns the event ProfilerStep#n: the one asked for, the only one, or the one of median length."""
    steps = {}
    for event in spans:
        number = MARK.match(event.name) if event.category == "user_annotation" else None
        if number:
            steps.setdefault(int(number[1]), event)
    if asked is not None:
        if asked not in steps:
            known = ", ".join(str(n) for n in sorted(steps)[:20]) or "none"
            reader.refuse("", f"has no ProfilerStep#{asked}; it has {known}")
        return steps[asked]
    if not steps:
        warn("no ProfilerStep#n marks a step; all of the trace is taken as one (call prof.step() after each step)")
        return None
    if len(steps) > 1:
        middle = statistics.median_low(event.ns for event in steps.values())
        chosen = next(n for n in sorted(steps) if steps[n].ns == middle)
        warn(f"of {len(steps)} steps, ProfilerStep#{chosen} is taken, which has the median length; --step states another")
        return steps[chosen]
    return next(iter(steps.values()))


def nested(reader, events):
    """Returns spans with their parents, in the order of their beginning: those of a thread nest by time.

    Before PyTorch 2.3 times are whole microseconds, and a node of the graph may seem to begin when what evaluates it ends.
    It belongs there all the same.
    """
    spans, open_by_thread, evaluating = [], {}, {}
    for event in sorted(events, key=lambda e: (e.start, -e.ns)):
        kind = KINDS.get(event.category, "operator")
        span = Span(event.place, event.name, kind, event.thread, event.start)
        read_arguments(reader, event, span)
        above = open_by_thread.setdefault(event.thread, [])
        while above and above[-1][0] <= event.start:
            above.pop()
        span.parent = above[-1][1] if above else None
        if event.name.startswith(EVALUATE):
            evaluating[event.thread] = (event.end, span)
        elif NODE_OF_GRAPH.search(event.name) and not lies_in_backward(span.parent):
            end, evaluated = evaluating.get(event.thread, (None, None))
            if evaluated is not None and event.start <= end + 1:
                span.parent = evaluated
        above.append((event.end, span))
        spans.append((event, span))
    return spans


def lies_in_backward(span):
    while span and not span.name.startswith(EVALUATE):
        span = span.parent
    return span is not None


def read_arguments(reader, event, span):
    number = event.args.get("Sequence number")
    if number is not None:
        number = reader.integer(number, f"{event.place}.args.Sequence number", "number of a node of the graph")
        span.sequence = number if 0 <= number < 2**62 else None
    dims = event.args.get("Input Dims", event.args.get("Input dims"))
    if dims is not None:
        span.dims = reader.shapes(dims, f"{event.place}.args.Input Dims")


def add_own_cpu_times(spans):
    for event, span in spans:
        if span.kind != "operator":
            continue
        span.own_ns += event.ns
        above = span.parent
        while above and above.kind != "operator":
            above = above.parent
        if above:
            above.own_ns -= event.ns
    for _, span in spans:
        span.own_ns = max(span.own_ns, 0)


def correlation(event):
    number = event.args.get("correlation")
    return number if isinstance(number, (int, str)) and not isinstance(number, bool) else None


def add_kernel_times(reader, spans, kernels, warn):
    """Adds each kernel to the launch with its correlation; one without a correlation to the operator with its external id."""
    launches = {correlation(event): span for event, span in spans
                if event.category in LAUNCHES and correlation(event) is not None}
    operators = {event.args.get("External id"): span for event, span in spans
                 if event.category not in LAUNCHES and isinstance(event.args.get("External id"), (int, str))}
    counted, exchanged_ns = [], 0
    for kernel in kernels:
        external = kernel.args.get("External id")
        if correlation(kernel) is not None:
            owner = launches.get(correlation(kernel))
        else:
            owner = operators.get(external) if isinstance(external, (int, str)) else None
        if owner is None:
            continue
        if EXCHANGE.search(kernel.name):
            exchanged_ns += kernel.ns
            continue
        owner.own_ns += kernel.ns
        counted.append(kernel)
    if exchanged_ns:
        warn(f"{exchanged_ns / 1e6:.6g} ms of kernels that exchange data (NCCL) are left out; paceline simulates the exchange")
    devices = sorted({shown(kernel.args.get("device")) for kernel in counted if "device" in kernel.args})
    if len(devices) > 1:
        reader.refuse("", f"has kernels of devices {', '.join(devices[:8])}; a profile is of one: record one process with "
                          "one device")
    warn_of_overlap(counted, warn)
    return bool(counted)


def warn_of_overlap(kernels, warn):
    covered, end = 0, None
    for kernel in sorted(kernels, key=lambda k: k.start):
        covered += max(0, kernel.end - (kernel.start if end is None else max(end, kernel.start)))
        end = kernel.end if end is None else max(end, kernel.end)
    total = sum(kernel.ns for kernel in kernels) / 1000
    if total > 1.02 * covered:
        warn(f"kernels overlap: their times add up to {total / 1000:.6g} ms, and the device was busy for "
             f"{covered / 1000:.6g} ms; give the scenario a step_time, which scales all times")


def thread_of_forward(mark, spans):
    if mark is not None:
        return mark.thread
    count = Counter(span.thread for _, span in spans if span.sequence is not None and not span.name.startswith(EVALUATE))
    return count.most_common(1)[0][0] if count else spans[0][1].thread


def read_step(reader, events, place, options, warn):
    kept = read_events(reader, events, place)
    mark = choose_step(reader, kept["span"], options.step, warn)
    inside = [event for event in kept["span"] + (kept["launch"] if kept["device"] else [])
              if mark is None or (mark.start <= event.start < mark.end)]
    if not any(KINDS.get(event.category) == "operator" for event in inside):
        reader.refuse(mark.place if mark else "", "no operator (cat \"cpu_op\") begins in the step; record with "
                                                  "ProfilerActivity.CPU, and call prof.step() after the optimizer")
    spans = nested(reader, inside)
    on_device = add_kernel_times(reader, spans, kept["device"], warn) if kept["device"] else False
    if not on_device:
        if kept["device"]:
            warn("no kernel belongs to a launch in the step; the operators' times on the CPU are taken")
        spans = [(event, span) for event, span in spans if event.category not in LAUNCHES]
        add_own_cpu_times(spans)
    source = f"{'kernels' if on_device else 'operators on the CPU'} of {mark.name if mark else 'the whole trace'}"
    return Step([span for _, span in spans], thread_of_forward(mark, spans), source, mark.ns if mark else None)

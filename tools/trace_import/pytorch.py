"""Chrome JSON of torch.profiler (Kineto): which step, which spans nest in which, and which kernels belong to them.

Events of phase "X" count. Their categories are, in new and in old spelling:

    cpu_op, Operator                    operators, of forward and of backward
    user_annotation                     ProfilerStep#n, record_function, Optimizer.step#SGD.step
    python_function                     with_modules or with_stack: "nn.Module: Linear_0"
    cuda_runtime, ..._driver, Runtime   a launch; its "correlation" is that of its kernel
    kernel, gpu_memcpy, gpu_memset      what a device does (device.py)

PyTorch 1.8 has no user_annotation: ProfilerStep#n and ranges are Operators, as kineto's tb_plugin reads them
(torch_tb_profiler/profiler/trace.py), and nodes of the graph stand without what evaluates them.

A launch lies in the operator that launches. If the trace has kernels whose launches lie in the step, their times are
the operators' times; otherwise these are the operators' own, on the CPU.
"""

import re
import statistics
from bisect import bisect_left
from collections import Counter

from .device import KERNELS, NO_KERNELS, Device, is_launch
from .fault import Fault, printable, shown
from .step import EVALUATE, NODE_OF_GRAPH, Span, Step, plain_name

KINDS = {"cpu_op": "operator", "operator": "operator", "user_annotation": "range", "python_function": "module"}
MARK = re.compile(r"ProfilerStep\s*#\s*([0-9]{1,15})$")
RANGE = re.compile(r"ProfilerStep\s*#|Optimizer\.|enumerate\(DataLoader\)")


class Event:
    __slots__ = ("place", "name", "category", "thread", "start", "end", "ns", "args")

    def __init__(self, reader, event, place):
        self.place = place
        self.category = printable(event["cat"]).lower() if isinstance(event.get("cat"), str) else ""
        self.name = plain_name(reader.text(event, "name", place))
        self.start = reader.microseconds(event, "ts", place)
        self.ns = reader.nanoseconds(event, "dur", place)
        self.end = self.start + self.ns / 1000
        self.thread = f"{shown(event.get('pid'))}/{shown(event.get('tid'))}"
        self.args = reader.object(event.get("args", {}), f"{place}.args")
        if self.category == "operator" and is_old_range(self):
            self.category = "user_annotation"


def is_old_range(event):
    """Returns whether an event of PyTorch 1.8 is a range: operators have a namespace, nodes a number or an ending."""
    return bool(RANGE.match(event.name)) or ("::" not in event.name and "Sequence number" not in event.args
                                             and not NODE_OF_GRAPH.search(event.name))


def kind_of(category):
    """Returns "span" of what nests, "launch", "device", "other" of what nobody knows, None of what does not count."""
    category = category.lower() if isinstance(category, str) else ""
    if category in KINDS:
        return "span"
    if is_launch(category):
        return "launch"
    return "device" if category in KERNELS else None if category in NO_KERNELS else "other"


def read_events(reader, events, place):
    """Returns the events that matter, by kind, and how many each category has."""
    kept, categories = {"span": [], "launch": [], "device": [], "other": []}, Counter()
    for i, event in enumerate(reader.list(events, place or "the trace")):
        here = f"{place}[{i}]"
        reader.object(event, here)
        if event.get("ph") != "X":
            continue
        category, kind = event.get("cat"), kind_of(event.get("cat"))
        categories[printable(category) if isinstance(category, str) else "none"] += 1
        if kind is None or (category == "python_function" and not is_module(event.get("name"))):
            continue
        try:
            kept[kind].append(Event(reader, event, here))
        except Fault:
            if kind != "other":  # what nobody knows may have any form
                raise
    return kept, categories


def is_module(name):
    return not isinstance(name, str) or name.startswith("nn.Module: ")


def steps_of(spans):
    """Returns the events ProfilerStep#n by their number."""
    steps = {}
    for event in spans:
        number = MARK.match(event.name) if event.category == "user_annotation" else None
        if number:
            steps.setdefault(int(number[1]), event)
    return steps


def choose_step(reader, spans, asked, warn):
    """Returns the event ProfilerStep#n: the one asked for, the only whole one, or the whole one of median length."""
    steps = steps_of(spans)
    if asked is not None:
        if asked not in steps:
            known = ", ".join(str(n) for n in sorted(steps)[:20]) or "none"
            reader.refuse("", f"has no ProfilerStep#{asked}; it has {known}")
        return steps[asked]
    if not steps:
        warn("no ProfilerStep#n marks a step; all of the trace is taken as one (call prof.step() after each step)")
        return None
    whole = whole_steps(steps, spans, warn)
    middle = statistics.median_low(whole[n].ns for n in whole)
    chosen = next(n for n in sorted(whole) if whole[n].ns == middle)
    if len(whole) > 1:
        warn(f"of {len(whole)} steps, ProfilerStep#{chosen} is taken, which has the median length; --step states "
             "another")
    return whole[chosen]


def whole_steps(steps, spans, warn):
    """Returns the steps that have operators of backward, else those with operators, else all; names the others."""
    operators = [event for event in spans if KINDS.get(event.category) == "operator"]
    backward = [event for event in operators if event.name.startswith(EVALUATE) or NODE_OF_GRAPH.search(event.name)]
    for events, lack in ((backward, "operator of backward"), (operators, "operator")):
        begins = sorted(event.start for event in events)
        whole = {n: step for n, step in steps.items() if begins_within(begins, step)}
        if whole:
            for n in sorted(set(steps) - set(whole)):
                warn(f"ProfilerStep#{n} ({steps[n].place}) has no {lack} and is passed over; --step {n} takes it")
            return whole
    return steps


def begins_within(begins, step):
    i = bisect_left(begins, step.start)
    return i < len(begins) and begins[i] < step.end


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
            if evaluated is not None and event.start <= end + 1 and evaluated.name == EVALUATE + event.name:
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


def thread_of_forward(mark, spans):
    if mark is not None:
        return mark.thread
    count = Counter(span.thread for _, span in spans if span.sequence is not None
                    and not span.name.startswith(EVALUATE) and not NODE_OF_GRAPH.search(span.name))
    return count.most_common(1)[0][0] if count else spans[0][1].thread


def operators_within(reader, spans, mark, categories):
    """Refuses a step without operators, and says what the file has."""
    if any(KINDS.get(event.category) == "operator" for event in spans):
        return
    has = ", ".join(f"{number} of \"{category}\"" for category, number in categories.most_common(6))
    has = has or "no event of phase X"
    where = mark.name if mark else "the trace"
    reader.refuse(mark.place if mark else "", f"no operator (cat \"cpu_op\") begins in {where}; the file has {has}. "
                                              "Record with ProfilerActivity.CPU, and call prof.step() after the optimizer")


def read_step(reader, events, place, options, warn):
    kept, categories = read_events(reader, events, place)
    mark = choose_step(reader, kept["span"], options.step, warn)
    inside = [event for event in kept["span"] + kept["launch"]
              if mark is None or mark.start <= event.start < mark.end]
    operators_within(reader, inside, mark, categories)
    spans = nested(reader, inside)
    on_device = Device(reader, kept, mark, warn).add_times(spans)
    if not on_device:
        if any(is_launch(event.category) for event in inside):
            spans = nested(reader, [event for event in inside if not is_launch(event.category)])
        add_own_cpu_times(spans)
    source = f"{'kernels' if on_device else 'operators on the CPU'} of {mark.name if mark else 'the whole trace'}"
    return Step([span for _, span in spans], thread_of_forward(mark, spans), source, mark.ns if mark else None)

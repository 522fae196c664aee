"""What a device did, and for which operator: kernels of a trace of torch.profiler.

A kernel belongs to the launch with its correlation, a launch to the operator it lies in. If the trace has no launch
with a kernel's correlation, the kernel belongs to the operator with its "External id". Categories of a maker that is
not known here (Kineto's ActivityType.h lists those of CUDA, ROCm, XPU and MTIA, and a backend may add its own) are
kernels if a launch has their correlation, or an operator their External id and they lie on a row without operators;
else they are named, since their times are missing.
"""

import re

from .fault import shown

LAUNCHES = {"runtime"}  # and whatever ends with these
LAUNCH_ENDINGS = ("_runtime", "_driver")
KERNELS = {"kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset", "mtia_ccp_events"}
# What shows a device's or the host's time a second time, and waits (libkineto/include/ActivityType.h).
NO_KERNELS = {"gpu_user_annotation", "cuda_sync", "cuda_event", "cuda_profiler_range", "overhead", "trace", "python",
              "external_correlation", "cpu_instant_event", "mtia_insight", "mtia_counters", "memory", "ac2g", "fwdbwd"}
LAUNCHING = re.compile(r"launch(?!hostfunc)", re.IGNORECASE)  # of kernels: other calls may well have none
EXCHANGE = re.compile(r"nccl|rccl|gloo|c10d", re.IGNORECASE)


def is_launch(category):
    return category in LAUNCHES or category.endswith(LAUNCH_ENDINGS)


def correlation(event):
    return identifier(event.args, "correlation")


def external_id(event):
    return identifier(event.args, "External id")


def identifier(args, key):
    number = args.get(key)
    return number if isinstance(number, (int, str)) and not isinstance(number, bool) else None


class Device:
    """The launches and kernels of a trace, and the part of them that belongs to a step."""

    def __init__(self, reader, kept, mark, warn):
        self.reader, self.mark, self.warn = reader, mark, warn
        self.launches, self.kernels = kept["launch"], list(kept["device"])
        self.launched = {correlation(event) for event in self.launches} - {None}
        self.ids = {external_id(event) for event in kept["span"]} - {None}
        self.rows = {event.thread for event in kept["span"] + kept["launch"]}
        self.unknown = []  # events that may be a device's, and belong to nobody
        self.take_unknown_makers(kept["other"])

    def take_unknown_makers(self, others):
        """Takes what a launch or an operator of this trace is known to have caused, and says so."""
        taken = []
        for event in others:
            apart = event.thread not in self.rows
            if correlation(event) in self.launched or (apart and external_id(event) in self.ids):
                taken.append(event)
            elif apart:
                self.unknown.append(event)
        self.kernels += taken
        if taken:
            self.warn(f"{told(taken)} have the correlation of a launch, or the External id of an operator: they are "
                      "taken as kernels, though their category is not known")

    def add_times(self, spans):
        """Adds each kernel to what caused it. Returns whether the step has kernels."""
        launches = {correlation(event): span for event, span in spans if is_launch(event.category)}
        operators = {external_id(event): span for event, span in spans if not is_launch(event.category)}
        counted, exchanged, orphans = [], [], []
        for kernel in self.kernels:
            if correlation(kernel) in self.launched:
                owner = launches.get(correlation(kernel))
            else:
                owner = operators.get(external_id(kernel)) if external_id(kernel) is not None else None
                if external_id(kernel) not in self.ids:
                    orphans.append(kernel)
            if owner is None:
                continue
            if EXCHANGE.search(kernel.name):
                exchanged.append(kernel)
                continue
            owner.own_ns += kernel.ns
            counted.append(kernel)
        self.refuse_launches_without_kernels([event for event, _ in spans if is_launch(event.category)])
        self.say_what_is_left_out(counted, exchanged, orphans)
        self.refuse_two_devices(counted)
        warn_of_overlap(counted, self.warn)
        return bool(counted)

    def refuse_launches_without_kernels(self, launches):
        """A step that launches runs on a device, and the CPU's times are not its times."""
        of_kernels = {correlation(kernel) for kernel in self.kernels} - {None}
        by_id = {external_id(kernel) for kernel in self.kernels if correlation(kernel) is None} - {None}
        launching = [event for event in launches if LAUNCHING.search(event.name) and
                     (correlation(event) is not None or not self.kernels)]
        lost = [event for event in launching
                if correlation(event) not in of_kernels and external_id(event) not in by_id]
        if len(lost) * 2 > len(launching):
            self.reader.refuse(lost[0].place, f"{len(lost)} of {len(launching)} launches in the step, such as this "
                                              f"{lost[0].name}, have no kernel (of {len(self.kernels)} in the file), "
                                              "so the device's times are missing; record with ProfilerActivity.CUDA, "
                                              "or that of your device, beside ProfilerActivity.CPU")
        if lost:
            self.warn(f"{len(lost)} of {len(launching)} launches in the step have no kernel, the first is "
                      f"{lost[0].name} ({lost[0].place}): the times of their kernels are missing")

    def say_what_is_left_out(self, counted, exchanged, orphans):
        if exchanged:
            self.warn(f"{sum(kernel.ns for kernel in exchanged) / 1e6:.6g} ms of kernels that exchange data (NCCL) are "
                      "left out; paceline simulates the exchange")
        orphans = [kernel for kernel in orphans if self.is_in_step(kernel)]
        if orphans:
            self.warn(f"{told(orphans)} belong to no launch and no operator of the file; their times are left out")
        unknown = [event for event in self.unknown if self.is_in_step(event)]
        if unknown:
            self.warn(f"{told(unknown)} lie apart from all operators, and no launch has their correlation. If a device "
                      f"did them, its times are missing: those of {'kernels' if counted else 'operators on the CPU'} "
                      "are taken")
        if self.kernels and not counted:
            self.warn(f"none of {told(self.kernels)} belongs to a launch or an operator in the step; the operators' "
                      "times on the CPU are taken")

    def is_in_step(self, event):
        return self.mark is None or self.mark.start <= event.start < self.mark.end

    def refuse_two_devices(self, counted):
        devices = sorted({shown(kernel.args.get("device")) for kernel in counted if "device" in kernel.args})
        if len(devices) > 1:
            self.reader.refuse("", f"has kernels of devices {', '.join(devices[:8])}; a profile is of one: record one "
                                   "process with one device")


def told(events):
    """Returns events in words: how many, of which categories, how long, and an example."""
    categories = ", ".join(sorted({f"\"{event.category}\"" if event.category else "none" for event in events})[:4])
    milliseconds = sum(event.ns for event in events) / 1e6
    return f"{len(events)} events of category {categories} ({milliseconds:.6g} ms, such as {shown(events[0].name)})"


def warn_of_overlap(kernels, warn):
    covered, end = 0, None
    for kernel in sorted(kernels, key=lambda k: k.start):
        covered += max(0, kernel.end - (kernel.start if end is None else max(end, kernel.start)))
        end = kernel.end if end is None else max(end, kernel.end)
    total = sum(kernel.ns for kernel in kernels) / 1000
    if total > 1.02 * covered:
        warn(f"kernels overlap: their times add up to {total / 1000:.6g} ms, and the device was busy for "
             f"{covered / 1000:.6g} ms; give the scenario a step_time, which scales all times")

#!/usr/bin/env python3
"""Checks traces of `paceline run --trace` against the rules of the Chrome Trace Event format.

Usage: check_trace.py FILE...

Prints what a file holds. If an event breaks a rule, prints both and exits with 1. The rules are those
that Perfetto enforces (slices on a thread nest, arrows begin and end in slices, times never decrease),
and that uses of links lie in 0..1.
"""
import json
import sys
from decimal import Decimal


class Broken(Exception):
    pass


class Trace:
    def __init__(self, text):
        self.processes = {}  # pid -> name
        self.threads = {}  # tid -> (pid, name)
        self.open = {}  # tid -> names of open slices
        self.arrows = {}  # id -> whether it has ended
        self.last = Decimal(0)
        self.counts = {}
        self.cut = None
        whole = json.loads(text, parse_float=Decimal)
        events = whole["traceEvents"]
        for event in events:
            if event["ph"] == "M":
                self.name(event)
        for number, event in enumerate(events):
            try:
                if event["ph"] != "M":
                    self.read(event)
            except (Broken, KeyError, TypeError) as problem:
                raise Broken(f"event {number}, {json.dumps(event, default=str)}: {problem!r}") from None
        for tid, names in self.open.items():
            self.require(not names, f"slice {names[-1:]} of {self.threads[tid][1]} never ends")
        for arrow, ended in self.arrows.items():
            self.require(ended, f"arrow {arrow} never ends")

    @staticmethod
    def require(holds, rule):
        if not holds:
            raise Broken(rule)

    def name(self, event):
        if event["name"] == "process_name":
            self.require(event["pid"] not in self.processes, f"process {event['pid']} has two names")
            self.processes[event["pid"]] = event["args"]["name"]
        elif event["name"] == "thread_name":
            self.require(event["tid"] not in self.threads,
                         f"thread {event['tid']} is named twice: its number must be its own in the whole file")
            self.threads[event["tid"]] = (event["pid"], event["args"]["name"])

    def read(self, event):
        phase = event["ph"]
        self.counts[phase] = self.counts.get(phase, 0) + 1
        time = Decimal(event["ts"])
        self.require(time >= self.last, "it stands behind a later one")
        self.last = time
        self.require(event["pid"] in self.processes, "its process has no name")
        if phase == "C":
            for use in event["args"].values():
                self.require(0 <= use <= 1, "a use is no share")
            return
        if phase == "i":
            self.cut = event["name"]
            return
        self.require(self.threads.get(event["tid"], (None,))[0] == event["pid"], "its thread is not of its process")
        stack = self.open.setdefault(event["tid"], [])
        if phase == "B":
            stack.append(event["name"])
        elif phase == "E":
            self.require(stack, "it ends a slice that has not begun")
            stack.pop()
        elif phase == "s":
            self.require(stack, "an arrow begins in no slice")
            self.require(event["id"] not in self.arrows, "an arrow begins twice")
            self.arrows[event["id"]] = False
        elif phase == "f":
            self.require(stack, "an arrow ends in no slice")
            self.require(event.get("bp") == "e", "an arrow does not end in the slice around it")
            self.require(self.arrows.get(event["id"]) is False, "an arrow ends that has not begun, or has ended")
            self.arrows[event["id"]] = True
        else:
            self.require(False, "its phase is not known")

    def told(self):
        count = self.counts.get
        text = (f"{len(self.processes)} processes, {len(self.threads)} tracks, {count('B', 0)} slices, "
                f"{count('s', 0)} arrows, {count('C', 0)} uses, until {self.last} us")
        return text + (f"; {self.cut}" if self.cut else "")


def main(files):
    if not files or files[0].startswith("-"):
        print(__doc__.strip())
        return 0 if files and files[0] in ("-h", "--help") else 2
    code = 0
    for file in files:
        try:
            with open(file, encoding="utf-8") as text:
                print(f"{file}: {Trace(text.read()).told()}")
        except (Broken, KeyError, ValueError, OSError) as problem:
            print(f"{file}: {problem}", file=sys.stderr)
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Checks that traces that tell too little, or something wrong, are refused with the place and the fix."""

import gzip
import json
import subprocess
import sys
import unittest
from pathlib import Path

from importing import TRACES, Test, event, two_linears, write, write_events


class Refusals(Test):
    def test_each_names_file_place_and_what_would_be_right(self):
        def changed(number, **values):
            return [{**e, **values} if i == number else e for i, e in enumerate(two_linears())]
        for events, place, right in [
                (changed(1, dur=-3), "traceEvents[1].dur", "a duration in microseconds"),
                (changed(1, dur=None), "traceEvents[1].dur", "is missing; a number of microseconds"),
                (changed(1, ts="noon"), "traceEvents[1].ts", "is not a number of microseconds"),
                (changed(1, ts=float("nan")), "traceEvents[1].ts", "is beyond any clock"),
                (changed(1, name=7), "traceEvents[1].name", "a name in quotes"),
                (changed(1, args=[]), "traceEvents[1].args", "is not an object"),
                (changed(1, args={"Input Dims": [[-1]]}), "traceEvents[1].args.Input Dims[0]", "is not an extent"),
                (changed(1, args={"Input Dims": 4}), "traceEvents[1].args.Input Dims", "is not a list"),
                (changed(1, args={"Input Dims": [[2**40, 2**40]]}), "traceEvents[1].args.Input Dims[0]", "at most"),
                (changed(1, args={"Sequence number": "x"}), "traceEvents[1].args.Sequence number", "a whole number"),
                ([*two_linears(), 5], "traceEvents[22]", "is not an object"),
                (two_linears()[:1], "traceEvents[0]", "ProfilerActivity.CPU"),
                (two_linears()[:6], "", "loss.backward()"),
                (two_linears()[6:-2], "", "no operator of a forward pass"),
                ([{**e, "dur": 0} if e["cat"] == "cpu_op" else e for e in two_linears()], "", "take no time")]:
            with self.subTest(place=place, right=right):
                message = self.refused_events(events)
                self.assertIn(f"{place}: " if place else ": ", message)
                self.assertIn(right, message)

    def test_what_is_no_trace_is_refused(self):
        for content, right in [("", "is empty"), ("no", "byte 0: is not JSON"), ("{", "line 1, column 2: is not JSON"),
                               ("{}", "holds no trace"),
                               ("[]", "holds no trace"), ('{"traceEvents": 3}', "is not a list"), ('{"nodes": []}', "is empty"),
                               ("[" * 100_000, "nested too deep"), ('{"a": ' + "9" * 5000 + "}", "a number is too long"),
                               ('{"nodes": [{"id": 1, "name": "x", "type": "COMP_NODE"}]}', "tells no forward from backward")]:
            with self.subTest(content=content[:40]):
                self.assertIn(right, self.refused(write(self.folder, content)))

    def test_files_that_cannot_be_read_or_written_are_refused(self):
        self.assertIn("cannot be read: No such file", self.refused(Path(self.folder, "missing.json")))
        half = Path(self.folder, "half.json.gz")
        half.write_bytes(gzip.compress(json.dumps(two_linears()).encode())[:100])
        self.assertIn("is not a whole gzip file", self.refused(half))
        trace = write_events(self.folder, two_linears(), "net.json")
        code = subprocess.run([sys.executable, "-B", str(TRACES.parents[1] / "tools" / "import_trace.py"), str(trace), "--out",
                               str(trace)], capture_output=True, text=True, check=False)
        self.assertEqual((code.returncode, code.stderr.count("\n")), (2, 1))
        self.assertIn("is the trace itself", code.stderr)

    def test_a_damaged_gzip_file_is_refused(self):
        content = bytearray(gzip.compress(json.dumps(two_linears()).encode()))
        content[len(content) // 2:len(content) // 2 + 20] = bytes(20)
        file = Path(self.folder, "damaged.json.gz")
        file.write_bytes(content)
        self.assertIn("is not a whole gzip file", self.refused(file))

    def test_more_parameters_than_paceline_takes_are_refused(self):
        events = two_linears()
        for e in events:
            if "Accumulate" in e["name"] and e["args"]:
                e["args"]["Input Dims"] = [[2**49]]
        self.assertIn("a net has at most 1125899906842624", self.refused_events(events))

    def test_layers_that_the_trace_does_not_have_are_refused(self):
        trace = write_events(self.folder, two_linears())
        self.assertIn("has no nn.Module; record with_stack=True", self.refused(trace, "--layers", "modules"))
        self.assertIn("has no range around an operator", self.refused(trace, "--layers", "ranges"))

    def test_two_devices_are_refused(self):
        events = two_linears()
        for number in range(2):
            events += [event("cuda_runtime", "cudaLaunchKernel", 12 + number, 1, correlation=number),
                       event("kernel", "gemm", 1000, 100, 7, correlation=number, device=number)]
        self.assertIn("kernels of devices 0, 1", self.refused_events(events))


if __name__ == "__main__":
    unittest.main()

"""Compares the profiles that tools/import_trace.py makes with the traces that they are made of.

    tests/tools/import_trace_test.py PACELINE
"""

import csv
import gzip
import json
import math
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from importing import EVALUATE, TRACES, Imported, event, operator, two_linears, write, write_events

PACELINE = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 and Path(sys.argv[1]).exists() else None

# The net of tests/traces/record_pytorch.py: two convolutions with normalizations, two dense layers.
SMALL_CNN = [(32, 3, 3, 3), (32,), (32,), (64, 32, 3, 3), (64,), (64,), (256, 16384), (256,), (10, 256), (10,)]
TWO_LINEARS = {"aten::linear": (10_000, 30_000, {"weight": (5, 6), "bias": (5,)}),
               "aten::linear#2": (20_000, 50_000, {"weight": (3, 5), "bias": (3,)}),
               "aten::sum": (2_000, 0, {})}


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
        self.assertEqual(made.code, 1, made.said)
        self.assertFalse(made.out.exists())
        lines = [line for line in made.errors.splitlines() if not line.startswith("import_trace: warning: ")]
        self.assertEqual(len(lines), 1, made.errors)
        self.assertIn(str(trace), lines[0])
        return lines[0]

    def refused_events(self, events, *options):
        return self.refused(write_events(self.folder, events), *options)


class OfPyTorch(Test):
    def test_each_layer_has_the_time_of_its_operators_and_of_their_nodes_of_the_graph(self):
        made = self.imported(two_linears())
        self.assertEqual(made.layers, TWO_LINEARS)
        self.assertEqual(made.update_ns, 7_000)
        self.assertEqual(made.profile["batch"], 4)
        self.assertEqual([layer["macs"] for layer in made.profile["layers"]], [30, 15, 0])

    def test_backward_may_run_on_a_thread_of_its_own(self):
        self.assertEqual(self.imported(two_linears(thread=9)).layers, TWO_LINEARS)

    def test_the_order_of_events_in_the_file_does_not_matter(self):
        self.assertEqual(self.imported(list(reversed(two_linears()))).layers, TWO_LINEARS)

    def test_old_spellings_of_categories_are_known(self):
        old = {"cpu_op": "Operator"}
        events = [{**e, "cat": old.get(e["cat"], e["cat"])} for e in two_linears()]
        self.assertEqual(self.imported(events).layers, TWO_LINEARS)

    def test_a_module_is_a_layer_and_a_second_call_is_one_without_tensors(self):
        events = two_linears() + [event("python_function", "nn.Module: Linear_0", 9.5, 10.25),
                                  event("python_function", "nn.Module: Net_0", 9, 40),
                                  event("python_function", "nn.Module: Linear_1", 19.75, 20.25)]
        self.assertEqual(list(self.imported(events).layers), ["Linear_0", "Linear_1", "Net_0"])
        twice = [{**e, "name": "nn.Module: Linear_0"} if e["name"].endswith("Linear_1") else e for e in events]
        self.assertEqual(list(self.imported(twice).layers), ["Linear_0", "Linear_0#2", "Net_0"])

    def test_ranges_are_layers_if_there_are_several_and_no_modules(self):
        events = two_linears() + [event("user_annotation", "body", 9.5, 11), event("user_annotation", "head", 20, 22.5)]
        self.assertEqual({name: times[:2] for name, times in self.imported(events).layers.items()},
                         {"body": (10_000, 30_000), "head": (22_000, 50_000)})
        self.assertEqual(self.imported(events, "--layers", "operators").layers, TWO_LINEARS)
        around_all = two_linears() + [event("user_annotation", "## forward ##", 9, 40)]
        self.assertEqual(self.imported(around_all).layers, TWO_LINEARS)

    def test_kernels_take_the_place_of_the_time_of_operators(self):
        events = two_linears()
        for number, (start, length) in enumerate([(12, 100), (22, 200), (52, 400), (101, 300), (142, 50.5)]):
            events += [event("cuda_runtime", "cudaLaunchKernel", start, 1, correlation=number),
                       event("kernel", "gemm", 1000 + 500 * number, length, 7, correlation=number, device=0)]
        layers = self.imported(events).layers
        self.assertEqual({name: times[:2] for name, times in layers.items()},
                         {"aten::linear": (100_000, 300_000), "aten::linear#2": (200_000, 400_000)})
        self.assertEqual(self.imported(events).update_ns, 50_500)

    def test_kernels_that_exchange_data_are_left_out_and_told(self):
        events = two_linears()
        for number, name in enumerate(["gemm", "ncclDevKernel_AllReduce_Sum_f32"]):
            events += [event("cuda_runtime", "cudaLaunchKernel", 12 + 10 * number, 1, correlation=number),
                       event("kernel", name, 1000 + 500 * number, 100, 7, correlation=number, device=0)]
        made = self.imported(events)
        self.assertEqual(made.total_ns, 100_000)
        self.assertIn("0.1 ms of kernels that exchange data (NCCL) are left out", made.errors)

    def test_kernels_at_the_same_time_are_told(self):
        events = two_linears()
        for number in range(2):
            events += [event("cuda_runtime", "cudaLaunchKernel", 12 + number, 1, correlation=number),
                       event("kernel", "gemm", 1000, 100, 7 + number, correlation=number, device=0)]
        self.assertIn("add up to 0.2 ms, and the device was busy for 0.1 ms", self.imported(events).errors)

    def test_a_step_is_chosen_by_number_or_by_its_length(self):
        later = [{**e, "ts": e["ts"] + 1000, "dur": 2 * e["dur"] if e["cat"] == "cpu_op" else e["dur"],
                  "name": e["name"].replace("#3", "#4")} for e in two_linears()]
        for e in later:
            if e["name"] == "ProfilerStep#4":
                e["dur"] = 300
        both = two_linears() + later
        self.assertEqual(self.imported(both).layers, TWO_LINEARS)
        self.assertIn("of 2 steps, ProfilerStep#3 is taken", self.imported(both).errors)
        self.assertNotEqual(self.imported(both, "--step", "4").layers, TWO_LINEARS)
        self.assertIn("has no ProfilerStep#5; it has 3, 4", self.refused_events(both, "--step", "5"))

    def test_a_tied_matrix_is_listed_once_where_its_gradient_is_complete(self):
        events = [e for e in two_linears() if e["args"].get("Input Dims") != [[3, 5]] or "Accumulate" not in e["name"]]
        made = self.imported(events)
        self.assertEqual(made.layers["aten::linear#2"][2], {"bias": (3,)})
        self.assertIn("accumulates 3 gradients, and the operators of forward show 4 parameters", made.errors)

    def test_gradients_without_shapes_leave_the_parameters_to_operators(self):
        events = two_linears()
        for e in events:
            if "Accumulate" in e["name"]:
                e["args"].pop("Input Dims", None)
        made = self.imported(events)
        self.assertEqual(made.layers, TWO_LINEARS)
        self.assertIn("no accumulated gradient has a shape", made.errors)

    def test_without_shapes_parameters_are_stated_or_refused(self):
        events = [{**e, "args": {k: v for k, v in e["args"].items() if k != "Input Dims"}} for e in two_linears()]
        self.assertIn("record_shapes=True", self.refused_events(events))
        made = self.imported(events, "--parameters", "800", "--batch", "7")
        self.assertEqual([t[2] for t in made.layers.values()], [{"parameters": (300, 1)}, {"parameters": (500, 1)}, {}])
        self.assertEqual(made.profile["batch"], 7)
        self.assertIn("sizes of buckets are a guess", made.errors)

    def test_backward_without_a_number_counts_for_the_layer_before_and_is_told(self):
        events = two_linears()
        events[9]["args"], events[10]["args"] = events[9]["args"], {}  # TBackward0 of the second layer
        made = self.imported(events)
        self.assertEqual(made.layers, TWO_LINEARS)
        self.assertIn("12.5 % of backward has no sequence number", made.errors)

    def test_what_the_trace_lacks_is_told(self):
        made = self.imported([e for e in two_linears() if "ProfilerStep" not in e["name"] and e["ts"] < 140])
        self.assertIn("no ProfilerStep#n marks a step", made.errors)
        self.assertIn("no Optimizer.step in the trace", made.errors)
        self.assertIn("the batch is taken to be 4, the first extent of the input of aten::linear", made.errors)
        self.assertIn("by the host's clock", self.imported(two_linears()).errors)

    def test_times_to_the_nanosecond_are_kept(self):
        events = two_linears()
        for e in events:
            e["ts"] += 1_700_000_000_000_000
        events[1]["dur"] = 9.125
        self.assertEqual(self.imported(events).layers["aten::linear"][0], 9_125)


class OfChakra(Test):
    def test_the_same_step_in_both_formats_gives_the_same_layers(self):
        chrome = Imported(TRACES / "small-cnn.pt.trace.json", self.folder, "--layers", "operators")
        layers, update = chrome.layers, chrome.update_ns
        chakra = Imported(TRACES / "small-cnn.chakra.json.gz", self.folder, "--layers", "operators")
        self.assertEqual(chakra.code, 0, chakra.errors)
        self.assertEqual(chakra.layers, layers)
        self.assertEqual(chakra.update_ns, update)

    def test_a_gradient_is_complete_when_the_trace_completes_it(self):
        made = Imported(TRACES / "data-parallel.chakra.json", self.folder, "--batch", "8")
        # forward 120 + 340 + 60; weight gradient of fc 70, input gradient 55, conv2 330 + 310, conv1 210
        layers = list(made.layers.values())
        complete, at = [], sum(forward for forward, _, _ in layers)
        for _, backward, _ in reversed(layers):
            at += backward
            complete.append(at)
        self.assertEqual(complete, [590_000, 975_000, 1_495_000])
        self.assertEqual([t[2]["weight"] for t in layers], [(9_408, 1), (147_456, 1), (2_048_000, 1)])
        self.assertEqual([layer["macs"] for layer in made.profile["layers"]], [14_750_000, 115_562_500, 4_096_000])

    def test_kernels_count_for_the_operators_that_they_hang_on(self):
        def node(number, name, parent, time, sequence=-1, on_cpu=True, kind="COMP_NODE", shapes="[]"):
            return {"id": number, "name": name, "type": kind, "ctrl_deps": [parent] if parent else [], "duration_micros": time,
                    "inputs": {"shapes": shapes}, "attr": [{"name": "seq_id", "int64_val": sequence},
                                                           {"name": "is_cpu_op", "bool_val": on_cpu}]}
        nodes = [node(1, "[pytorch|profiler|execution_trace|thread]", 0, 0, kind="METADATA_NODE"),
                 node(2, "aten::linear", 1, 5, 1, shapes="[[4, 6], [5, 6], []]"), node(3, "gemm", 2, 40, on_cpu=False),
                 node(4, EVALUATE + "MmBackward0", 1, 9, 1), node(5, "gemm", 4, 70, on_cpu=False),
                 node(6, "ncclDevKernel", 4, 500, on_cpu=False, kind="COMM_COLL_NODE"),
                 node(7, "Optimizer.step#SGD.step", 1, 0), node(8, "aten::add_", 7, 3), node(9, "add", 8, 11, on_cpu=False)]
        made = Imported(write(self.folder, {"schema": "1.0", "nodes": nodes}), self.folder)
        self.assertEqual(made.code, 0, made.errors)
        self.assertEqual(made.layers, {"aten::linear": (40_000, 70_000, {"weight": (5, 6)})})
        self.assertEqual(made.update_ns, 11_000)
        self.assertIn("0.5 ms of communication nodes are left out", made.errors)

    def test_protobuf_is_refused_with_the_command_that_converts_it(self):
        file = Path(self.folder, "trace.et")
        file.write_bytes(b"\x1b\x0a\x051.0.2" + bytes(20))
        self.assertIn("chakra_jsonizer --input_filename", self.refused(file))

    def test_circles_and_ids_that_occur_twice_are_refused(self):
        nodes = [{"id": i, "name": "aten::mm", "type": 4, "ctrl_deps": [3 - i], "attr": [{"name": "seq_id", "int64_val": 1}]}
                 for i in (1, 2)]
        self.assertIn("nodes[0].ctrl_deps: goes in a circle", self.refused(write(self.folder, {"nodes": nodes})))
        nodes[1]["id"] = 1
        self.assertIn("nodes[1].id: 1 is the id of nodes[0], too", self.refused(write(self.folder, {"nodes": nodes})))


class Refusals(Test):
    def test_each_names_file_place_and_what_would_be_right(self):
        def changed(number, **values):
            return [{**e, **values} if i == number else e for i, e in enumerate(two_linears())]
        for events, place, right in [
                (changed(1, dur=-3), "traceEvents[1].dur", "a duration in microseconds"),
                (changed(1, dur=None), "traceEvents[1].dur", "is missing; a number of microseconds"),
                (changed(1, ts="noon"), "traceEvents[1].ts", "is no number of microseconds"),
                (changed(1, ts=float("nan")), "traceEvents[1].ts", "is beyond any clock"),
                (changed(1, name=7), "traceEvents[1].name", "a name in quotes"),
                (changed(1, args=[]), "traceEvents[1].args", "is no object"),
                (changed(1, args={"Input Dims": [[-1]]}), "traceEvents[1].args.Input Dims[0]", "is no extent"),
                (changed(1, args={"Input Dims": 4}), "traceEvents[1].args.Input Dims", "is no list"),
                (changed(1, args={"Input Dims": [[2**40, 2**40]]}), "traceEvents[1].args.Input Dims[0]", "at most"),
                (changed(1, args={"Sequence number": "x"}), "traceEvents[1].args.Sequence number", "a whole number"),
                ([*two_linears(), 5], "traceEvents[22]", "is no object"),
                (two_linears()[:1], "traceEvents[0]", "ProfilerActivity.CPU"),
                (two_linears()[:6], "", "loss.backward()"),
                (two_linears()[6:-2], "", "no operator of a forward pass"),
                ([{**e, "dur": 0} if e["cat"] == "cpu_op" else e for e in two_linears()], "", "take no time")]:
            with self.subTest(place=place, right=right):
                message = self.refused_events(events)
                self.assertIn(f"{place}: " if place else ": ", message)
                self.assertIn(right, message)

    def test_what_is_no_trace_is_refused(self):
        for content, right in [("", "is empty"), ("no", "byte 0: is no JSON"), ("{", "line 1, column 2: is no JSON"), ("{}", "holds no trace"),
                               ("[]", "holds no trace"), ('{"traceEvents": 3}', "is no list"), ('{"nodes": []}', "is empty"),
                               ("[" * 100_000, "nested too deep"), ('{"a": ' + "9" * 5000 + "}", "a number is too long"),
                               ('{"nodes": [{"id": 1, "name": "x", "type": "COMP_NODE"}]}', "tells no forward from backward")]:
            with self.subTest(content=content[:40]):
                self.assertIn(right, self.refused(write(self.folder, content)))

    def test_files_that_cannot_be_read_or_written_are_refused(self):
        self.assertIn("cannot be read: No such file", self.refused(Path(self.folder, "missing.json")))
        half = Path(self.folder, "half.json.gz")
        half.write_bytes(gzip.compress(json.dumps(two_linears()).encode())[:100])
        self.assertIn("is no whole gzip file", self.refused(half))
        trace = write_events(self.folder, two_linears(), "net.json")
        code = subprocess.run([sys.executable, "-B", str(TRACES.parents[1] / "tools" / "import_trace.py"), str(trace), "--out",
                               str(trace)], capture_output=True, text=True, check=False)
        self.assertEqual((code.returncode, code.stderr.count("\n")), (1, 1))
        self.assertIn("is the trace itself", code.stderr)

    def test_two_devices_are_refused(self):
        events = two_linears()
        for number in range(2):
            events += [event("cuda_runtime", "cudaLaunchKernel", 12 + number, 1, correlation=number),
                       event("kernel", "gemm", 1000, 100, 7, correlation=number, device=number)]
        self.assertIn("kernels of devices 0, 1", self.refused_events(events))


class OfShippedTraces(Test):
    def test_they_have_the_parameters_of_the_net_that_was_recorded(self):
        for name in ("small-cnn.pt.trace.json", "small-cnn-gpu.pt.trace.json.gz", "small-cnn.chakra.json.gz"):
            with self.subTest(name):
                made = Imported(TRACES / name, self.folder)
                shapes = [tuple(t["shape"]) for layer in made.profile["layers"] for t in layer["tensors"]]
                self.assertEqual(shapes, SMALL_CNN)
                self.assertEqual(made.profile["batch"], 32)

    def test_every_module_with_parameters_is_a_layer_in_forward_order(self):
        layers = Imported(TRACES / "small-cnn.pt.trace.json", self.folder).layers
        self.assertEqual([name for name, (_, _, tensors) in layers.items() if tensors],
                         ["Conv2d_0", "BatchNorm2d_0", "Conv2d_1", "BatchNorm2d_1", "Linear_0", "Linear_1"])

    def test_multiply_accumulates_are_those_of_the_layers_shapes(self):
        profile = Imported(TRACES / "small-cnn.pt.trace.json", self.folder).profile
        macs = {layer["name"]: layer["macs"] for layer in profile["layers"] if layer["macs"]}
        self.assertEqual(macs, {"Conv2d_0": 32 * 32 * 32 * 27, "Conv2d_1": 64 * 16 * 16 * 288, "Linear_0": 16384 * 256,
                                "Linear_1": 2560})

    def test_layers_and_update_add_up_to_the_operators_that_lie_in_no_other(self):
        events = json.loads((TRACES / "small-cnn.pt.trace.json").read_text())["traceEvents"]
        operators = sorted((e for e in events if e.get("cat") == "cpu_op"), key=lambda e: (e["ts"], -e["dur"]))
        end = total = 0
        for e in operators:
            if e["ts"] + e["dur"] > end and e["ts"] >= end:
                total, end = total + e["dur"], e["ts"] + e["dur"]
        made = Imported(TRACES / "small-cnn.pt.trace.json", self.folder)
        # Times are whole microseconds: an operator may seem to begin before the one before has ended.
        self.assertAlmostEqual((made.total_ns + made.update_ns) / 1000, total, delta=5)

    def test_layers_and_update_add_up_to_the_kernels_of_the_step(self):
        with gzip.open(TRACES / "small-cnn-gpu.pt.trace.json.gz", "rt") as text:
            events = json.load(text)["traceEvents"]
        kernels = sum(round(e["dur"] * 1000) for e in events if e.get("cat") == "kernel")
        made = Imported(TRACES / "small-cnn-gpu.pt.trace.json.gz", self.folder)
        self.assertEqual(made.total_ns + made.update_ns, kernels)

    @unittest.skipIf(PACELINE is None, "no paceline")
    def test_one_node_takes_the_time_of_the_trace_and_more_nodes_take_no_less(self):
        for name in sorted(file.name for file in TRACES.glob("*.json*")):
            with self.subTest(name):
                made = Imported(TRACES / name, self.folder)
                subprocess.run([PACELINE, "run", "--quiet", made.scenario, "--out", Path(self.folder, name)], check=True)
                with open(Path(self.folder, name, "results.csv"), newline="") as table:
                    steps = {int(row["nodes"]): float(row["step_time_s"]) for row in csv.DictReader(table)}
                self.assertEqual(list(steps), [1, 2, 4, 8, 16])
                self.assertTrue(math.isclose(steps[1], (made.total_ns + made.update_ns) / 1e9, rel_tol=1e-9))
                self.assertTrue(all(step >= steps[1] for step in steps.values()))


if __name__ == "__main__":
    unittest.main()

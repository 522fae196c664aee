"""Compares profiles of Chakra traces and of the shipped traces with these traces, from the file to a run.

    tests/tools/import_shipped_test.py PACELINE
"""

import csv
import gzip
import json
import math
import subprocess
import sys
import unittest
from pathlib import Path

from importing import EVALUATE, ROOT, TRACES, Imported, Test, write

PACELINE = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 and Path(sys.argv[1]).exists() else None

# The net of tests/traces/record_pytorch.py: two convolutions with normalizations, two dense layers.
SMALL_CNN = [(32, 3, 3, 3), (32,), (32,), (64, 32, 3, 3), (64,), (64,), (256, 16384), (256,), (10, 256), (10,)]


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

    def test_of_several_passes_the_first_is_taken(self):
        text = (TRACES / "data-parallel.chakra.json").read_text()
        once = Imported(TRACES / "data-parallel.chakra.json", self.folder).layers
        twice = Imported(write(self.folder, text + "".join(text.splitlines(True)[1:])), self.folder)
        self.assertEqual(twice.layers, once)
        self.assertIn("the trace has 2 passes; the first is taken", twice.errors)

    def test_parts_that_other_layers_have_are_missed(self):
        lines = (TRACES / "data-parallel.chakra.json").read_text().splitlines(True)
        self.assertNotIn("missing", Imported(TRACES / "data-parallel.chakra.json", self.folder).errors)
        for part, said in [("COMP_NODE_conv2_FWD", "such as conv2, have no node COMP_NODE_conv2_FWD"),
                           ("COMP_NODE_fc_BWD_IG", "such as fc, have no node COMP_NODE_fc_BWD_IG"),
                           ("COMP_NODE_conv1_BWD_WG", "such as conv1, have no node COMP_NODE_conv1_BWD_WG"),
                           ("COMM_COLL_NODE_conv2", "such as conv2, have a weight gradient that no COMM_COLL_NODE")]:
            with self.subTest(part):
                text = "".join(line for line in lines if f'"{part}' not in line)
                self.assertNotEqual(text, "".join(lines))
                self.assertIn(said, Imported(write(self.folder, text), self.folder).errors)

    def test_nodes_that_others_depend_on_are_missed(self):
        lines = (TRACES / "data-parallel.chakra.json").read_text().splitlines(True)
        text = "".join(line for line in lines if "_conv" not in line)
        made = Imported(write(self.folder, text), self.folder)
        self.assertRegex(made.errors, "nodes that others depend on are missing, such as [0-9]+, which COMP_NODE_fc_")

    def test_ranges_are_nodes_of_the_scope_of_users(self):
        def node(number, name, parent, time, sequence=-1, scope=0):
            return {"id": number, "name": name, "type": "COMP_NODE", "ctrl_deps": [parent], "duration_micros": time,
                    "inputs": {"shapes": "[[4, 6], [5, 6]]"}, "attr": [{"name": "seq_id", "int64_val": sequence},
                                                                      {"name": "scope", "int64_val": scope}]}
        nodes = [node(1, "body", 0, 0, scope=7), node(2, "aten::linear", 1, 5, 1), node(3, "head", 0, 0, scope=7),
                 node(4, "aten::linear", 3, 6, 2), node(5, EVALUATE + "A", 0, 7, 2), node(6, EVALUATE + "B", 0, 8, 1)]
        made = Imported(write(self.folder, {"nodes": nodes}), self.folder)
        self.assertEqual(made.code, 0, made.errors)
        self.assertEqual({name: times[:2] for name, times in made.layers.items()}, {"body": (5_000, 8_000), "head": (6_000, 7_000)})

    def test_shapes_that_are_no_list_are_refused(self):
        for shapes in ("x", "[", "[[4, f()]]", "7"):
            node = {"id": 1, "name": "x", "type": "COMP_NODE", "inputs": {"shapes": shapes},
                    "attr": [{"name": "seq_id", "int64_val": 1}]}
            with self.subTest(shapes):
                self.assertIn("nodes[0].inputs.shapes: ", self.refused(write(self.folder, {"nodes": [node]})))

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

    def test_the_step_of_a_real_gpu_has_the_layers_of_the_built_in_profile(self):
        made = Imported(TRACES / "gpu" / "resnet-50-h100.pt.trace.json.gz", self.folder).profile
        own = json.loads((ROOT / "models" / "profiles" / "resnet-50.json").read_text())
        for what in (lambda layer: [t["shape"] for t in layer["tensors"]] or None, lambda layer: layer["macs"] or None):
            measured, derived = ([what(layer) for layer in profile["layers"] if what(layer)] for profile in (made, own))
            self.assertEqual(measured, derived)

    @unittest.skipIf(PACELINE is None, "no paceline")
    def test_one_node_takes_the_time_of_the_trace_and_more_nodes_take_no_less(self):
        for file in sorted(TRACES.rglob("*.json*")):
            with self.subTest(file.name):
                made = Imported(file, self.folder)
                out = Path(self.folder, file.name)
                subprocess.run([PACELINE, "run", "--quiet", made.scenario, "--out", out], check=True)
                with open(out / "results.csv", newline="") as table:
                    steps = {int(row["nodes"]): float(row["step_time_s"]) for row in csv.DictReader(table)}
                self.assertEqual(list(steps), [1, 2, 4, 8, 16])
                self.assertTrue(math.isclose(steps[1], (made.total_ns + made.update_ns) / 1e9, rel_tol=1e-9))
                self.assertTrue(all(step >= steps[1] for step in steps.values()))


if __name__ == "__main__":
    unittest.main()

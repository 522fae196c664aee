"""Compares the profiles that tools/import_trace.py makes of traces of PyTorch with these traces."""

import unittest

from importing import EVALUATE, Test, event, operator, two_linears, write_events

TWO_LINEARS = {"aten::linear": (10_000, 30_000, {"weight": (5, 6), "bias": (5,)}),
               "aten::linear#2": (20_000, 50_000, {"weight": (3, 5), "bias": (3,)}),
               "aten::sum": (2_000, 0, {})}


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

    def test_kernels_without_a_correlation_count_for_the_operator_with_their_external_id(self):
        events = two_linears()
        events[2]["args"]["External id"], events[7]["args"]["External id"] = 31, 32
        events += [event("cuda_runtime", "cudaLaunchKernel", 12, 1), event("cuda_runtime", "cudaLaunchKernel", 22, 1)]
        events += [event("kernel", "gemm", 1000 * (i + 1), 100 + i, 7, device=0, **{"External id": 31 + i}) for i in range(3)]
        self.assertEqual({name: times[:2] for name, times in self.imported(events).layers.items()},
                         {"aten::linear": (100_000, 0), "aten::linear#2": (0, 101_000)})

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

    def test_parameters_that_no_operator_shows_stand_in_forward_order(self):
        events = two_linears()
        for e in events:
            if e["name"] in ("aten::linear", "aten::addmm"):
                e["args"]["Input Dims"] = [[], []]
        self.assertEqual([t[2] for t in self.imported(events).layers.values()],
                         [{"parameter": (5, 6), "parameter2": (5,)}, {"parameter": (3, 5), "parameter2": (3,)}, {}])

    def test_a_gradient_without_entries_is_none(self):
        events = two_linears()
        events[9]["args"]["Input Dims"] = [[0]]
        self.assertIn("1 of 4 accumulated gradients have no shape", self.imported(events).errors)

    def test_a_node_that_seems_to_begin_when_its_evaluation_ends_belongs_to_it(self):
        events = two_linears()
        events[8].update(dur=4)  # AccumulateGrad from 75 to 79
        events[9].update(ts=79, dur=1)
        self.assertEqual(self.imported(events).layers["aten::linear#2"], (20_000, 49_000, {"weight": (3, 5), "bias": (3,)}))

    def test_what_else_runs_on_the_thread_of_backward_counts_for_the_layer_it_is_in(self):
        events = two_linears(thread=9) + [operator("aten::clone", 131, 6, thread=9), operator("aten::stack", 50, 9, thread=4)]
        made = self.imported(events)
        self.assertEqual(made.layers["aten::linear"][1], 36_000)
        self.assertIn("0.009 ms of operators on threads that take no part in backward", made.errors)

    def test_a_matrix_product_of_its_own_counts_as_a_dense_layer(self):
        events = [e for e in two_linears() if e["name"] != "aten::linear"]
        self.assertEqual([layer["macs"] for layer in self.imported(events).profile["layers"]], [30, 15, 0])

    def test_a_convolution_that_autocast_calls_again_has_the_products_of_the_inner_call(self):
        sizes, weight = [[8, 3, 9, 9], [16, 3, 3, 3], []], [16, 3, 3, 3]
        made = self.imported([
            event("user_annotation", "ProfilerStep#3", 0, 200),
            operator("aten::conv2d", 10, 40, 1, sizes),
            operator("aten::to", 11, 5, 1, [weight]),
            operator("aten::conv2d", 20, 25, 2, sizes),
            operator(EVALUATE + "ConvolutionBackward0", 60, 20, 2),
            operator("ConvolutionBackward0", 61, 18, 2, [[8, 16, 7, 7]]),
            operator(EVALUATE + "ToCopyBackward0", 80, 10, 1),
            operator("ToCopyBackward0", 81, 8, 1, [weight]),
            operator(EVALUATE + "torch::autograd::AccumulateGrad", 90, 6),
            operator("torch::autograd::AccumulateGrad", 91, 4, dims=[weight]),
        ])
        self.assertEqual([layer["macs"] for layer in made.profile["layers"]], [16 * 7 * 7 * 27])
        self.assertEqual(made.layers["aten::conv2d"], (40_000, 36_000, {"weight": (16, 3, 3, 3)}))

    def test_loading_data_is_no_layer(self):
        events = two_linears() + [event("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1, 8),
                                  operator("aten::stack", 2, 5)]
        made = self.imported(events)
        self.assertEqual(made.layers, TWO_LINEARS)
        self.assertIn("0.005 ms of loading data are left out", made.errors)

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


if __name__ == "__main__":
    unittest.main()

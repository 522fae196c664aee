"""Checks that what a trace lacks is refused or named, and that other makers' spellings are read: nothing is guessed."""

import unittest

from importing import EVALUATE, Test, event, operator, shipped_events, two_linears, with_kernels

CPU, GPU = "small-cnn.pt.trace.json", "small-cnn-gpu.pt.trace.json.gz"
OF_KERNELS = {"aten::linear": (100_000, 300_000), "aten::linear#2": (200_000, 400_000)}


def without(events, *categories):
    return [e for e in events if e.get("cat") not in categories]


def without_args(events, *names):
    return [{**e, "args": {k: v for k, v in e.get("args", {}).items() if k not in names}} for e in events]


class OfSteps(Test):
    def steps(self, lengths, empty):
        """Returns a trace with a step of each length; those of `empty` have nothing in them, or no backward."""
        events, start = [], 0
        for number, length in enumerate(lengths):
            for e in two_linears():
                if e["name"].startswith("ProfilerStep"):
                    e = {**e, "name": f"ProfilerStep#{number}", "dur": length}
                elif number in empty and (empty[number] == "operators" or e["ts"] >= 50):
                    continue
                events.append({**e, "ts": e["ts"] + start})
            start += length
        return events

    def test_a_step_without_operators_or_without_backward_is_passed_over_and_named(self):
        whole = self.imported(two_linears()).profile["layers"]
        for lengths, empty in [([200, 180], {1: "operators"}), ([170, 200], {0: "operators"}),
                               ([200, 190], {1: "backward"}),
                               ([180, 200, 170, 160], {0: "operators", 2: "backward", 3: "operators"})]:
            with self.subTest(empty=empty):
                made = self.imported(self.steps(lengths, empty))
                self.assertEqual(made.profile["layers"], whole)
                for number in empty:
                    self.assertIn(f"ProfilerStep#{number} (", made.errors)
                    self.assertIn(f"is passed over; --step {number} takes it", made.errors)

    def test_a_step_without_operators_that_is_asked_for_is_refused_with_what_the_file_has(self):
        message = self.refused_events(self.steps([200, 180], {1: "operators"}), "--step", "1")
        self.assertIn("no operator (cat \"cpu_op\") begins in ProfilerStep#1", message)
        self.assertIn("the file has 20 of \"cpu_op\", 3 of \"user_annotation\"", message)


class OfOldPyTorch(Test):
    def as_pytorch_1_8(self, events):
        """Returns events as PyTorch 1.8 spells them: ranges are operators, and nothing evaluates nodes."""
        old = {"cpu_op": "Operator", "user_annotation": "Operator", "kernel": "Kernel", "cuda_runtime": "Runtime"}
        return [{**e, "cat": old.get(e.get("cat"), e.get("cat")), "name": e["name"].replace("Backward0", "Backward")}
                for e in without(events, "python_function") if not e["name"].startswith(EVALUATE)]

    def test_steps_ranges_and_backward_of_pytorch_1_8_are_known(self):
        made = self.imported(self.as_pytorch_1_8(two_linears()))
        first, second = 18_000 + 2_000 + 4_000, 20_000 + 3_000 + 9_000  # of the nodes alone
        self.assertEqual(made.layers, {"aten::linear": (10_000, first, {"weight": (5, 6), "bias": (5,)}),
                                       "aten::linear#2": (20_000, second, {"weight": (3, 5), "bias": (3,)}),
                                       "aten::sum": (2_000, 0, {})})
        self.assertEqual(made.update_ns, 7_000)
        ranges = two_linears() + [event("user_annotation", "body", 9.5, 11), event("user_annotation", "head", 20, 22.5)]
        self.assertEqual(list(self.imported(self.as_pytorch_1_8(ranges)).layers), ["body", "head"])

    def test_a_trace_of_kernels_gives_the_same_layers_in_the_old_spelling(self):
        events = without(shipped_events(GPU), "python_function")
        self.assertEqual(self.imported(self.as_pytorch_1_8(events)).layers, self.imported(events).layers)

    def test_a_trace_of_the_cpu_has_the_same_forward_and_tensors_in_the_old_spelling(self):
        events = without(shipped_events(CPU), "python_function")
        new, old = self.imported(events), self.imported(self.as_pytorch_1_8(events))
        self.assertEqual([(name, one[0], one[2]) for name, one in old.layers.items()],
                         [(name, one[0], one[2]) for name, one in new.layers.items()])
        self.assertEqual(old.update_ns, new.update_ns)

    def test_names_of_nodes_on_windows_are_known(self):
        for name in (CPU, GPU):
            events = shipped_events(name)
            on_windows = [{**e, "name": e["name"].replace("torch::autograd::A", "struct torch::autograd::A")}
                          for e in events]
            self.assertEqual(self.imported(on_windows).profile["layers"], self.imported(events).profile["layers"])


class OfDevices(Test):
    def times(self, made):
        return {name: one[:2] for name, one in made.layers.items() if one[2]}

    def test_kernels_of_every_maker_are_used(self):
        for launch, kernel in [("cuda_runtime", "kernel"), ("cuda_driver", "kernel"), ("xpu_runtime", "kernel"),
                               ("mtia_runtime", "mtia_ccp_events"), ("privateuse1_runtime", "npu_kernel"),
                               ("gcu_runtime", "GCU_KERNEL"), ("Runtime", "Kernel")]:
            with self.subTest(kernel=kernel):
                made = self.imported(with_kernels(two_linears(), launch, kernel))
                self.assertEqual(self.times(made), OF_KERNELS)
                self.assertEqual(made.update_ns, 50_000)
                self.assertEqual("are taken as kernels" in made.errors, kernel in ("npu_kernel", "GCU_KERNEL"))

    def test_a_category_that_nobody_knows_is_used_in_a_recorded_trace(self):
        events = shipped_events(GPU)
        renamed = [{**e, "cat": "new_device"} if e.get("cat") == "kernel" else e for e in events]
        made = self.imported(renamed)
        self.assertEqual(made.profile["layers"], self.imported(events).profile["layers"])
        self.assertIn("are taken as kernels, though their category is not known", made.errors)

    def test_kernels_whose_launches_are_missing_count_for_the_operator_with_their_external_id(self):
        events = shipped_events(GPU)
        made = self.imported(without(events, "cuda_runtime"))
        self.assertEqual(made.profile["layers"], self.imported(events).profile["layers"])

    def test_kernels_of_an_unknown_maker_without_a_correlation_are_used_by_their_external_id(self):
        events = without(without_args(shipped_events(GPU), "correlation"), "cuda_runtime")
        renamed = [{**e, "cat": "new_device"} if e.get("cat") == "kernel" else e for e in events]
        made = self.imported(renamed)
        self.assertEqual(made.profile["layers"], self.imported(shipped_events(GPU)).profile["layers"])

    def test_a_device_whose_events_tell_no_operator_is_named(self):
        for category in ({"cat": "npu"}, {}):
            stranger = {"ph": "X", "name": "MatMul", "pid": 3, "tid": 4, "ts": 30, "dur": 5_000, "args": {}, **category}
            made = self.imported(two_linears() + [stranger])
            self.assertIn("1 events of category ", made.errors)
            self.assertIn("(5 ms, such as \"MatMul\") lie apart from all operators", made.errors)
            self.assertIn("those of operators on the CPU are taken", made.errors)

    def test_kernels_without_an_owner_are_named(self):
        lost = event("kernel", "lost", 150, 70, 7, correlation=99, device=0)
        made = self.imported(with_kernels(two_linears()) + [lost])
        self.assertEqual(self.times(made), OF_KERNELS)
        self.assertIn("1 events of category \"kernel\" (0.07 ms, such as \"lost\") belong to no launch", made.errors)

    def test_launches_without_kernels_are_refused_and_no_launch_is_not(self):
        of_the_cpu = self.imported(two_linears()).profile["layers"]
        launched = without(with_kernels(two_linears()), "kernel")
        message = self.refused_events(launched)
        self.assertIn("5 of 5 launches in the step, such as this cudaLaunchKernel, have no kernel (of 0 in", message)
        self.assertIn("record with ProfilerActivity.CUDA", message)
        self.assertIn("have no kernel", self.refused_events(without(shipped_events(GPU), "kernel")))
        calls = [{**e, "name": "cudaStreamSynchronize"} if e["cat"] == "cuda_runtime" else e for e in launched]
        self.assertEqual(self.imported(calls).profile["layers"], of_the_cpu)
        self.assertEqual(self.imported(without(launched, "cuda_runtime")).profile["layers"], of_the_cpu)

    def test_some_launches_without_kernels_are_named_and_most_are_refused(self):
        for lost in range(1, 6):
            events = [e for e in with_kernels(two_linears()) if e["cat"] != "kernel" or e["args"]["correlation"] > lost]
            with self.subTest(lost=lost):
                if lost < 3:
                    self.assertIn(f"{lost} of 5 launches in the step have no kernel", self.imported(events).errors)
                else:
                    self.assertIn(f"{lost} of 5 launches in the step, such as", self.refused_events(events))

    def test_an_update_without_kernels_is_said_to_be_that(self):
        events = [e for e in with_kernels(two_linears()) if e["args"].get("correlation") != 5]
        self.assertIn("nothing in Optimizer.step takes time", self.imported(events).errors)

    def test_what_shows_a_kernel_a_second_time_is_not_counted(self):
        twice = [event("gpu_user_annotation", "body", 1400, 900, 7),
                 event("cuda_sync", "Stream Wait", 1500, 900, 7, correlation=1),
                 event("Trace", "PyTorch Profiler (0)", 0, 9000, 99),
                 event("overhead", "Activity Buffer Request", 1, 5, 8)]
        made = self.imported(with_kernels(two_linears()) + twice)
        self.assertEqual(self.times(made), OF_KERNELS)
        self.assertNotIn("lie apart", made.errors)


if __name__ == "__main__":
    unittest.main()

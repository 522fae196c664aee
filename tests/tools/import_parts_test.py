"""Checks steps that are more or less than one forward and one backward pass, and ranges that hold all of forward."""

import math
import random
import unittest

from importing import (EVALUATE, Imported, Test, event, operator, shipped_events, two_linears, with_kernels,
                       write_events)

CPU, GPU = "small-cnn.pt.trace.json", "small-cnn-gpu.pt.trace.json.gz"


def is_update(e, events):
    """Returns whether an event lies in Optimizer.step, or is a kernel of a launch that does."""
    spans = [s for s in events if s["name"].startswith("Optimizer.step")]

    def inside(one):
        return any(s["ts"] <= one["ts"] < s["ts"] + s["dur"] for s in spans)

    if e.get("cat") != "kernel":
        return inside(e)
    return any(inside(launch) for launch in events if launch.get("cat") == "cuda_runtime"
               and launch["args"]["correlation"] == e["args"]["correlation"])


def repeated(events, times, and_update=False):
    """Returns a step whose forward and backward run several times before the update, or with an update after each."""
    events = [e for e in events if e["ph"] == "X"]
    mark = next(e for e in events if e["name"].startswith("ProfilerStep"))
    made = [{**mark, "dur": mark["dur"] * times}]
    for number in range(times):
        for e in events:
            update = is_update(e, events)
            if e is mark or (update and not and_update and number < times - 1):
                continue
            args = {k: v + 10**6 * number if k in ("Sequence number", "External id", "correlation") else v
                    for k, v in e["args"].items()}
            made.append({**e, "ts": e["ts"] + number * mark["dur"], "args": args})
    return made


def entries(profile):
    return sum(math.prod(tensor["shape"]) for layer in profile["layers"] for tensor in layer["tensors"])


class OfAccumulation(Test):
    def traces(self):
        return {"two linears": two_linears(), "kernels": with_kernels(two_linears()), CPU: shipped_events(CPU),
                GPU: shipped_events(GPU), "backward beside": two_linears(thread=9)}

    def test_micro_batches_have_the_parameters_of_one_and_the_times_and_batches_of_all(self):
        for name, events in self.traces().items():
            for cut in ("automatic", "operators"):
                once = self.imported(events, "--layers", cut)
                for times in (2, 3, 7):
                    with self.subTest(name=name, cut=cut, times=times):
                        made = self.imported(repeated(events, times), "--layers", cut)
                        self.assertEqual(made.layers, {layer: (times * forward, times * backward, tensors)
                                                       for layer, (forward, backward, tensors) in once.layers.items()})
                        self.assertEqual(made.profile["batch"], times * once.profile["batch"])
                        self.assertEqual([layer["macs"] for layer in made.profile["layers"]],
                                         [layer["macs"] for layer in once.profile["layers"]])
                        self.assertEqual(made.update_ns, once.update_ns)
                        self.assertIn(f"the step has {times} micro-batches", made.errors)

    def test_passes_with_other_gradients_are_refused(self):
        events = repeated(two_linears(), 2)
        last = max(i for i, e in enumerate(events) if e["name"] == "torch::autograd::AccumulateGrad")
        for changed in (events[:last] + events[last + 1:],
                        events[:last] + [{**events[last], "args": {"Input Dims": [[7, 7]]}}] + events[last + 1:]):
            message = self.refused_events(changed)
            self.assertIn("forward begins again after backward", message)
            self.assertIn("Record a step of one forward and one backward pass", message)

    def test_several_updates_in_a_step_are_refused(self):
        for name, events in self.traces().items():
            unmarked = [e for e in repeated(events, 3, and_update=True) if not e["name"].startswith("ProfilerStep")]
            for several in (repeated(events, 2, and_update=True), unmarked):
                with self.subTest(name=name):
                    message = self.refused_events(several)
                    self.assertIn("forward begins again with ", message)
                    self.assertIn("after Optimizer.step#SGD.step", message)
                    self.assertIn("Call prof.step() after each update", message)

    def test_a_gradient_of_a_gradient_is_no_second_pass(self):
        penalty = [operator("aten::norm", 131, 2, 6), operator(EVALUATE + "NormBackward0", 133, 1, 6)]
        events = [e for e in two_linears() if "AccumulateGrad" not in e["name"]] + penalty
        events += [{**e, "ts": 134 + (e["ts"] - 75) / 20, "dur": e["dur"] / 20} for e in two_linears()
                   if "AccumulateGrad" in e["name"]]
        made = self.imported(events)
        self.assertNotIn("micro-batches", made.errors)
        self.assertEqual(entries(made.profile), 53)

    def test_what_begins_after_the_update_is_named(self):
        made = self.imported(two_linears() + [operator("aten::linear", 165, 30, 9, [[4, 6], [5, 6], [5]])])
        self.assertIn("0.03 ms of operators after Optimizer.step, such as aten::linear (traceEvents[22])", made.errors)
        self.assertNotIn("after Optimizer.step", self.imported(two_linears()).errors)


class OfBackward(Test):
    def test_a_trace_that_ends_within_backward_is_refused_or_what_is_missing_is_named(self):
        for name in (CPU, GPU):
            events = [e for e in shipped_events(name) if e["ph"] == "X" and e["cat"] != "python_function"]
            whole = entries(self.imported(events).profile)
            accumulated = sorted(e["ts"] for e in events if e["name"] == "torch::autograd::AccumulateGrad")
            refused = 0
            for end in accumulated:
                made = self.made([e for e in events if e["ts"] < end or e["name"].startswith("ProfilerStep")])
                with self.subTest(name=name, end=end):
                    if made.code != 0:
                        refused += 1
                        self.assertRegex(made.errors, "fewer than half|accumulated gradient")
                    else:
                        self.assertGreaterEqual(entries(made.profile) * 2, whole)
                        self.assertIn("gradients, and the operators of forward show 10 parameters", made.errors)
            self.assertGreaterEqual(refused, 2, "fc1 has most parameters, and backward reaches it third")

    def made(self, events):
        return Imported(write_events(self.folder, events), self.folder)

    def test_few_gradients_are_refused_unless_the_rest_is_frozen(self):
        events = [e for e in two_linears() if e["args"].get("Input Dims") not in ([[5, 6]], [[3, 5]])]
        message = self.refused_events(events)
        self.assertIn("forward has 53 parameters, and backward gradients of fewer than half: 45 have none, such as",
                      message)
        self.assertIn("say so by --frozen", message)
        self.assertEqual(entries(self.imported(events, "--frozen").profile), 8)

    def test_identical_layers_without_a_backward_are_missed(self):
        for layers in (3, 5, 12):
            for reached in range(1, layers + 1):
                with self.subTest(layers=layers, reached=reached):
                    events = self.identical(layers, reached)
                    if reached * 2 < layers:
                        self.assertIn("backward gradients of fewer than half", self.refused_events(events))
                    else:
                        self.assertEqual(entries(self.imported(events).profile), 42 * reached)

    def identical(self, layers, reached):
        """Returns forward of identical layers and backward of the last ones."""
        events = [event("user_annotation", "ProfilerStep#1", 0, 10_000)]
        events += [operator("aten::linear", 10 * i, 5, i, [[4, 6], [6, 6], [6]]) for i in range(1, layers + 1)]
        for i in range(reached):
            at = 1000 + 100 * i
            events += [operator(EVALUATE + "AddmmBackward0", at, 20, layers - i)]
            for j, shape in enumerate(([6], [6, 6])):
                events += [operator(EVALUATE + "torch::autograd::AccumulateGrad", at + 30 + 20 * j, 10),
                           operator("torch::autograd::AccumulateGrad", at + 31 + 20 * j, 5, dims=[shape])]
        return events

    def test_a_layer_that_runs_many_times_has_one_gradient(self):
        events = self.identical(12, 12)
        first = min(i for i, e in enumerate(events) if "AccumulateGrad" in e["name"])
        once = events[:first] + [e for e in events[first:] if "AccumulateGrad" not in e["name"] or e["ts"] > 2100]
        self.assertEqual(entries(self.imported(once).profile), 42)

    def test_flat_gradients_of_fsdp_are_taken(self):
        events = [e for e in two_linears() if "AccumulateGrad" not in e["name"] or e["ts"] > 124]
        events[-3]["args"]["Input Dims"] = [[56]]
        self.assertEqual(events[-3]["name"], "torch::autograd::AccumulateGrad")
        self.assertEqual(entries(self.imported(events).profile), 56)

    def test_backward_of_another_step_is_refused(self):
        events = [{**e, "args": {**e["args"], "Sequence number": e["args"]["Sequence number"] + 100}}
                  if "Backward0" in e["name"] else e for e in two_linears()]
        message = self.refused_events(events)
        self.assertIn("of backward has no sequence number of a forward operator", message)
        self.assertIn("forward has 5 numbers, and 0 of", message)
        self.assertIn("Record forward and backward of the same step", message)

    def test_operators_without_a_node_in_backward_are_named(self):
        made = self.imported([e for e in two_linears() if "TBackward0" not in e["name"]])
        self.assertIn("% of forward, such as aten::linear (traceEvents[1]), has no node in backward", made.errors)
        self.assertNotIn("has no node in backward", self.imported(two_linears()).errors)

    def test_nodes_that_nothing_evaluates_are_named_where_others_are_evaluated(self):
        made = self.imported([e for e in two_linears() if e["name"] != EVALUATE + "torch::autograd::AccumulateGrad"])
        self.assertIn("4 of 8 nodes of backward, such as torch::autograd::AccumulateGrad (traceEvents[8])", made.errors)
        self.assertIn("lie in no autograd::engine::evaluate_function, as the others do", made.errors)

    def test_a_pass_without_times_is_named(self):
        for name, is_of in (("forward", lambda e: e["ts"] < 50), ("backward", lambda e: 50 <= e["ts"] < 140)):
            events = [{**e, "dur": 0} if e["cat"] == "cpu_op" and is_of(e) else e for e in two_linears()]
            self.assertIn(f"nothing of {name} takes time, and the rest does", self.imported(events).errors)

    def test_gradients_of_which_some_have_no_shape_are_counted(self):
        events = two_linears()
        del events[9]["args"]["Input Dims"]
        self.assertIn("1 of 4 accumulated gradients have no shape", self.imported(events).errors)


class OfRanges(Test):
    def identical(self, layers):
        return OfBackward.identical(self, layers, layers)

    def ranges(self, layers, held, name):
        """Returns a step with one range around the first layers, and one around the rest or the loss."""
        rest = event("user_annotation", "rest", 10 * held + 9.5, 10 * (layers - held + 1))
        return self.identical(layers) + [event("user_annotation", name, 9, 10 * held), rest,
                                         operator("aten::mse_loss", 10 * layers + 10, 1, layers + 1)]

    def test_a_range_that_holds_more_than_half_of_forward_is_no_layer(self):
        for layers in (2, 3, 6, 12):
            for held in range(1, layers + 1):
                events = self.ranges(layers, held, "DistributedDataParallel.forward")
                with self.subTest(layers=layers, held=held):
                    made = self.imported(events)
                    of_first, of_rest = 5 * held, 5 * (layers - held) + 1
                    large = (held > 1 and of_first > of_rest) or (layers - held > 1 and of_rest > of_first)
                    self.assertEqual(len([one for one in made.layers.values() if one[2]]), layers if large else
                                     2 if held < layers else 1)
                    self.assertEqual("holds more than half of forward" in made.errors, large)
                    self.assertEqual(entries(made.profile), 42 * layers)

    def test_layers_that_are_asked_for_are_taken_and_named_if_nothing_overlaps(self):
        made = self.imported(self.ranges(6, 6, "DistributedDataParallel.forward"), "--layers", "ranges")
        self.assertEqual(list(made.layers), ["DistributedDataParallel.forward", "rest"])
        self.assertIn("the layer DistributedDataParallel.forward holds 12 of 12 tensors", made.errors)

    def test_a_range_around_all_of_a_recorded_trace_is_no_layer(self):
        for name in (CPU, GPU):
            events = [e for e in shipped_events(name) if e["ph"] == "X" and e["cat"] != "python_function"]
            by_operators = self.imported(events, "--layers", "operators").profile["layers"]
            forward = [e for e in events if e["cat"] == "cpu_op" and "Sequence number" in e["args"]
                       and "ackward" not in e["name"] and "autograd" not in e["name"]]
            first, last = (next(e for e in forward if name in e["name"]) for name in ("conv", "loss"))
            length = last["ts"] - first["ts"]
            around = [event("user_annotation", "DistributedDataParallel.forward", first["ts"], length),
                      event("user_annotation", "## loss ##", last["ts"], last["dur"])]
            around = [{**e, "pid": first["pid"], "tid": first["tid"]} for e in around]
            made = self.imported(around + events)
            self.assertEqual(made.profile["layers"], by_operators)
            self.assertIn("Parallel.forward (traceEvents[0]) holds more than half of forward", made.errors)

    def test_a_module_that_holds_most_of_forward_is_no_layer_either(self):
        dice = random.Random(3)
        for _ in range(20):
            layers = dice.randrange(3, 9)
            events = self.identical(layers) + [event("python_function", "nn.Module: Net_0", 9, 10 * layers + 5)]
            made = self.imported(events)
            self.assertEqual(len(made.layers), layers)
            self.assertIn("nn.Module: Net_0", made.errors)


if __name__ == "__main__":
    unittest.main()

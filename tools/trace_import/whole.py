"""Checks that the parts of a step belong together: a trace that lacks one is refused, or the part is named."""

import math
from collections import Counter

from .shapes import multiplies
from .step import BACKWARD, EVALUATE, FORWARD, UPDATE, is_node


def lost_parameters(layers):
    """Returns (layer, name, shape) of forward's parameters that have no gradient.

    A tensor may be in several operators and have one gradient, so one whose shape has a gradient counts as found where
    the operator has a backward. Operators without backward find what gradients the others leave. An operator may have
    the transpose of its parameter, so the order of extents does not matter.
    """
    gradients = [shape for layer in layers for shape in layer.accumulated]
    left = Counter(tuple(sorted(shape)) for shape in gradients if shape is not None)
    known = set(left) if None not in gradients else set()
    lost = []
    for layer in sorted(layers, key=lambda layer: not layer.has_backward):
        for name, shape in layer.expected:
            extents = tuple(sorted(shape))
            if left[extents] > 0:
                left[extents] -= 1
            elif not layer.has_backward or (known and extents not in known):
                lost.append((layer.name, name, shape))
    return lost


def refuse_lost_parameters(layers, frozen, reader):
    """Refuses gradients of fewer than half of forward's parameters, unless these are said to be frozen.

    FSDP accumulates gradients of flat tensors, whose shapes no operator has. So both must be few: the gradients'
    entries, and the operators' tensors with a gradient of their shape.
    """
    lost = lost_parameters(layers)
    lost_entries = sum(math.prod(shape) for _, _, shape in lost)
    all_entries = sum(math.prod(shape) for layer in layers for _, shape in layer.expected)
    gradients = [shape for layer in layers for shape in layer.accumulated]
    entries = sum(math.prod(shape) for shape in gradients) if None not in gradients else 0
    if frozen or lost_entries * 2 <= all_entries or entries * 2 >= all_entries:
        return
    layer, name, shape = lost[0]
    reader.refuse("", f"forward has {all_entries} parameters, and backward gradients of fewer than half: "
                      f"{lost_entries} have none, such as the {name} {list(shape)} of {layer}. If the trace ends "
                      "before backward does, record a whole step; if these parameters are frozen, say so by --frozen")


def warn_of_lost_nodes(step, forward, warn):
    """Names operators of forward whose node is not in backward, and nodes that nothing evaluates where others have it.

    What follows the last node of forward carries the next number, which nobody need evaluate.
    """
    roots = [span for span in step.spans if span.role == BACKWARD and span.root is span]
    evaluated = {span.sequence for span in roots} - {None}
    following = max(evaluated, default=0) + 1
    lost = [span for span in forward if span.sequence is not None and span.sequence not in evaluated
            and (span.sequence != following or multiplies(span.name))]
    lost_ns, forward_ns = (sum(span.own_ns for span in spans) for spans in (lost, forward))
    if lost_ns * 100 > forward_ns:
        warn(f"{100 * lost_ns / forward_ns:.3g} % of forward, such as {lost[0].name} ({lost[0].place}), has no node in "
             "backward: nothing is trained there, or a part of backward is missing")
    bare = [span for span in roots if is_node(span)]
    if bare and any(span.name.startswith(EVALUATE) for span in roots):
        warn(f"{len(bare)} of {len(roots)} nodes of backward, such as {bare[0].name} ({bare[0].place}), lie in no "
             "autograd::engine::evaluate_function, as the others do: what it takes around them is missing")


def warn_of_forward_after_update(step, warn):
    updates = [i for i, span in enumerate(step.spans) if span.role == UPDATE and span.name.startswith("Optimizer.step")]
    last = updates[-1] if updates else len(step.spans)
    forward_ns = sum(span.own_ns for span in step.spans if span.role == FORWARD)
    after = [span for span in step.spans[last:] if span.role == FORWARD and span.own_ns]
    after_ns = sum(span.own_ns for span in after)
    if after_ns * 100 > forward_ns:
        warn(f"{after_ns / 1e6:.6g} ms of operators after Optimizer.step, such as {after[0].name} ({after[0].place}), "
             "count as forward; if a next step begins there, call prof.step() before")


def warn_of_one_large_layer(layers, warn):
    """Names a layer that holds most of the net: its gradients are complete together, and nothing overlaps."""
    tensors = sum(len(layer.tensors) for layer in layers)
    forward_ns = sum(layer.forward_ns for layer in layers)
    for layer in layers:
        if len(layer.tensors) > 3 and len(layer.tensors) * 2 > tensors and layer.forward_ns * 2 > forward_ns:
            warn(f"the layer {layer.name} holds {len(layer.tensors)} of {tensors} tensors and more than half of "
                 "forward: an exchange overlaps with nothing of its backward; --layers states another cut")

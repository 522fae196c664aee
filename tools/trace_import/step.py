"""One step of a trace, cut into forward, backward and update, and forward into layers.

Both kinds of traces become spans that nest. A span's own time is what it spends outside of those within it: the time of
its kernels if the trace has a device's, else its own part of the operator's time. A step's time is the sum of all own
times, so nothing is counted twice:

    update     what lies within a span named Optimizer.*
    backward   what lies within a span named autograd::engine::evaluate_function: *, or within a node of the graph
    forward    the rest on the thread of the step

Layers are runs of forward operators of the same module, of the same range or, without both, single operators. An
operator of backward belongs to the layer whose operator has its sequence number: autograd numbers a node of the graph
when forward makes it, and profiles both with this number. Operators of forward that begin while a number is next carry it
as well, so the last of them is the one. What accumulates a gradient has no number; it runs right after the node that
made the gradient, and belongs to its layer.
"""

import re

from .shapes import PARAMETERS, UNSURE, batch, multiplies, multiply_accumulates, parameters

EVALUATE = "autograd::engine::evaluate_function: "
ACCUMULATE = "torch::autograd::AccumulateGrad"
NODE_OF_GRAPH = re.compile(r"^torch::autograd::AccumulateGrad$|Backward[0-9]*$")
FORWARD, BACKWARD, UPDATE, LOADING = "forward", "backward", "update", "loading"


class Span:
    """A part of the step. `kind` is "operator", "range", "module", or "frame" of what only holds others."""

    __slots__ = ("place", "name", "kind", "thread", "start", "own_ns", "sequence", "dims", "parent", "role", "root",
                 "outermost", "module", "range", "in_layer_operator", "in_product")

    def __init__(self, place, name, kind, thread, start):
        self.place, self.name, self.kind, self.thread, self.start = place, name, kind, thread, start
        self.own_ns, self.sequence, self.dims, self.parent = 0, None, None, None


def plain_name(name):
    """Returns a name without the "struct" that Windows adds to nodes (pytorch, test/profiler/test_profiler.py)."""
    return name.replace("struct torch::autograd::", "torch::autograd::")


class Layer:
    def __init__(self, name):
        self.name, self.forward_ns, self.backward_ns = name, 0, 0
        self.expected = []  # (name, shape) of parameters, by operators
        self.accumulated = []  # shapes of gradients that were accumulated, in backward order; None: not recorded
        self.products = []  # (span, ...) whose multiply-accumulates count
        self.tensors, self.macs = [], 0
        self.has_backward = False  # whether a node of backward belongs to it

    def add(self, other):
        """Adds the times of the same layer in another pass."""
        self.forward_ns += other.forward_ns
        self.backward_ns += other.backward_ns
        self.products += other.products
        self.has_backward = self.has_backward or other.has_backward


class Step:
    """Spans in the order of their beginning, each after its parent."""

    def __init__(self, spans, thread, source, wall_ns=None):
        self.spans, self.thread, self.source, self.wall_ns = spans, thread, source, wall_ns


def mark(spans):
    """Decides what each span belongs to, by what it lies in."""
    for span in spans:
        above = span.parent
        span.role = above.role if above else FORWARD
        span.root = above.root if above else None
        span.module = span if span.kind == "module" else above.module if above else None
        span.range = span if is_layer_range(span) else above.range if above else None
        span.outermost = above.outermost if above and above.outermost else span if span.kind == "operator" else None
        span.in_layer_operator = bool(above) and (above.in_layer_operator or bool(parameters(above.name, above.dims)))
        span.in_product = above and (above.in_product or (above if multiplies(above.name) else None))
        if span.role == FORWARD and span.name.startswith("Optimizer."):
            span.role = UPDATE
        elif span.role == FORWARD and span.name.startswith("enumerate(DataLoader)"):
            span.role = LOADING
        elif span.role == FORWARD and (span.name.startswith(EVALUATE) or is_node(span)):
            span.role, span.root = BACKWARD, span


def is_node(span):
    return span.kind == "operator" and NODE_OF_GRAPH.search(span.name) and not span.name.startswith(EVALUATE)


def is_layer_range(span):
    return span.kind == "range" and not span.name.startswith(("ProfilerStep", "Optimizer.", "enumerate(DataLoader)"))


def way_to_cut(forward, asked, reader, warn):
    """Returns what a layer is: "modules", "ranges" or "operators"."""
    if asked == "modules" and not any(span.module for span in forward):
        reader.refuse("", "has no nn.Module; record with_stack=True and with_modules=True, or cut it by --layers operators")
    if asked == "ranges" and not any(span.range for span in forward):
        reader.refuse("", "has no range around an operator; record with record_function, or cut it by --layers operators")
    if asked != "automatic":
        return asked
    modules = {span.module for span in forward if span.module}
    ranges = {span.range for span in forward if span.range and span.sequence is not None}
    for way, groups in (("modules", len(modules)), ("ranges", len(ranges) - 1)):
        large = largest_group(forward, way) if groups > 0 else None
        if large:
            warn(f"{large.name} ({large.place}) holds more than half of forward, and several operators with "
                 f"parameters: {way} are not taken as layers, since nothing would overlap; --layers {way} takes them")
        elif groups > 0:
            return way
    return "operators"


def largest_group(forward, way):
    """Returns what holds more than half of forward and several operators with parameters; None if nothing does."""
    times, operators = {}, {}
    for span in forward:
        group = group_of(span, way)
        times[group] = times.get(group, 0) + span.own_ns
        if span.name in PARAMETERS:
            operators.setdefault(group, set()).add(span.outermost)
    largest = max(times, key=times.get)
    return largest if times[largest] * 2 > sum(times.values()) and len(operators.get(largest, ())) > 1 else None


def group_of(span, way):
    """Returns the span that names an operator's layer."""
    return {"modules": span.module, "ranges": span.range}.get(way) or span.outermost or span


def layers_of_forward(forward, way):
    """Returns the layers in forward order, and the layer of each span."""
    layers, of_span, names, group = [], {}, {}, None
    for span in forward:
        if group_of(span, way) is not group:
            group = group_of(span, way)
            name = group.name.removeprefix("nn.Module: ") or "layer"
            names[name] = names.get(name, 0) + 1
            layers.append(Layer(name if names[name] == 1 else f"{name}#{names[name]}"))
        layer = of_span[span] = layers[-1]
        layer.forward_ns += span.own_ns
        if not span.in_layer_operator:
            layer.expected += parameters(span.name, span.dims)
        if multiplies(span.name) and not span.in_product:
            layer.products.append(span)
        elif layer.products and layer.products[-1] is span.in_product and span.name == span.in_product.name:
            layer.products[-1] = span  # autocast calls an operator again, after casts that took its number
    return layers, of_span


def add_backward(step, layers, of_sequence, reader, warn):
    """Adds the times of backward to the layers. Returns the shapes that backward passes in, by sequence number."""
    current, roots, passed_in = layers[-1], {}, {}
    unknown_ns = all_ns = 0
    for span in step.spans:
        if span.role != BACKWARD:
            continue
        if span.root is not None and span.root not in roots:
            layer = of_sequence.get(span.root.sequence)
            roots[span.root] = layer is None and ACCUMULATE not in span.root.name
            current = layer or current
            if layer:
                layer.has_backward = True
        if span.name == ACCUMULATE:
            current.accumulated.append(first_tensor(span))
        if span.root and span.root in (span, span.parent) and first_tensor(span) and span.root.sequence is not None:
            passed_in.setdefault(span.root.sequence, first_tensor(span))
        current.backward_ns += span.own_ns
        all_ns += span.own_ns
        unknown_ns += span.own_ns if span.root is None or roots[span.root] else 0
    if unknown_ns * 2 > all_ns:
        reader.refuse("", f"{percent(unknown_ns, all_ns)} of backward has no sequence number of a forward operator, so "
                          f"nobody knows which layers it is of: forward has {len(of_sequence)} numbers, and "
                          f"{sum(root.sequence in of_sequence for root in roots)} of {len(roots)} nodes of backward "
                          "have one of them. Record forward and backward of the same step")
    if unknown_ns * 100 > all_ns:
        warn(f"{percent(unknown_ns, all_ns)} of backward has no sequence number of a forward operator; it counts for the "
             "layer that backward was in before")
    return passed_in


def first_tensor(span):
    """Returns the shape of the first input, () of a scalar; None if it is not recorded or has no entries."""
    shape = span.dims[0] if span.dims else None
    return shape if isinstance(shape, tuple) and 0 not in shape else None


def percent(part, whole):
    return f"{100 * part / whole:.3g} %" if whole else "0 %"


def read_parameters(layers, recorded, warn):
    """Decides the tensors of each layer: by the gradients that were accumulated, else by the operators' inputs."""
    gradients = sum(len(layer.accumulated) for layer in layers)
    if gradients and recorded and all(shape is not None for layer in layers for shape in layer.accumulated):
        for layer in layers:
            layer.tensors = named(list(reversed(layer.accumulated)), layer.expected)
        by_operators = sum(len(layer.expected) for layer in layers)
        if by_operators != gradients:
            warn(f"backward accumulates {gradients} gradients, and the operators of forward show {by_operators} parameters; "
                 "the gradients are taken. Tied tensors and parameters outside of common layers explain this")
        return
    for layer in layers:
        layer.tensors = unique(layer.expected)
    if recorded:
        lack = sum(shape is None for layer in layers for shape in layer.accumulated)
        some = f"{lack} of {gradients} accumulated gradients have no" if lack < gradients else None
        warn(f"{some or 'no accumulated gradient has a'} shape; parameters are the weights and biases of linear, "
             "convolutional, embedding and normalization operators. Others are missing, tied ones count twice, and frozen ones count as well")


def named(shapes, expected):
    """Returns tensors of these shapes, with the names of expected ones of the same shape."""
    tensors, rest = [], list(shapes)
    for name, shape in expected:
        if shape in rest:
            rest.remove(shape)
            tensors.append((name, shape))
    return unique(tensors + [("parameter", shape or (1,)) for shape in rest])


def unique(tensors):
    names = {}
    for i, (name, shape) in enumerate(tensors):
        names[name] = names.get(name, 0) + 1
        tensors[i] = (name if names[name] == 1 else f"{name}{names[name]}", shape)
    return tensors


def find_batch(passes, asked, warn):
    if asked:
        return asked
    first = [next((span for span in forward if batch(span.name, span.dims)), None) for forward in passes]
    if None in first:
        warn("the trace does not tell the batch; state it by --batch, else any batch of a scenario is accepted")
        return None
    samples = sum(batch(span.name, span.dims) for span in first)
    where = f"the first extent of the input of {first[0].name} ({first[0].place})"
    where = where if len(passes) == 1 else f"the sum over {len(passes)} micro-batches of {where}"
    warn(f"the batch is taken to be {samples}, {where}; --batch states another")
    return samples


def count_products(layers, passed_in, samples):
    """Adds the multiply-accumulates of a sample where shapes tell them."""
    for layer in layers:
        total = sum(multiply_accumulates(span.name, span.dims, passed_in.get(span.sequence)) for span in layer.products)
        layer.macs = min(total // samples, 2**62) if samples else 0


def settle_other_threads(step, warn):
    """Gives what runs beside the thread of the step to backward if backward runs there, and else to nothing."""
    threads = {span.thread for span in step.spans if span.role == BACKWARD}
    strangers_ns = 0
    for span in step.spans:
        if span.role == FORWARD and span.thread != step.thread:
            span.role = BACKWARD if span.thread in threads else None
            strangers_ns += span.own_ns if span.role is None else 0
    if strangers_ns:
        warn(f"{strangers_ns / 1e6:.6g} ms of operators on threads that take no part in backward are left out")


def settle_between_bare_nodes(step):
    """Gives what runs between two nodes of the graph to the one before, where no evaluate_function holds both.

    Forward begins again with an operator whose node is evaluated later.
    """
    bare = [span for span in step.spans if span.role == BACKWARD and span.root is span and is_node(span)]
    evaluated = {span.sequence: span.start for span in bare if span.sequence is not None}
    last, between, bare = {}, {}, set(bare)
    for span in step.spans:
        if span in bare:
            for one in between.get(span.thread, []):
                one.role, one.root = BACKWARD, last[span.thread]
            last[span.thread], between[span.thread] = span, []
        elif span.role == FORWARD and span.thread in last:
            if span.sequence in evaluated and evaluated[span.sequence] > span.start:
                del last[span.thread], between[span.thread]
            else:
                between[span.thread].append(span)


def warn_of_unsure(layers, forward, warn):
    if any(layer.accumulated for layer in layers):
        return
    unsure = sorted({span.name for span in forward if span.name in UNSURE and not span.in_layer_operator})
    if unsure:
        warn(f"which inputs of {', '.join(unsure)} are parameters cannot be told; they are left out")


def operators_of(step):
    """Returns in words which operators a step has."""
    names = list(dict.fromkeys(span.name for span in step.spans if span.kind == "operator"))
    return f"{len(names)} kinds of operators, such as {', '.join(names[:4])}" if names else "no operators"


def forward_of(step, reader):
    """Returns the operators of the forward pass; refuses a step without one or without backward."""
    forward = [span for span in step.spans if span.role == FORWARD and span.kind == "operator"]
    if not forward:
        reader.refuse("", f"no operator of a forward pass in the step, which has {operators_of(step)}; record it with "
                          "ProfilerActivity.CPU")
    if not any(span.role == BACKWARD for span in step.spans):
        reader.refuse("", "no operator of backward (autograd::engine::evaluate_function, or ...Backward0) in the step, "
                          f"which has {operators_of(step)}; record a step that calls loss.backward()")
    return forward

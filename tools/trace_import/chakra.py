"""Chakra execution traces (MLCommons, schema/protobuf/et_def.proto) in their JSON form.

A node has id, name, type, ctrl_deps, data_deps, start_time_micros, duration_micros, inputs, attr; protobuf's JSON spells
these ctrlDeps, durationMicros, ... Two makers of such traces are known, and both are read:

    chakra_converter PyTorch   nodes are operators; the first control dependency is the operator around it, and durations
                               are those without what lies within. Kernels (is_cpu_op false) hang on their operators.
                               The attribute seq_id is autograd's sequence number, tid the thread
    chakra_converter Text      nodes are COMP_NODE_<layer>_FWD, _BWD_WG and _BWD_IG. A node COMM_COLL_NODE with the
                               attribute comm_size depends on the weight gradient that it all-reduces

In a trace from text, backward of a layer ends with its weight gradient; the gradient of its input, which comes after it,
counts for the layer below, so that each gradient is complete when the trace completes it.
"""

import ast
import re
from collections import Counter, deque

from .fault import shown
from .step import EVALUATE, Layer, Span, Step

TYPES = ["INVALID_NODE", "METADATA_NODE", "MEM_LOAD_NODE", "MEM_STORE_NODE", "COMP_NODE", "COMM_SEND_NODE",
         "COMM_RECV_NODE", "COMM_COLL_NODE", "STORAGE_NODE", "BATCH_NODE", "CHECKPOINT_NODE"]
NAMED = re.compile(r"COMP_NODE_(.+)_(FWD|BWD_WG|BWD_IG)$")
BYTES_OF_ENTRY = 4


def either(json, snake):
    """Returns a field in the spelling of the schema or of protobuf's JSON; None if it is missing."""
    head, *tail = snake.split("_")
    return json.get(snake, json.get(head + "".join(word.capitalize() for word in tail)))


class Node:
    __slots__ = ("place", "id", "name", "type", "parents", "data_deps", "start", "ns", "attributes", "inputs")

    def __init__(self, reader, json, place):
        self.place = place
        json = reader.object(json, place)
        self.id = reader.integer(json.get("id", 0), f"{place}.id", "number of a node")
        self.name = reader.text(json, "name", place, "")
        self.type = type_of(reader, json.get("type", 0), f"{place}.type")
        self.parents = self.dependencies(reader, json, "ctrl_deps")
        self.data_deps = self.dependencies(reader, json, "data_deps")
        times = {"start": either(json, "start_time_micros"), "duration": either(json, "duration_micros")}
        times = {name: 0 if value is None else value for name, value in times.items()}
        self.start = reader.microseconds({"start_time_micros": times["start"]}, "start_time_micros", place)
        self.ns = reader.nanoseconds({"duration_micros": times["duration"]}, "duration_micros", place)
        self.attributes = attributes_of(reader, json.get("attr", []), f"{place}.attr")
        self.inputs = json.get("inputs")

    def dependencies(self, reader, json, key):
        place = f"{self.place}.{key}"
        value = either(json, key)
        return [reader.integer(one, f"{place}[{i}]", "number of a node")
                for i, one in enumerate(reader.list([] if value is None else value, place))]

    def number(self, reader, name):
        value = self.attributes.get(name)
        return None if value is None else reader.integer(value, f"{self.place}.attr {name}", "number")


def type_of(reader, value, place):
    if isinstance(value, str) and value in TYPES:
        return value
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(TYPES):
        return TYPES[value]
    reader.refuse(place, f"{shown(value)} is not a type of a node; such as COMP_NODE")


def attributes_of(reader, attributes, place):
    """Returns values by name; an attribute has its value under a key such as int64_val or boolVal."""
    values = {}
    for i, attribute in enumerate(reader.list(attributes, place)):
        attribute = reader.object(attribute, f"{place}[{i}]")
        name = reader.text(attribute, "name", f"{place}[{i}]")
        values[name] = next((v for k, v in attribute.items() if k.endswith(("_val", "Val"))), None)
    return values


def dims_of(reader, node):
    """Returns the shapes of a node's inputs, which are a text such as "[[4, 2048], []]"."""
    if node.inputs is None:
        return None
    place = f"{node.place}.inputs.shapes"
    shapes = reader.object(node.inputs, f"{node.place}.inputs").get("shapes", [])
    if isinstance(shapes, str):
        try:
            shapes = ast.literal_eval(shapes) if shapes else []
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            reader.refuse(place, f"{shown(shapes)} is not a list of shapes, such as \"[[4, 2048], []]\"")
    return reader.shapes(list(shapes) if isinstance(shapes, tuple) else shapes, place)


def read_nodes(reader, nodes, place):
    read = [Node(reader, node, f"{place}[{i}]" if place else f"node {i}")
            for i, node in enumerate(reader.list(nodes, place or "the trace"))]
    if not read:
        reader.refuse(place, "is empty; nodes with id, name and type")
    return read


def warn_of_lost_nodes(nodes, warn):
    """Names nodes that others depend on and the file does not have."""
    known = {node.id for node in nodes}
    without = [(node, one) for node in nodes for one in node.parents + node.data_deps
               if one not in known and one != 0]  # 0 stands for none in traces of PyTorch
    if without:
        node, one = without[0]
        warn(f"{len({one for _, one in without})} nodes that others depend on are missing, such as {one}, which {node.name} "
             f"({node.place}) names: their times are missing, too")


def is_named(nodes):
    return any(NAMED.match(node.name) for node in nodes)


# --- operators of PyTorch ---


USER_SCOPE = 7  # at::RecordScope::USER_SCOPE, of record_function


def kind_of(reader, node):
    if node.type == "METADATA_NODE" or node.name.startswith("[pytorch|"):
        return "frame"
    if node.name.startswith(("ProfilerStep", "Optimizer.")) or node.number(reader, "scope") == USER_SCOPE:
        return "range"
    return "operator"


def is_on_cpu(node):
    return node.attributes.get("is_cpu_op", True) not in (False, 0, "0", "false")


def in_order(reader, spans):
    """Returns spans in the order of their beginning, each after its parent."""
    children, ready, ordered = {}, deque(), []
    for span in sorted(spans, key=lambda s: s.start):
        children.setdefault(span.parent, []).append(span)
    ready.extend(reversed(children.get(None, [])))
    while ready:
        span = ready.pop()
        ordered.append(span)
        ready.extend(reversed(children.get(span, [])))
    if len(ordered) < len(spans):
        done = set(ordered)
        left = next(span for span in spans if span not in done)
        reader.refuse(f"{left.place}.ctrl_deps", "goes in a circle; the first control dependency of an operator is the one "
                                                 "around it")
    return sorted(ordered, key=lambda s: s.start) if parents_first(ordered) else ordered


def parents_first(spans):
    return all(span.parent is None or span.parent.start < span.start for span in spans)


def read_step(reader, nodes, warn):
    """Returns the step of a trace whose nodes are operators of PyTorch."""
    if not any("seq_id" in node.attributes for node in nodes):
        reader.refuse("", "tells no forward from backward: no node has the attribute seq_id of chakra_converter PyTorch, and "
                          "none is named COMP_NODE_<layer>_FWD as by chakra_converter Text")
    with_kernels = any(not is_on_cpu(node) for node in nodes)
    by_time = any(node.start for node in nodes)
    spans, exchanged_ns = {}, 0
    for node in nodes:
        if node.type.startswith("COMM_"):
            exchanged_ns += node.ns
            continue
        if node.id in spans:
            reader.refuse(f"{node.place}.id", f"{node.id} is the id of {spans[node.id].place}, too; ids are unique")
        kind = kind_of(reader, node)
        span = Span(node.place, node.name, kind, node.number(reader, "tid"), (node.start if by_time else 0, node.id))
        span.own_ns = node.ns if kind == "operator" and not (with_kernels and is_on_cpu(node)) else 0
        sequence = node.number(reader, "seq_id")
        span.sequence = sequence if sequence is not None and 0 <= sequence < 2**62 else None
        span.dims = dims_of(reader, node)
        spans[node.id] = span
    for node in nodes:
        if node.id in spans and spans[node.id].place == node.place:
            spans[node.id].parent = next((spans[p] for p in node.parents if p in spans), None)
    if exchanged_ns:
        warn(f"{exchanged_ns / 1e6:.6g} ms of communication nodes are left out; paceline simulates the exchange")
    warn("a Chakra trace has whole microseconds; times of short operators are rounded")
    ordered = in_order(reader, list(spans.values()))
    numbered = Counter(span.thread for span in ordered if span.sequence is not None and not span.name.startswith(EVALUATE))
    thread = numbered.most_common(1)[0][0] if numbered else None
    source = "kernels" if with_kernels else "operators on the CPU"
    return Step(ordered, thread, f"{source} of a Chakra trace")


# --- layers by name ---


def named_layers(reader, nodes, batch, warn):
    """Returns the layers of a trace whose nodes are named after them, of its first pass."""
    by_id = {node.id: node for node in nodes}
    layers, seen, pending_ns, last = {}, set(), 0, None
    passes = Counter(node.name for node in nodes if NAMED.match(node.name))
    if passes.most_common(1)[0][1] > 1:
        warn(f"the trace has {passes.most_common(1)[0][1]} passes; the first is taken")
    for node in nodes:
        match = NAMED.match(node.name)
        if not match or node.name in seen:
            continue
        seen.add(node.name)
        name, phase = match.groups()
        layer = layers.setdefault(name, Layer(name))
        if phase == "FWD":
            layer.forward_ns += node.ns
            operations = node.number(reader, "num_ops")
            layer.macs = min(max(operations, 0) // 2 // batch, 2**62) if operations and batch else 0
        else:
            pending_ns += node.ns
            if phase == "BWD_WG":
                layer.backward_ns += pending_ns
                pending_ns = 0
            last = layer
    if last is None:
        reader.refuse("", "has no node of backward, such as COMP_NODE_conv1_BWD_WG; convert a trace of training")
    last.backward_ns += pending_ns
    add_exchanged_tensors(reader, nodes, by_id, layers)
    warn_of_lost_parts(seen, layers, warn)
    if batch is None:
        warn("the trace does not tell the batch; state it by --batch, else any batch of a scenario is accepted")
    warn("parameters are what is all-reduced after a weight gradient, 4 bytes each, as one tensor of a layer")
    return list(layers.values())


def warn_of_lost_parts(seen, layers, warn):
    """Names layers without a part that others have: the first of forward alone needs no gradient of its input."""
    first = next(iter(layers))
    for part in ("FWD", "BWD_WG", "BWD_IG"):
        lost = [name for name in layers if f"COMP_NODE_{name}_{part}" not in seen and (part, name) != ("BWD_IG", first)]
        if lost and (part != "BWD_IG" or len(lost) < len(layers) - 1):
            warn(f"{len(lost)} of {len(layers)} layers, such as {lost[0]}, have no node COMP_NODE_{lost[0]}_{part}: what it "
                 "takes is missing")
    still = [name for name, layer in layers.items() if f"COMP_NODE_{name}_BWD_WG" in seen and not layer.tensors]
    if still:
        warn(f"{len(still)} of {len(layers)} layers, such as {still[0]}, have a weight gradient that no COMM_COLL_NODE with a "
             "comm_size exchanges: their parameters are missing")


def add_exchanged_tensors(reader, nodes, by_id, layers):
    for node in nodes:
        size = node.number(reader, "comm_size") if node.type == "COMM_COLL_NODE" else None
        for dependency in node.data_deps if size else []:
            match = NAMED.match(by_id[dependency].name) if dependency in by_id else None
            if not match or match[2] != "BWD_WG" or layers[match[1]].tensors:
                continue
            if not 0 < size <= 2**50 or size % BYTES_OF_ENTRY:
                reader.refuse(f"{node.place}.attr comm_size", f"{size} bytes are no gradient; a multiple of {BYTES_OF_ENTRY} "
                                                              "bytes above 0")
            layers[match[1]].tensors = [("weight", (size // BYTES_OF_ENTRY, 1))]

"""Layers to paceline's profile (docs/adding/profile.md), and a scenario with it."""

import json
import math
import os

from .fault import MOST_ENTRIES, MOST_NS, Fault, printable


def time_text(ns):
    """Returns a whole number of nanoseconds as paceline reads it, in the largest unit that keeps it short."""
    for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 1000)):
        if ns >= size:
            text = f"{ns // size}.{ns % size:0{len(str(size)) - 1}}".rstrip("0").rstrip(".")
            return text + unit
    return f"{ns}ns"


def spread(layers, parameters):
    """Deals a number of parameters to the layers that accumulate a gradient, in proportion to their backward time."""
    owners = [layer for layer in layers if layer.accumulated] or layers
    total = sum(layer.backward_ns for layer in owners)
    shares = [layer.backward_ns if total else 1 for layer in owners]
    left, weight = parameters, sum(shares)
    for layer, share in zip(owners, shares):
        part = left * share // weight if weight else 0
        left, weight = left - part, weight - share
        layer.tensors = [("parameters", (part, 1))] if part else []


def check(layers, file):
    entries = sum(math.prod(shape) for layer in layers for _, shape in layer.tensors)
    if entries == 0:
        raise Fault(f"{file}: tells no parameters: no shapes are recorded; record with profile(record_shapes=True), or state "
                    "their number by --parameters, which deals them to the layers by backward time")
    if entries > MOST_ENTRIES:
        raise Fault(f"{file}: has {entries} parameters; a net has at most {MOST_ENTRIES}")
    total = sum(layer.forward_ns + layer.backward_ns for layer in layers)
    if total == 0:
        raise Fault(f"{file}: all operators of forward and backward take no time; record a step that computes")
    if total > MOST_NS:
        raise Fault(f"{file}: the step takes {total // 10**9} s; microseconds are expected")


def profile_of(layers, name, source, batch):
    """Returns the profile as JSON. Layers that neither take time nor have tensors are left out."""
    profile = {"name": name, "title": f"{name}, measured layer by layer", "source": source, "sample": "sample"}
    if batch:
        profile["batch"] = batch
    profile["layers"] = [
        {"name": printable(layer.name), "macs": layer.macs, "forward": time_text(layer.forward_ns),
         "backward": time_text(layer.backward_ns),
         "tensors": [{"name": tensor, "shape": list(shape)} for tensor, shape in layer.tensors]}
        for layer in layers if layer.tensors or layer.forward_ns or layer.backward_ns]
    return profile


def text_of(profile):
    """Returns JSON with a line for each layer."""
    head = json.dumps({key: value for key, value in profile.items() if key != "layers"}, indent=2)
    rows = ",\n".join("    " + json.dumps(layer) for layer in profile["layers"])
    return f'{head[:-2]},\n  "layers": [\n{rows}\n  ]\n}}\n'


def scenario_text(profile, file, scenario, update_ns):
    """Returns the text of a scenario beside which `file` is the profile's."""
    named = os.path.relpath(os.path.realpath(file), os.path.dirname(os.path.realpath(scenario)))
    return scenario_of(f"{profile['name']} on more nodes", named, time_text(update_ns) if update_ns else None)


def scenario_of(title, profile, update_time):
    """Returns the text of a scenario that goes from 1 to 16 nodes. `update_time` may be None."""
    workload = {"profile": profile}
    if update_time:
        workload["update_time"] = update_time
    rows = {"title": title,
            "cluster": {"nodes": 1, "fabric": {"kind": "star", "link": {"preset": "10GbE-tcp"}}},
            "workload": workload,
            "algorithm": {"kind": "ddp", "schedule": "25MB"},
            "stop": {"iterations": 10},
            "sweep": {"cluster.nodes": [1, 2, 4, 8, 16]}}
    return "{\n" + ",\n".join(f'  "{key}": {json.dumps(value)}' for key, value in rows.items()) + "\n}\n"

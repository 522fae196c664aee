"""Cuts a step into the layers of a profile; every check of what the trace lacks is called here."""

from . import step as parts
from .passes import fold, passes_of
from .step import LOADING, UPDATE
from .whole import (refuse_lost_parameters, warn_of_forward_after_update, warn_of_lost_nodes,
                    warn_of_one_large_layer)


def cut(step, options, reader, warn):
    """Returns (layers, update_ns, batch). `update_ns` is None if the step has no Optimizer.step."""
    parts.mark(step.spans)
    parts.settle_between_bare_nodes(step)
    parts.settle_other_threads(step, warn)
    forward = parts.forward_of(step, reader)
    way = parts.way_to_cut(forward, options.layers, reader, warn)
    passes = passes_of(step, forward, reader)
    layers, passed_in = layers_of(step, passes, way, reader, warn)
    recorded = any(span.dims is not None for span in step.spans)
    samples = parts.find_batch(passes, options.batch, warn) if recorded or options.batch else None
    refuse_lost_parameters(layers, options.frozen, reader)
    parts.read_parameters(layers, recorded, warn)
    parts.warn_of_unsure(layers, forward, warn)
    parts.count_products(layers, passed_in, samples)
    warn_of_lost_nodes(step, forward, warn)
    warn_of_forward_after_update(step, warn)
    warn_of_one_large_layer(layers, warn)
    loading_ns = sum(span.own_ns for span in step.spans if span.role == LOADING)
    if loading_ns:
        warn(f"{loading_ns / 1e6:.6g} ms of loading data are left out")
    updates = [span.own_ns for span in step.spans if span.role == UPDATE]
    return layers, sum(updates) if updates else None, samples


def layers_of(step, passes, way, reader, warn):
    """Returns the layers, with the times of all passes, and the shapes that backward passes in."""
    by_pass, of_span = [], {}
    for forward in passes:
        layers, spans = parts.layers_of_forward(forward, way)
        by_pass.append(layers)
        of_span |= spans
    of_sequence = {span.sequence: layer for span, layer in of_span.items() if span.sequence is not None}
    passed_in = parts.add_backward(step, [layer for layers in by_pass for layer in layers], of_sequence, reader, warn)
    return fold(by_pass, reader, warn), passed_in

"""Forward passes of a step: gradients that are accumulated over micro-batches take several, and one update.

Forward begins again with an operator that comes after an accumulated gradient, and whose own node of the graph is
evaluated later. (What forward recomputes within backward lies in backward; a gradient of a gradient accumulates none.)
Passes that accumulate the same gradients are micro-batches: parameters count once, times and batches are added. Others
are two trainings in one step, as those of a GAN, which a profile cannot hold.
"""

from collections import Counter

from .step import ACCUMULATE, BACKWARD, FORWARD, UPDATE


def passes_of(step, forward, reader):
    """Returns the operators of each forward pass."""
    evaluated = {span.sequence: span.start for span in step.spans if span.role == BACKWARD and span.root is span}
    numbers = {span.sequence for span in forward} - {None}
    accumulates = any(span.name == ACCUMULATE for span in step.spans)
    passes, complete, updated = [[]], False, None
    for span in step.spans:
        if span.role == BACKWARD:
            complete = complete or (span.name == ACCUMULATE if accumulates else
                                    span.root is span and span.sequence in numbers)
        elif span.role == UPDATE:
            updated = span if span.name.startswith("Optimizer.step") else updated
        elif span.role == FORWARD and span.kind == "operator":
            if complete and span.sequence in evaluated and evaluated[span.sequence] > span.start:
                refuse_update_between(updated, span, reader)
                passes, complete = passes + [[]], False
            passes[-1].append(span)
    return passes


def refuse_update_between(updated, span, reader):
    if updated is not None:
        reader.refuse(span.place, f"forward begins again with {span.name} after {updated.name} ({updated.place}); a "
                                  "profile is of one forward pass, one backward pass and one update. Call prof.step() "
                                  "after each update, so that ProfilerStep#n marks it; of two nets that train in "
                                  "turn, record one")


def fold(passes, reader, warn):
    """Returns the layers of all passes as those of one. `passes` are lists of layers, each with names of its own."""
    layers, by_name = list(passes[0]), {layer.name: layer for layer in passes[0]}
    for number, later in enumerate(passes[1:], 2):
        refuse_other_gradients(passes[0], later, number, reader)
        for layer in later:
            layer.expected, layer.accumulated = [], []
            if layer.name not in by_name:
                layers.append(layer)
                by_name[layer.name] = layer
            else:
                by_name[layer.name].add(layer)
    if len(passes) > 1:
        warn(f"forward begins again after backward: the step has {len(passes)} micro-batches. Parameters count once, "
             "times are added. The exchange then seems to overlap with all of backward; training that accumulates "
             "overlaps it with the last micro-batch only")
    return layers


def refuse_other_gradients(first, later, number, reader):
    """Refuses passes that accumulate other gradients, or show other parameters where no gradients are recorded."""
    def tensors(layers):
        gradients = Counter(shape for layer in layers for shape in layer.accumulated)
        return gradients or Counter(shape for layer in layers for _, shape in layer.expected)

    of_first, of_later = tensors(first), tensors(later)
    if of_first != of_later:
        other = next(iter((of_later - of_first) or (of_first - of_later)))
        reader.refuse("", f"forward begins again after backward, and pass {number} has {of_later.total()} gradients, "
                          f"pass 1 {of_first.total()}; one of shape {list(other) if other else other} is not in both. "
                          "Micro-batches have the same. Record a step of one forward and one backward pass of one net")

"""The parts of tools/import_trace.py: readers of two kinds of traces, and what both have in common.

    text.py      bytes to text to JSON; what PyTorch writes that is no JSON
    load.py      which kind of trace it is, and other kinds that are taken for one
    fault.py     the one clear error, and values that are checked as they are read
    pytorch.py   Chrome JSON of torch.profiler: which step; spans nested by time
    device.py    kernels and launches of such a trace: whose they are, and which are missing
    chakra.py    MLCommons Chakra: nodes nested by their control dependencies
    step.py      a step of either kind: forward, backward and update, and its layers
    passes.py    several forward passes of a step: micro-batches whose gradients are accumulated
    whole.py     checks that the parts of a step belong together
    cut.py       a step to the layers of a profile, by way of all of these
    shapes.py    which tensors of an operator are parameters, and its multiply-accumulates
    profile.py   layers to paceline's profile, and a scenario with it
    outputs.py   where these may be written, and how
"""

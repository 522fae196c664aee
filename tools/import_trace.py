#!/usr/bin/env python3
"""Makes a profile of a trace, so that one measured device becomes a curve over many nodes.

    tools/import_trace.py TRACE [--out PROFILE.json] [--scenario SCENARIO.json] [options]

TRACE is Chrome JSON of torch.profiler (prof.export_chrome_trace, plain or .gz) of one device, or a Chakra execution trace
in JSON. The profile has the layers in forward order, with their measured forward and backward times and their tensors
(docs/adding/profile.md). What a trace cannot tell is said in a warning. docs/how-to/from-a-trace.md has an example.

It writes over nothing but what it wrote itself, unless --force is given, and never over TRACE.

Exit code: 0, or 2 with one line that names the file, the place and what would be right.
"""

import argparse
import functools
import math
import os
import signal
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from trace_import import chakra, load, outputs, profile, pytorch  # noqa: E402
from trace_import.cut import cut  # noqa: E402
from trace_import.fault import MOST_BATCH, MOST_ENTRIES, Fault, Reader, printable  # noqa: E402


def whole_number(least, most):
    def read(text):
        if not (text.isascii() and text.isdigit() and len(text) < 20 and least <= int(text) <= most):
            raise argparse.ArgumentTypeError(f"\"{text}\" is not a whole number from {least} to {most}")
        return int(text)
    return read


def read_arguments(arguments):
    parser = argparse.ArgumentParser(prog="import_trace", description="Makes a profile of a trace.",
                                     epilog="See docs/how-to/from-a-trace.md.")
    parser.add_argument("trace", metavar="TRACE",
                        help="Chrome JSON of torch.profiler, or a Chakra trace in JSON; may be gzipped")
    parser.add_argument("--out", metavar="FILE", help="the profile; default: NAME.json in this folder")
    parser.add_argument("--scenario", metavar="FILE", help="also write a scenario that goes from 1 to 16 nodes")
    parser.add_argument("--force", action="store_true", help="replace files that import_trace did not write")
    parser.add_argument("--name", help="of the net; default: the file's")
    parser.add_argument("--step", type=whole_number(0, 10**15),
                        help="the n of ProfilerStep#n; default: the one of median length")
    parser.add_argument("--layers", choices=["automatic", "modules", "ranges", "operators"], default="automatic",
                        help="what a layer is: an nn.Module, a record_function range or an operator")
    parser.add_argument("--batch", type=whole_number(1, MOST_BATCH), help="samples of the step")
    parser.add_argument("--parameters", type=whole_number(1, MOST_ENTRIES),
                        help="of the net, where no shapes are recorded; dealt to the layers by backward time")
    parser.add_argument("--frozen", action="store_true",
                        help="parameters without a gradient are frozen; else few gradients are a fault of the trace")
    return parser.parse_args(arguments)


def warn(text):
    print(f"import_trace: warning: {text}", file=sys.stderr)


def read_layers(options):
    """Returns (layers, update_ns, batch, what was measured, length of the step by the host's clock)."""
    kind, content, place = load.load(options.trace, warn)
    reader = Reader(options.trace)
    if kind == "pytorch":
        whole = pytorch.read_step(reader, content, place, options, warn)
    else:
        nodes = chakra.read_nodes(reader, content, place)
        chakra.warn_of_lost_nodes(nodes, warn)
        if chakra.is_named(nodes):
            return chakra.named_layers(reader, nodes, options.batch, warn), None, options.batch, "a Chakra trace", None
        whole = chakra.read_step(reader, nodes, warn)
    return (*cut(whole, options, reader, warn), whole.source, whole.wall_ns)


def say_what_is_missing(layers, update_ns, wall_ns):
    spent = {"forward": sum(layer.forward_ns for layer in layers), "backward": sum(layer.backward_ns for layer in layers)}
    total = sum(spent.values())
    for name in (name for name, spent_ns in spent.items() if not spent_ns):
        warn(f"nothing of {name} takes time, and the rest does: its times are missing in the trace")
    if update_ns:
        print(f"update_time of a scenario: {profile.time_text(update_ns)} (Optimizer.step and zero_grad)", flush=True)
    else:
        lack = "no Optimizer.step in the trace" if update_ns is None else "nothing in Optimizer.step takes time"
        warn(f"{lack}; a scenario's update_time is 0 unless it states one")
    measured_ns = total + (update_ns or 0)
    if wall_ns and abs(wall_ns - measured_ns) * 20 > wall_ns:
        warn(f"the step took {profile.time_text(wall_ns)} by the host's clock, and its layers and update "
             f"{profile.time_text(measured_ns)}: the rest is time in which the device waited or Python ran. A "
             "scenario's step_time scales the layers")


def name_of(options):
    stem = os.path.basename(options.trace)
    for ending in (".gz", ".json", ".pt.trace", ".trace", ".chakra", ".et"):
        stem = stem.removesuffix(ending)
    return printable(options.name or stem) or "net"


def run(options):
    name = name_of(options)
    out = options.out or f"{name.replace('/', '-')}.json"
    refuse = functools.partial(outputs.refuse, out, options.scenario, options.trace, options.force)
    refuse()
    layers, update_ns, batch, source, wall_ns = read_layers(options)
    if options.parameters and not any(layer.tensors for layer in layers):
        profile.spread(layers, options.parameters)
        warn(f"{options.parameters} parameters are dealt to layers by backward time; sizes of buckets are a guess")
    profile.check(layers, options.trace)
    made = profile.profile_of(layers, name, f"{printable(os.path.basename(options.trace))}: {source}", batch)
    texts = {out: outputs.marked(profile.text_of(made))}
    if options.scenario:
        texts[options.scenario] = profile.scenario_text(made, out, options.scenario, update_ns)
    outputs.write(texts, refuse)
    parameters = sum(math.prod(shape) for layer in layers for _, shape in layer.tensors)
    forward, backward = sum(l.forward_ns for l in layers), sum(l.backward_ns for l in layers)
    print(f"{printable(out, None)}: {len(made['layers'])} layers, {parameters} parameters, forward {profile.time_text(forward)}, "
          f"backward {profile.time_text(backward)}", flush=True)
    say_what_is_missing(layers, update_ns, wall_ns)


def main(arguments):
    options = read_arguments(arguments)
    try:
        run(options)
        return 0
    except Fault as fault:
        problem = str(fault)
    except MemoryError:
        problem = f"{options.trace}: needs more memory than there is; record one step (schedule=... active=1)"
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    print(f"import_trace: {printable(problem, None)}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

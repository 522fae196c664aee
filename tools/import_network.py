#!/usr/bin/env python3
"""Makes a network file of a description that other programs write, for `"cluster": {"testbed": "network.json"}`.

    tools/import_network.py FILE... --out NETWORK.json [options]

FILE is a CSV of cables, SimGrid's platform XML, the output of nvidia-smi topo -m, Slurm's topology.conf, or several files
of iperf3 --json. The format is recognised by the content. What a graph of cables cannot say is refused, or left out: then
it is printed, and stands in the network file. docs/how-to/import-a-network.md has an example of each.

It writes over nothing but what it wrote itself, unless --force is given, and never over FILE.

Exit code: 0, or 2 with one line that names the file, the place and what would be right.
"""

import argparse
import functools
import os
import signal
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from network_import import edges, iperf, nvidia, outputs, simgrid, slurm  # noqa: E402
from network_import.values import Fault, printable  # noqa: E402

FORMATS = {"simgrid": simgrid, "iperf3": iperf, "slurm": slurm, "nvidia-smi": nvidia, "csv": edges}
MOST_BYTES = 64 << 20


def whole_number(least, most, text):
    if not (text.isascii() and text.isdigit() and len(text) < 10 and least <= int(text) <= most):
        raise argparse.ArgumentTypeError(f"\"{text}\" is not a whole number from {least} to {most}")
    return int(text)


def read_arguments(arguments):
    parser = argparse.ArgumentParser(prog="import_network", description="Makes a network file for paceline.",
                                     epilog="See docs/how-to/import-a-network.md.")
    link = "a preset of \"paceline list links\", or BANDWIDTH[,LATENCY[,EFFICIENCY]]"
    parser.add_argument("files", metavar="FILE", nargs="+", help="one; of iperf3, one for each pair of sites")
    parser.add_argument("--out", metavar="FILE", required=True, help="the network")
    parser.add_argument("--force", action="store_true", help="replace a file that import_network did not write")
    parser.add_argument("--format", choices=sorted(FORMATS), help="default: by the content")
    parser.add_argument("--nodes", metavar="NAMES", help="csv: which names are nodes, such as gpu*,login; default: with one cable")
    parser.add_argument("--link", help=f"slurm, iperf3: of nodes; {link}")
    parser.add_argument("--uplink", help=f"slurm: between switches; {link}")
    parser.add_argument("--nvlink", help="nvidia-smi: one link, each way; nvlink-1 to nvlink-4 or figures as of --link")
    parser.add_argument("--nvlinks-per-gpu", type=functools.partial(whole_number, 1, 1000), help="default: the preset's, else 18")
    parser.add_argument("--pcie", help="nvidia-smi: pcie-3.0-x16 to pcie-5.0-x16 or figures as of --link")
    parser.add_argument("--smp", help="nvidia-smi: between sockets, as --pcie; default: the same")
    parser.add_argument("--leave-out-shared", action="store_true",
                        help="simgrid: leave out backbones that block and links that are FATPIPE")
    parser.add_argument("--site", action="append", metavar="NAME=ADDRESS,..", help="iperf3: whose addresses these are")
    parser.add_argument("--both", choices=["smaller", "mean"], default="smaller", help="iperf3: of a pair's two directions")
    parser.add_argument("--nodes-per-site", type=functools.partial(whole_number, 1, 10000), default=1, help="iperf3")
    return parser.parse_args(arguments)


def text_of(file):
    try:
        with open(file, "rb") as source:
            content = source.read(MOST_BYTES + 1)
    except OSError as error:
        raise Fault(f"{file}: cannot be read: {error.strerror or error}") from None
    if len(content) > MOST_BYTES:
        raise Fault(f"{file}: has more than {MOST_BYTES >> 20} MiB")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Fault(f"{file}: byte {error.start} is not UTF-8") from None


def format_of(options, texts):
    if options.format:
        return options.format
    for name, reader in FORMATS.items():
        if reader.is_kind(texts[0]):
            return name
    raise Fault(f"{options.files[0]}: is in no known format: CSV with from,to,bandwidth, SimGrid's XML, nvidia-smi topo -m, Slurm's "
                "topology.conf or iperf3 --json; --format states it")


def run(options):
    refuse = functools.partial(outputs.refuse, options.out, options.files, options.force)
    refuse()
    texts = [text_of(file) for file in options.files]
    kind = format_of(options, texts)
    if kind != "iperf3" and len(texts) > 1:
        raise Fault(f"{options.files[1]}: is a second file; only iperf3 has several")
    network = FORMATS[kind].read(options.files, texts, options)
    network.check()
    text = outputs.marked(network.text())
    refuse()
    outputs.write(options.out, text)
    print(f"{printable(options.out, 4096)}: {kind}, {len(network.nodes)} nodes, {len(network.switches)} switches, "
          f"{len(network.cables)} cables")
    for line in network.said:
        print(f"note: {line}")
    for line in network.left_out:
        print(f"left out: {line}")


def main(arguments):
    options = read_arguments(arguments)
    try:
        run(options)
        return 0
    except Fault as fault:
        problem = str(fault)
    except RecursionError:
        problem = f"{options.files[0]}: is nested too deep"
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    print(f"import_network: {printable(problem, 2000)}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

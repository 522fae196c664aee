#!/usr/bin/env python3
"""Writes models/profiles/*.json: published networks as the simulated clock sees them.

A profile lists a network's layers in forward order: the gradient tensors each produces and the
multiply-accumulates (MACs) of one sample's forward pass. Both are derived here from the
architecture and checked against published totals before anything is written.

    tools/make_profiles.py                 rewrite the files
    tools/make_profiles.py --check         exit 1 and name each file that differs
    tools/make_profiles.py --efficiency    print the share of a device's peak that each net reaches

MACs count convolutions and matrix products only; biases, normalization, activations, pooling and
embedding lookups count as zero.
"""

import json
import statistics
import sys
from pathlib import Path

from profiles.architectures import decoder
from profiles.networks import NETWORKS
from profiles.reference import check_against_reference
from profiles.throughputs import THROUGHPUT, measured

MODELS = Path(__file__).resolve().parent.parent / "models"
PROFILES = MODELS / "profiles"


def layers_of(name):
    network = NETWORKS[name]
    return decoder(**network["transformer"]) if "transformer" in network else network["layers"]()


def profile(name):
    network = NETWORKS[name]
    net = ({"transformer": network["transformer"]} if "transformer" in network else
           {"layers": layers_of(name)})
    keys = ("parameters", "gradient_mib", "nominal_bytes_at_0.001", "source")
    made = {
        "name": name, "title": network["title"], "source": network["source"],
        "sample": network.get("sample", "image"),
        **({"tokens": network["tokens"]} if "tokens" in network else {}),
        **({"dataset": network["dataset"]} if "dataset" in network else {}),
        **net,
        "published": dict(zip(keys, network["published"])),
        "throughput": [measured(*row) for row in THROUGHPUT.get(name, [])],
    }
    check_against_reference(name, layers_of(name), made["published"])
    return made


def layer_text(made):
    head = json.dumps({key: made[key] for key in ("name", "macs", "source")})[:-1]
    tensors = ",\n       ".join(map(json.dumps, made["tensors"]))
    return f'{head},\n     "tensors": [\n       {tensors}]}}'


def text(made):
    def block(rows):
        return "[\n    " + ",\n    ".join(rows) + "\n  ]" if rows else "[]"

    written = {key: json.dumps(value) for key, value in made.items()}
    if "layers" in made:
        written["layers"] = block([layer_text(each) for each in made["layers"]])
    written["throughput"] = block([json.dumps(each) for each in made["throughput"]])
    return "{\n" + ",\n".join(f'  "{key}": {value}' for key, value in written.items()) + "\n}\n"


def shares_of_peak():
    """Returns what each net reaches of a device's peak in a precision: 3 x 2 x MACs x samples/s / peak.

    Several entries count as their median."""
    devices = json.loads((MODELS / "devices.json").read_text())["devices"]
    shares = []
    for made in map(profile, sorted(NETWORKS)):
        flops = 6 * sum(each["macs"] for each in layers_of(made["name"]))
        for device in devices:
            for precision, peak in device["peak_flops"].items():
                rates = [row["samples_per_s"] for row in made["throughput"] if row["device"] == device["name"]
                         and row.get("precision", "fp32") == precision]
                if rates:
                    shares.append((flops * statistics.median(rates) / peak, made, device["name"], precision))
    return sorted(shares, key=lambda share: share[0])


def print_efficiency():
    """Prints the shares of the peaks that training reaches. Those of nets of images in fp32 have the default as median."""
    shares = shares_of_peak()
    ordinary = [share for share in shares if share[1]["sample"] == "image" and share[3] == "fp32"]
    for rows in ([share for share in shares if share not in ordinary], ordinary):
        for share, made, device, precision in rows:
            print(f"{share:6.3f}  {made['name']:<14}  {device:<15}  {precision}")
        print()
    values = [share[0] for share in ordinary]
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    print(f"{len(values)} pairs of images in fp32: median {median:.3f}, quartiles {low:.3f} and {high:.3f}, "
          f"least {min(values):.3f}, most {max(values):.3f}")


def main(arguments):
    if arguments not in ([], ["--check"], ["--efficiency"]):
        sys.exit("usage: tools/make_profiles.py [--check | --efficiency]")
    if arguments == ["--efficiency"]:
        return print_efficiency()
    stale = []
    for name in NETWORKS:
        path, wanted = PROFILES / f"{name}.json", text(profile(name)).encode("ascii")
        if path.is_file() and path.read_bytes() == wanted:
            continue  # not written again, or the program would be built again
        if not arguments:
            path.write_bytes(wanted)
        else:
            stale.append(f"models/profiles/{name}.json differs; run tools/make_profiles.py")
    if stale:
        sys.exit("\n".join(stale))


if __name__ == "__main__":
    main(sys.argv[1:])

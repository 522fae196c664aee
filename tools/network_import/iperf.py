"""iperf3 --json, one file for each measured pair: a matrix of sites."""

import json
import os
import re
from decimal import Decimal

from .network import Network
from .values import Fault, checked_bits, checked_ps, link, link_of, name_list, shown

SHORT_S = 2


def is_kind(text):
    return text.lstrip().startswith("{") and '"start"' in text and '"end"' in text


def inner(value, *keys):
    """Returns what is at a path of keys and indices; None if nothing is."""
    for key in keys:
        if isinstance(value, dict):
            value = value.get(key)
        else:
            value = value[key] if isinstance(value, list) and isinstance(key, int) and key < len(value) else None
    return value


def number(value, place, what):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e18:
        raise Fault(f"{place}: {what} is {shown(value)}; a positive number is expected")
    return Decimal(value)


def ends_of(file, run, sites):
    """Returns (who sends, who receives)."""
    named = re.fullmatch(r"(.+)-to-(.+)", re.sub(r"\.json$", "", os.path.basename(file)))
    client = inner(run, "start", "connected", 0, "local_host")
    server = inner(run, "start", "connecting_to", "host") or inner(run, "start", "connected", 0, "remote_host")
    if named:
        client, server = named[1], named[2]
    if not isinstance(client, str) or not isinstance(server, str) or not client or not server:
        raise Fault(f"{file}: does not tell who measured whom (start.connected, start.connecting_to); name the file "
                    "CLIENT-to-SERVER.json")
    client, server = sites.get(client, client), sites.get(server, server)
    if client == server:
        raise Fault(f"{file}: {shown(client)} measured itself; a file is of two sites")
    return (server, client) if inner(run, "start", "test_start", "reverse") else (client, server)


def measure(file, run, sites):
    """Returns (sender, receiver, bits per second, one-way ps or None)."""
    if not isinstance(run, dict):
        raise Fault(f"{file}: is not an object of iperf3 --json")
    if isinstance(run.get("error"), str):
        raise Fault(f"{file}: is of a test that failed: {shown(run['error'])}; measure again")
    if inner(run, "start", "test_start", "bidir"):
        raise Fault(f"{file}: is of a test with --bidir, whose directions compete; measure each direction alone")
    if inner(run, "start", "test_start", "protocol") == "UDP":
        raise Fault(f"{file}: is of a test with --udp, which sends at the rate asked for; measure with TCP")
    sender, receiver = ends_of(file, run, sites)
    bits = checked_bits(number(inner(run, "end", "sum_received", "bits_per_second"), file, "end.sum_received.bits_per_second"), file)
    streams = inner(run, "end", "streams")
    trips = [inner(one, "sender", "mean_rtt") for one in streams] if isinstance(streams, list) else []
    trips = [number(one, file, "mean_rtt") for one in trips if one]
    return sender, receiver, bits, checked_ps(sum(trips) / len(trips) * 10**6 / 2, file) if trips else None


def sites_of(texts):
    sites = {}
    for text in texts or []:
        name, equals, addresses = text.partition("=")
        if not equals or not name or not addresses:
            raise Fault(f"--site: {shown(text)} is not NAME=ADDRESS[,ADDRESS...]")
        sites.update(dict.fromkeys(addresses.split(","), name))
    return sites


def read(files, texts, options):
    network = Network(files[0], f"{len(files)} files of iperf3")
    runs, sites, names = {}, sites_of(options.site), {}
    for file, text in zip(files, texts):
        try:
            run = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise Fault(f"{file}: is not JSON: {str(error)[:80]}") from None
        sender, receiver, bits, ps = measure(file, run, sites)
        pair = tuple(sorted((sender, receiver)))
        seconds = inner(run, "end", "sum_received", "seconds")
        if isinstance(seconds, (int, float)) and seconds < SHORT_S:
            network.say(f"{sender} and {receiver}: measured for {seconds:.3g} s, in which TCP hardly reaches its rate")
        if (sender, receiver) in [one[:2] for one in runs.get(pair, [])]:
            raise Fault(f"{file}: {shown(sender)} to {shown(receiver)} was measured twice; give one file of each direction")
        runs.setdefault(pair, []).append((sender, receiver, bits, ps))
    for pair in runs:
        names.update(dict.fromkeys(pair))
    names = sorted(names)
    missing = [f"{a} and {b}" for i, a in enumerate(names) for b in names[i + 1:] if (a, b) not in runs]
    if missing:
        network.refuse(f"nothing was measured between {name_list(missing)}; add a file for each pair")
    add_sites(network, names, options)
    for pair, found in sorted(runs.items()):
        network.cable(*pair, cable_of(network, pair, found, options))
    network.leave_out("what several pairs share: each pair has the bandwidth that was measured for it alone")
    return network


def add_sites(network, names, options):
    count = options.nodes_per_site
    if count > 1 and not options.link:
        network.refuse("--nodes-per-site needs --link, the cables of a site's nodes")
    for name in names:
        if count == 1:
            network.node(name)
            continue
        network.switch(name)
        for i in range(count):
            network.node(f"{name}/{i}")
            network.cable(f"{name}/{i}", name, link_of(options.link, "--link"))


def cable_of(network, pair, found, options):
    trips = [ps for *_, ps in found if ps is not None]
    if not trips:
        network.refuse(f"no file of {pair[0]} and {pair[1]} has a mean_rtt, which a sender on Linux writes; measure without "
                       "--reverse")
    bits = [bits for *_, bits, _ in found]
    if len(found) == 1:
        network.say(f"{pair[0]} and {pair[1]}: measured from {found[0][0]} alone, taken for both directions")
    elif options.both == "mean":
        network.say(f"{pair[0]} and {pair[1]}: the mean of both directions")
    else:
        network.say(f"{pair[0]} and {pair[1]}: the smaller of both directions")
    return link(sum(bits) // len(bits) if options.both == "mean" else min(bits), sum(trips) // len(trips))

"""Slurm's topology.conf of the plugin topology/tree: switches with their nodes or switches below."""

import re

from .network import MOST_NODES, Network
from .values import Fault, link_of, name_list, shown

KEYS = {"switchname", "nodes", "switches", "linkspeed"}


def is_kind(text):
    return re.search(r"^\s*(switchname|blockname)\s*=", text, re.I | re.M) is not None


def split_list(text):
    """Splits at the commas outside of brackets."""
    return [one for one in re.split(r",(?![^\[]*\])", text) if one]


def numbers_of(body, place):
    for part in body.split(","):
        match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part)
        if not match or int(match[2] or match[1]) < int(match[1]):
            raise Fault(f"{place}: {shown(part)} is not a number or range of a host list, such as 0-3")
        if int(match[2] or match[1]) - int(match[1]) > MOST_NODES:
            raise Fault(f"{place}: {shown(part)} has more than {MOST_NODES} hosts")
        for number in range(int(match[1]), int(match[2] or match[1]) + 1):
            yield f"{number:0{len(match[1])}d}"


def hosts_of(text, place):
    """Returns the names of a host list such as tux[0-3,12],login."""
    names = []
    for one in split_list(text):
        made = [""]
        for plain, body in re.findall(r"([^\[\]]+)|\[([^\[\]]*)\]", one):
            parts = [plain] if plain else list(numbers_of(body, place))
            made = [begin + part for begin in made for part in parts]
            if len(made) > MOST_NODES:
                raise Fault(f"{place}: {shown(one)} has more than {MOST_NODES} hosts")
        if one.count("[") != one.count("]") or not all(made):
            raise Fault(f"{place}: {shown(one)} is not a host list, such as tux[0-3,12]")
        names += made
    return names


def lines_of(text):
    """Yields (number, line) without comments; a backslash at the end continues a line."""
    begun, start = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#", 1)[0].rstrip()
        start = start if begun else number
        if line.endswith("\\"):
            begun += line[:-1] + " "
            continue
        if (begun + line).strip():
            yield start, begun + line
        begun = ""
    if begun.strip():
        yield start, begun


def values_of(line, place):
    values = {}
    for word in line.split():
        key, equals, value = word.partition("=")
        key = key.lower()
        if key in ("blockname", "blocksizes", "blocks"):
            raise Fault(f"{place}: is of topology/block, which says which nodes are near each other and no cables; only "
                        "topology/tree (SwitchName=) has them")
        if not equals or key not in KEYS:
            raise Fault(f"{place}: {shown(word)} is unknown; SwitchName=, Nodes=, Switches= and LinkSpeed= are read")
        values[key] = value
    if not values.get("switchname"):
        raise Fault(f"{place}: has no SwitchName=")
    return values


def read(files, texts, options):
    file = files[0]
    network = Network(file, "Slurm's topology.conf")
    if not options.link:
        raise Fault(f"{file}: has no bandwidths: state the nodes' cables by --link, a preset of \"paceline list links\" or "
                    "BANDWIDTH[,LATENCY[,EFFICIENCY]]")
    below = {}
    speeds = []
    for number, line in lines_of(texts[0]):
        place = f"{file}: line {number}"
        values = values_of(line, place)
        for name in hosts_of(values["switchname"], place):
            if name in below:
                raise Fault(f"{place}: switch {shown(name)} is listed twice")
            below[name] = (place, hosts_of(values.get("switches", ""), place), hosts_of(values.get("nodes", ""), place))
            if "linkspeed" in values:
                speeds.append(name)
    join(network, below, link_of(options.link, "--link"), options)
    if speeds:
        network.leave_out(f"LinkSpeed of {name_list(speeds)}: its unit is arbitrary")
    return network


def join(network, below, link, options):
    if any(switches for _, switches, _ in below.values()) and not options.uplink:
        network.refuse("has no bandwidths: state the cables between switches by --uplink, as --link")
    uplink = link_of(options.uplink, "--uplink") if options.uplink else link
    for name, (place, switches, nodes) in below.items():
        network.switch(name)
        if not switches and not nodes:
            raise Fault(f"{place}: switch {shown(name)} has neither Nodes= nor Switches=")
        for node in nodes:
            network.node(node)
            network.cable(node, name, link)
        for switch in switches:
            if switch not in below:
                raise Fault(f"{place}: switch {shown(switch)} is not described; add SwitchName={switch}")
    for name, (_, switches, _) in below.items():
        for switch in switches:
            network.cable(switch, name, uplink)
    network.leave_out("how many cables join two switches: each pair has one, with the bandwidth of --uplink")

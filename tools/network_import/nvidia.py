"""nvidia-smi topo -m: the GPUs of one machine as nodes, joined by NVLink and by a tree of PCIe.

A cable counts as one hop whatever its bandwidth, so a direct NVLink is preferred to PCIe, as it is by the hardware.
"""

import re

from .network import Network
from .values import Fault, bits_of, figures_of, link, name_list, shown

LEVELS = {"PIX": "PCIe switch", "PXB": "PCIe bridges", "PHB": "host bridge", "NODE": "NUMA node", "SYS": "sockets"}
NEAREST = {"SOC": "SYS"}  # drivers before 2018 wrote SOC for SYS
MOST_LINKS = 18  # of one GPU, of any kind up to H100 and H200
NVLINKS = {  # per link and direction, ps from GPU to GPU, efficiency, links of a GPU: as in paceline list links
    "nvlink-1": (bits_of("160Gbps", ""), 5_000_000, 0.915, 4), "nvlink-2": (bits_of("200Gbps", ""), 830_000, 0.958, 6),
    "nvlink-3": (bits_of("200Gbps", ""), 830_000, 0.907, 12), "nvlink-4": (bits_of("200Gbps", ""), 830_000, 0.88, 18)}
PCIE = {"pcie-3.0-x16": ("126.032Gbps", 5_000_000, 0.76), "pcie-4.0-x16": ("252.064Gbps", 1_000_000, 0.835),
        "pcie-5.0-x16": ("504.12Gbps", 1_000_000, 0.862)}


def is_kind(text):
    return re.search(r"^\s*GPU0\s+X\b", text, re.M) is not None


def matrix_of(text, file):
    """Returns (names of GPUs, {(i, j): how they are joined}, other columns, names of the rows of NICs)."""
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in text.splitlines()]
    start = next((i for i, line in enumerate(lines) if re.match(r"\s*GPU0\b(?!\s+X\b)", line)), None)
    if start is None:
        raise Fault(f"{file}: has no row of column names, which begins with GPU0; keep the whole output of nvidia-smi topo -m")
    head = re.findall(r"CPU Affinity|NUMA Affinity|GPU NUMA ID|Affinity|\S+", lines[start])
    gpus = [name for name in head if re.fullmatch(r"GPU\d+", name)]
    if head[:len(gpus)] != gpus or len(set(gpus)) != len(gpus):
        raise Fault(f"{file}: line {start + 1}: the columns of GPUs are not the first ones, one for each GPU")
    rows, others = {}, head[len(gpus):]
    for number, line in enumerate(lines[start + 1:], start + 2):
        words = line.split()
        if words and words[0].startswith("Legend"):
            break
        if not words or words[0] not in gpus:
            continue
        if words[0] in rows or len(words) < 1 + len(gpus):
            raise Fault(f"{file}: line {number}: is not a row of {len(gpus)} GPUs for {words[0]}")
        rows[words[0]] = [NEAREST.get(word, word) for word in words[1:1 + len(gpus)]]
    missing = [name for name in gpus if name not in rows]
    if missing:
        raise Fault(f"{file}: has no row of {name_list(missing)}")
    return gpus, checked_joins(gpus, rows, file), others


def checked_joins(gpus, rows, file):
    joins = {}
    for i, one in enumerate(gpus):
        for j, other in enumerate(gpus):
            word = rows[one][j]
            if (word == "X") != (i == j) or (i != j and word not in LEVELS and not re.fullmatch(r"NV[1-9]\d?", word)):
                raise Fault(f"{file}: {one} to {other} is {shown(word)}; X, NV#, {', '.join(LEVELS)} are known")
            if word != rows[other][i]:
                raise Fault(f"{file}: {one} to {other} is {word}, and back {shown(rows[other][i])}")
            joins[i, j] = word
    return joins


def links_of(word):
    return int(word[2:]) if word.startswith("NV") else 0


def nvlink_of(text):
    """Returns (bits of one link, ps, efficiency, links that a GPU has at most)."""
    return NVLINKS[text] if text in NVLINKS else (*figures_of(text, "--nvlink"), MOST_LINKS)


def pcie_of(text, option):
    if text in PCIE:
        return bits_of(PCIE[text][0], option), *PCIE[text][1:]
    return figures_of(text, option)


def read(files, texts, options):
    file = files[0]
    gpus, joins, others = matrix_of(texts[0], file)
    network = Network(file, "nvidia-smi topo -m")
    for name in gpus:
        network.node(name)
    pairs = [(i, j) for i in range(len(gpus)) for j in range(i + 1, len(gpus))]
    joined = [pair for pair in pairs if links_of(joins[pair])]
    if joined:
        join_by_nvlink(network, gpus, joins, joined, options)
    if len(joined) < len(pairs):
        join_by_pcie(network, gpus, joins, options)
    elif pairs:
        network.leave_out("PCIe: every pair of GPUs has NVLink")
    if others:
        network.leave_out(f"columns {name_list(others, 40)}")
    return network


def join_by_nvlink(network, gpus, joins, joined, options):
    if not options.nvlink:
        network.refuse("has no bandwidths: state one NVLink by --nvlink, one of " + ", ".join(NVLINKS)
                       + " or BANDWIDTH[,LATENCY[,EFFICIENCY]] of one link and direction")
    bits, ps, efficiency, most = nvlink_of(options.nvlink)
    most = options.nvlinks_per_gpu or most
    counts = [[links_of(joins[i, j]) for j in range(len(gpus)) if j != i and links_of(joins[i, j])] for i in range(len(gpus))]
    if max(sum(row) for row in counts) <= most:
        for i, j in joined:
            network.cable(gpus[i], gpus[j], link(bits * links_of(joins[i, j]), ps, efficiency))
        network.say(f"NVLink joins {len(joined)} pairs directly: no GPU needs more than {most} links")
        return
    most_needed = max(sum(row) for row in counts)
    if {len(row) for row in counts} != {len(gpus) - 1} or len({count for row in counts for count in row}) != 1:
        network.refuse(f"direct NVLinks would need {most_needed} links of one GPU, which has {most}, and an NVSwitch joins every "
                       "pair alike; --nvlinks-per-gpu states another number")
    network.switch("NVSwitch")
    for name in gpus:
        network.cable(name, "NVSwitch", link(bits * counts[0][0], ps // 2, efficiency))
    network.say(f"an NVSwitch: direct NVLinks would need {most_needed} links of one GPU, which has {most}")


def join_by_pcie(network, gpus, joins, options):
    if "NVSwitch" in network.switches:
        network.refuse("some pairs have an NVSwitch, and others PCIe alone")
    if not options.pcie:
        network.refuse("has no bandwidths: state PCIe by --pcie, one of " + ", ".join(PCIE)
                       + " or BANDWIDTH[,LATENCY[,EFFICIENCY]]")
    bits, ps, efficiency = pcie_of(options.pcie, "--pcie")
    usual = link(bits, ps // 2, efficiency)
    smp = usual
    if options.smp:
        bits, ps, efficiency = pcie_of(options.smp, "--smp")
        smp = link(bits, ps // 2, efficiency)
    groups = [([i], name, False) for i, name in enumerate(gpus)]
    for level, what in LEVELS.items():
        groups = merged(network, groups, joins, level, what, smp if level == "SYS" else usual, usual)
    if len(groups) > 1:
        network.leave_out(f"PCIe between {name_list(['+'.join(gpus[i] for i in one) for one, *_ in groups])}: no pair tells how")
    if "SYS" in joins.values() and not options.smp:
        network.say("cables between sockets have the bandwidth of --pcie; --smp states another")
    if any(word.startswith("NV") for word in joins.values()):
        network.leave_out("PCIe of pairs with NVLink: the file has no place for it")


def merged(network, groups, joins, level, what, link_up, usual):
    """Returns the groups after those that a pair of this level joins are put under one switch."""
    order = list(LEVELS)
    made, left = [], list(groups)
    while left:
        members = [left.pop(0)]
        grown = True
        while grown:
            near = [one for one in left if any(joins[i, j] == level for m in members for i in m[0] for j in one[0])]
            members += near
            left = [one for one in left if one not in near]
            grown = bool(near)
        if len(members) == 1:
            made += members
            continue
        gpus = sorted(i for one in members for i in one[0])
        far = next(((i, j) for i in gpus for j in gpus
                    if i < j and joins[i, j] in order and order.index(joins[i, j]) > order.index(level)), None)
        if far:
            names = list(network.nodes)
            network.refuse(f"{names[far[0]]} and {names[far[1]]} are {joins[far]}, and others put them on one {what} ({level})")
        name = f"{what} {sum(one.startswith(what) for one in network.switches)}"
        network.switch(name)
        for _, child, _ in members:
            network.cable(child, name, link_up if child in network.switches else usual)
        made.append((gpus, name, True))
    return made

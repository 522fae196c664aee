"""The one clear error of the importer, and quantities: whole bits per second and picoseconds."""

import re
from decimal import Decimal

BANDWIDTH = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)([kMGT]?)([bB])ps")
DURATION = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)(ps|ns|us|ms|s)")
PREFIX = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
PICOSECONDS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}
MOST_BITS = 10**16
MOST_PS = 10**15


class Fault(Exception):
    """What is wrong, where, and what would be right."""


def printable(text, most=200):
    return "".join(c if c.isprintable() else " " for c in str(text)[:most])


def shown(value):
    text = printable(value, 60)
    return f'"{text}"'


def name_list(names, most=8):
    """Returns names for one line of output."""
    names = [printable(name, 60) for name in names]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def bits_of(text, place):
    """Returns bits per second of a bandwidth in paceline's units."""
    match = BANDWIDTH.fullmatch(text.strip())
    if not match:
        raise Fault(f"{place}: {shown(text)} is not a bandwidth, such as 100Gbps or 12.5GBps")
    bits = Decimal(match[1]) * PREFIX[match[2]] * (8 if match[3] == "B" else 1)
    return checked_bits(bits, place)


def checked_bits(bits, place):
    if not 1 <= bits <= MOST_BITS:
        raise Fault(f"{place}: {bits:.6g} bits per second is not a bandwidth of a cable; from 1bps to 10000Tbps")
    return round(bits)


def ps_of(text, place):
    """Returns picoseconds of a latency in paceline's units."""
    match = DURATION.fullmatch(text.strip())
    if not match:
        raise Fault(f"{place}: {shown(text)} is not a latency, such as 5us")
    return checked_ps(Decimal(match[1]) * PICOSECONDS[match[2]], place)


def checked_ps(ps, place):
    if not 0 <= ps <= MOST_PS:
        raise Fault(f"{place}: {ps:.6g} ps is not a latency of a cable; from 0 to 1000s")
    return round(ps)


def bandwidth_text(bits):
    for unit in ("T", "G", "M", "k"):
        if bits >= PREFIX[unit] and bits * 1000 % PREFIX[unit] == 0:
            return f"{Decimal(bits) / PREFIX[unit]:f}{unit}bps"
    return f"{bits}bps"


def duration_text(ps):
    for unit in ("s", "ms", "us", "ns"):
        if ps >= PICOSECONDS[unit] and ps * 1000 % PICOSECONDS[unit] == 0:
            return f"{Decimal(ps) / PICOSECONDS[unit]:f}{unit}"
    return f"{ps}ps"


def link(bits, ps=0, efficiency=None):
    """Returns a link of paceline's JSON."""
    made = {"bandwidth": bandwidth_text(bits), "latency": duration_text(ps)}
    return made if efficiency in (None, 1) else {**made, "efficiency": efficiency}


def efficiency_of(text, place):
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        raise Fault(f"{place}: {shown(text)} is not a share of the rate for payload; above 0, at most 1")
    return value


def figures_of(text, option):
    """Returns (bits, ps, efficiency) of BANDWIDTH[,LATENCY[,EFFICIENCY]]."""
    parts = text.split(",")
    if len(parts) > 3:
        raise Fault(f"{option}: {shown(text)} is not BANDWIDTH[,LATENCY[,EFFICIENCY]], such as 100Gbps,5us,0.94")
    return (bits_of(parts[0], option), ps_of(parts[1], option) if len(parts) > 1 else 0,
            efficiency_of(parts[2], option) if len(parts) > 2 else 1)


def link_of(text, option):
    """Returns the link that an option states: a preset's name, or its figures."""
    if re.fullmatch(r"[a-z0-9][a-zA-Z0-9.-]*", text) and not BANDWIDTH.fullmatch(text):
        return {"preset": text}
    return link(*figures_of(text, option))

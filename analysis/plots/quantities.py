"""Reads numbers and quantities as results.csv has them ("10Gbps"), and writes them as figures show them."""

import math
import re

DURATIONS = {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
SIZES = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
         "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40}
BANDWIDTHS = {"bps": 1.0, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Tbps": 1e12,
              "Bps": 8.0, "kBps": 8e3, "MBps": 8e6, "GBps": 8e9, "TBps": 8e12}
UNITS = {"time": DURATIONS, "size": SIZES, "bandwidth": BANDWIDTHS}


def number(text):
    """Returns the finite number in a cell, or None."""
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


QUANTITY = re.compile(r"([0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?)([A-Za-z]*)")


def quantity(text):
    """Returns ("bandwidth", 1e10) for "10Gbps", ("number", 16.0) for "16", and None for a label.

    The units are those of scenario files (sim/engine/units.cpp): seconds, bytes, bits per second.
    """
    match = QUANTITY.fullmatch(text)
    if not match:
        return None
    value, unit = float(match[1]), match[2]
    if not math.isfinite(value):
        return None
    if not unit:
        return ("number", value)
    for kind, units in UNITS.items():
        if unit in units:
            return (kind, value * units[unit])
    return None


def value_text(text):
    """Returns a value as figures show it: "10Gbps" becomes "10 Gbps"."""
    match = QUANTITY.fullmatch(text)
    if match and quantity(text) and match[2]:
        return f"{match[1]} {match[2]}"
    return text


def engineering(kind, value, digits=3):
    """Formats a number of a kind with a suitable unit: 53e9 of "bandwidth" becomes "53 Gbps"."""
    if kind == "number":
        return f"{value:.{digits}g}"
    units = {"time": ("ps", "ns", "us", "ms", "s"), "size": ("B", "kB", "MB", "GB", "TB"),
             "bandwidth": ("bps", "kbps", "Mbps", "Gbps", "Tbps")}[kind]
    chosen = units[0]
    for unit in units:
        if value >= UNITS[kind][unit] * (1 - 1e-9):
            chosen = unit
    return f"{value / UNITS[kind][chosen]:.{digits}g} {chosen}"


def in_one_unit(texts):
    """Returns a unit that suits all quantities of a list, and their numbers in it: ("Gbps", ["0.1", "1", "25"])."""
    kind = quantity(texts[0])[0]
    values = [quantity(text)[1] for text in texts]
    if kind == "number":
        return "number", [f"{value:.10g}" for value in values]
    unit = engineering(kind, sorted(values)[len(values) // 2]).split()[1]
    return unit, [f"{value / UNITS[kind][unit]:.10g}" for value in values]

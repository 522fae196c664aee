"""The one clear error of the importer, and values of a trace that are checked as they are read."""

import math

MOST_NS = 10**18  # 11 days: longer spans are a fault of the clock, and their sum fits paceline's
MOST_ENTRIES = 2**50  # of a tensor and of a net, as in app/scenario/workload/profiles.cpp
MOST_BATCH = 10**9


class Fault(Exception):
    """What is wrong, where, and what would be right."""


class Reader:
    """Reads the values of one file's objects."""

    def __init__(self, file):
        self.file = file

    def refuse(self, place, problem):
        raise Fault(f"{self.file}: {place}: {problem}" if place else f"{self.file}: {problem}")

    def object(self, value, place):
        if not isinstance(value, dict):
            self.refuse(place, f"{shown(value)} is not an object; write {{...}}")
        return value

    def list(self, value, place):
        if not isinstance(value, list):
            self.refuse(place, f"{shown(value)} is not a list; write [...]")
        return value

    def text(self, json, key, place, otherwise=None):
        value = json.get(key, otherwise)
        if not isinstance(value, str):
            self.refuse(f"{place}.{key}", "is missing; a name in quotes" if value is None else
                        f"{shown(value)} is not a string; a name in quotes")
        return printable(value)

    def microseconds(self, json, key, place, least=None):
        """Returns a time as a number of microseconds."""
        value = json.get(key)
        if value is None:
            self.refuse(f"{place}.{key}", "is missing; a number of microseconds")
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
            value = int(value)  # protobuf writes 64-bit integers as text
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.refuse(f"{place}.{key}", f"{shown(value)} is not a number of microseconds")
        if (isinstance(value, float) and not math.isfinite(value)) or abs(value) > 1e18:
            self.refuse(f"{place}.{key}", f"{shown(value)} is beyond any clock; a number of microseconds")
        if least is not None and value < least:
            self.refuse(f"{place}.{key}", f"{shown(value)} is negative; a duration in microseconds, {least} or more")
        return value

    def nanoseconds(self, json, key, place):
        """Returns a duration, given in microseconds, as a whole number of nanoseconds."""
        ns = round(self.microseconds(json, key, place, least=0) * 1000)
        if ns > MOST_NS:
            self.refuse(f"{place}.{key}", f"{ns // 10**9} s is longer than a step can be; microseconds are expected")
        return ns

    def integer(self, value, place, what):
        """Returns a whole number of 64 bits, which protobuf writes as text."""
        if isinstance(value, str) and len(value) < 20 and value.lstrip("-").isascii() and value.lstrip("-").isdigit():
            value = int(value) if value.count("-") <= 1 else value
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 2**64:
            self.refuse(place, f"{shown(value)} is no {what}, a whole number")
        return value

    def shapes(self, value, place):
        """Returns the shape of each input: a tuple of extents, () of what is not a tensor; of a list of tensors, a list."""
        return [self.shape(one, f"{place}[{i}]") for i, one in enumerate(self.list(value, place))]

    def shape(self, value, place, within=None):
        if not isinstance(value, (list, tuple)):
            self.refuse(place, f"{shown(value)} is not a shape; a list of extents such as [64, 3, 7, 7]")
        if within is None and any(isinstance(extent, (list, tuple)) for extent in value):
            return [self.shape(one, f"{place}[{i}]", value) for i, one in enumerate(value)]
        entries = 1
        for extent in value:
            if isinstance(extent, bool) or not isinstance(extent, int) or extent < 0:
                self.refuse(place, f"{shown(extent)} is not an extent; a whole number, 0 or more")
            entries *= extent
            if entries > MOST_ENTRIES:
                self.refuse(place, f"a tensor has at most {MOST_ENTRIES} entries")
        return tuple(value)


def shown(value):
    """Returns a value as an error shows it."""
    if isinstance(value, int) and abs(value) < 10**20:
        return repr(value)
    try:
        text = printable(repr(value) if not isinstance(value, str) else f'"{value}"')
    except RecursionError:
        text = "[[[...]]]"
    return text if len(text) <= 60 else text[:57] + "..."


def printable(text, most=200):
    """Returns a name without control characters and halves of characters, which paceline's JSON does not carry."""
    return "".join(c if c.isprintable() else " " for c in text[:most])

"""Refuses a processor that the engine was not compiled for, before it is loaded: it would end the interpreter."""

from __future__ import annotations

import os

NEEDED = {"avx2", "fma", "bmi1", "bmi2", "movbe", "f16c"}  # of x86-64-v3, as Linux names them; LZCNT is not always told


def missing(cpuinfo: str) -> set[str]:
    """Returns what the first processor of /proc/cpuinfo lacks; nothing if the file does not list flags."""
    for line in cpuinfo.splitlines():
        if line.startswith("flags"):
            return NEEDED - set(line.partition(":")[2].split())
    return set()


def check_processor() -> None:
    """Raises ImportError, with the words of the program."""
    if os.uname().machine != "x86_64":
        return
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as stream:
            lacks = missing(stream.read(8192))
    except OSError:
        return
    if lacks:
        raise ImportError("paceline: this processor cannot run it: x86-64-v3 is needed, that is AVX2, FMA and BMI "
                          "(processors from 2013 on)")

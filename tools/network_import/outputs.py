"""Where the importer writes: over nothing but its own files, and a whole file or none."""

import contextlib
import hashlib
import os
import re
import stat

from .values import Fault

MARK = re.compile(r'; import_network ([0-9a-f]{16})(?=",\n  "names": )')
MOST_BYTES = 256 << 20


def checksum(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def marked(text):
    """Returns the text of a network with a mark at the end of its source."""
    return text.replace('",\n  "names": ', f'; import_network {checksum(text)}",\n  "names": ', 1)


def is_own(file):
    """Returns whether the importer wrote a file, and nobody has changed it since."""
    try:
        with open(file, encoding="utf-8", newline="") as existing:
            text = existing.read(MOST_BYTES)
    except (OSError, UnicodeDecodeError):
        return False
    mark = MARK.search(text)
    return mark is not None and checksum(text[:mark.start()] + text[mark.end():]) == mark[1]


def refuse(out, inputs, force):
    """Refuses an output that is an input, no regular file, or (but for `force`) not the importer's own."""
    for one in inputs:
        with contextlib.suppress(OSError):
            if os.path.samefile(out, one):
                raise Fault(f"{out}: is an input; name another file by --out")
    try:
        there = os.lstat(out)
    except FileNotFoundError:
        return
    except OSError as error:
        raise Fault(f"{out}: cannot be written: {error.strerror or error}") from None
    if not stat.S_ISREG(there.st_mode):
        raise Fault(f"{out}: is a link or no regular file; name a file itself by --out")
    if not force and not is_own(out):
        raise Fault(f"{out}: was not written by import_network, or was changed since; name another file by --out, or replace "
                    "it by --force")


def write(out, text):
    temporary = os.path.join(os.path.dirname(out) or ".", f"import_network.{os.urandom(8).hex()}.tmp")
    try:
        try:
            with open(temporary, "x", encoding="utf-8", newline="\n") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(temporary, out)
        finally:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
    except OSError as error:
        raise Fault(f"{out}: cannot be written: {error.strerror or error}") from None

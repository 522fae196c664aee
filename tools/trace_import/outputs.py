"""Where the importer writes: over nothing but its own files, and whole files or none.

It knows its own files by their text. A profile's source ends with a checksum of the rest. A scenario is one that it would
write with the same title, profile and update_time. So what a user has changed since is a user's.
"""

import contextlib
import hashlib
import json
import os
import re
import stat

from .fault import Fault
from .profile import scenario_of

MOST_OF_PROFILE = 64 << 20  # bytes; what is larger is taken to be a user's
MOST_OF_SCENARIO = 64 << 10
MARK = re.compile(r'; import_trace ([0-9a-f]{16})(?=",\n  "sample": )')


def checksum(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def marked(text):
    """Returns the text of a profile with a mark at the end of its source."""
    return text.replace('",\n  "sample": ', f'; import_trace {checksum(text)}",\n  "sample": ', 1)


def is_profile(text):
    mark = MARK.search(text)
    return mark is not None and checksum(text[:mark.start()] + text[mark.end():]) == mark[1]


def is_scenario(text):
    if len(text) > MOST_OF_SCENARIO:
        return False
    try:
        made = json.loads(text)
        return text == scenario_of(made["title"], made["workload"]["profile"], made["workload"].get("update_time"))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return False


def is_own(file, is_kind):
    """Returns whether the importer wrote a file, and nobody has changed or protected it since."""
    try:
        with open(file, "rb") as existing:
            there = os.fstat(existing.fileno())
            if there.st_size > MOST_OF_PROFILE or not there.st_mode & stat.S_IWUSR:
                return False
            return is_kind(existing.read(MOST_OF_PROFILE).decode())
    except (OSError, UnicodeDecodeError):
        return False


def status(file, of=os.lstat):
    """Returns what is known of a file; None if there is none."""
    try:
        return of(file)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise cannot_be_written(file, error) from None


def cannot_be_written(file, error):
    return Fault(f"{file}: cannot be written: {error.strerror or error}")


def folder_of(file):
    return os.path.dirname(file) or "."


def same(one, other):
    return one is not None and other is not None and os.path.samestat(one, other)


def refuse_foreign(file, option, is_kind, trace, force):
    """Refuses a file that is the trace, no regular file, or (but for `force`) not the importer's own."""
    with contextlib.suppress(OSError):
        if os.path.samefile(file, trace):
            raise Fault(f"{file}: is the trace itself; name another file by {option}")
    there = status(file)
    if there is None:
        return
    if stat.S_ISLNK(there.st_mode):
        raise Fault(f"{file}: is a symbolic link; name a file itself by {option}")
    if not stat.S_ISREG(there.st_mode):
        raise Fault(f"{file}: is not a regular file; name one by {option}")
    if not force and not is_own(file, is_kind):
        raise Fault(f"{file}: was not written by import_trace, or was changed since; name another file by {option}, or replace "
                    "it by --force")


def refuse(out, scenario, trace, force):
    """Refuses outputs that must not be written. There may be no scenario."""
    refuse_foreign(out, "--out", is_profile, trace, force)
    if not scenario:
        return
    refuse_foreign(scenario, "--scenario", is_scenario, trace, force)
    same_name = (os.path.basename(out) == os.path.basename(scenario)
                 and same(status(folder_of(out), os.stat), status(folder_of(scenario), os.stat)))
    if same_name or same(status(out), status(scenario)):
        raise Fault(f"{scenario}: is also the file of --out; name another one by --scenario")


def open_new(file):
    """Opens a new file in the folder of `file`. Returns (stream, its later name, whether it has that name already)."""
    temporary = os.path.join(folder_of(file), f"import_trace.{os.urandom(8).hex()}.tmp")
    flags = os.O_WRONLY | os.O_CLOEXEC
    if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # not every file system has files without a name
            return open(os.open(folder_of(file), flags | os.O_TMPFILE, 0o666), "wb"), temporary, False
    return open(os.open(temporary, flags | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666), "wb"), temporary, True


def fill(stream, text, replaced):
    """Writes all of a new file, whose rights are those of the file that it replaces, if there is one."""
    stream.write(text.encode())
    stream.flush()
    if replaced is not None:
        os.fchmod(stream.fileno(), stat.S_IMODE(replaced.st_mode))
    os.fsync(stream.fileno())


def give_name(stream, name):
    number = stream.fileno()
    os.link(f"/proc/self/fd/{number}", name, src_dir_fd=number)  # Python follows the link only if a folder is given


def write(texts, refuse_again):
    """Writes {file: text}, all or, if one does not fit, none. Calls `refuse_again` when nothing but names is left.

    New files have no name until they are whole, where the file system has such files: a kill then leaves nothing.
    """
    begun, file = [], None
    try:
        for file, text in texts.items():
            begun.append((file, *open_new(file)))
            fill(begun[-1][1], text, status(file))
        refuse_again()
        for file, stream, temporary, is_named in begun:
            if not is_named:
                give_name(stream, temporary)
            os.replace(temporary, file)
    except OSError as error:
        raise cannot_be_written(file, error) from None
    finally:
        for _, stream, temporary, _ in begun:
            with contextlib.suppress(OSError):
                stream.close()
            with contextlib.suppress(OSError):
                os.unlink(temporary)

r"""Bytes to text to JSON: encodings, and what PyTorch writes that is not JSON.

    torch\cuda\__init__.py   paths of Windows in names, without escapes (pytorch/pytorch#98432, pytorch/kineto#617)
    "config.py(0): \x01"     control characters in names (pytorch/pytorch#136180)
    bytes that are not UTF-8 in names of kernels (pytorch/kineto#80, pytorch/kineto#988)
    nan, inf, N/A            values that JSON cannot spell (pytorch/kineto#750)
    "blocks per SM": 0,015   numbers under a locale whose decimal point is a comma (pytorch/pytorch#191032)

Each of these can be read in one way only, so it is read, and said. A time that is none stays none: it is refused later.
"""

import gzip
import json
import re
import zlib

from .fault import Fault, shown

MOST_BYTES = 2 << 30  # unpacked
GZIP = b"\x1f\x8b"
DECODER = json.JSONDecoder(strict=False)  # takes control characters within names

EXPECTED = ("a Chrome trace of torch.profiler has \"traceEvents\" (prof.export_chrome_trace), a Chakra trace nodes "
            "with \"id\", \"name\" and \"type\"")
OTHER_FILES = {GZIP: "packed by gzip twice; unpack it once",
               b"PK\x03\x04": "a zip archive; unpack it", b"\x28\xb5\x2f\xfd": "compressed by zstd; unpack it",
               b"BZh": "compressed by bzip2; unpack it", b"\xfd7zXZ": "compressed by xz; unpack it",
               b"SQLite format": "a database, as Nsight Systems writes; record with torch.profiler",
               b"<": "HTML or XML, perhaps a page about the file; download the file itself"}
WORDS = {"nan": "NaN", "inf": "Infinity", "infinity": "Infinity", "n/a": "null"}
NO_JSON = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|(?P<comma>(?<=:)\s*-?[0-9]+,[0-9]+(?=\s*[,}]))'
                     r"|(?P<sign>-?)(?<![\w.])(?P<word>nan(?:\(ind\))?|inf(?:inity)?|n/a)(?![\w.])",
                     re.DOTALL | re.IGNORECASE)
BACKSLASH = re.compile(r'\\(["\\]?)')


def pieces_of(source, file):
    """Yields the content of a plain or gzipped file. Refuses what is too large once it has read that much."""
    packed = source.peek(len(GZIP)).startswith(GZIP)
    stream, size = gzip.GzipFile(fileobj=source) if packed else source, 0
    while piece := stream.read(1 << 20):
        size += len(piece)
        if size > MOST_BYTES:
            raise Fault(f"{file}: {'unpacks to' if packed else 'has'} more than {MOST_BYTES >> 30} GiB; record one step "
                        "(schedule=... active=1)")
        yield piece


def read_bytes(file):
    """Returns the content of a plain or gzipped file."""
    try:
        with open(file, "rb") as source:
            if source.seekable():  # a first pass keeps nothing, so that what is too large takes no memory
                for _ in pieces_of(source, file):
                    pass
                source.seek(0)
            return b"".join(pieces_of(source, file))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise Fault(f"{file}: is not a whole gzip file ({error}); copy it again, or unpack it") from None
    except OSError as error:
        raise Fault(f"{file}: cannot be read: {error.strerror or error}") from None


def decode(content, file, warn):
    """Returns the text of UTF-8, UTF-16 or UTF-32, with a byte order mark or without."""
    encoding = json.detect_encoding(content[:8])
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        text = content.decode(encoding, errors="replace")
        if text.lstrip()[:1] in ("{", "["):
            places = text.count("\ufffd")
            warn(f"byte {error.start} is not {encoding.upper()}, as {places} places of the file; each is read as one "
                 "unknown character of a name")
        return text


def read_text(file, warn):
    """Returns the text of a file that begins as JSON does."""
    content = read_bytes(file)
    text = decode(content, file, warn)
    start = text.lstrip()[:1]
    if not start:
        raise Fault(f"{file}: is empty; {EXPECTED}")
    if start not in "{[":
        kind = next((kind for magic, kind in OTHER_FILES.items() if content.startswith(magic)), None)
        found = f"byte 0: is not JSON, which begins with {{ or [, but {shown(content[:8])}: "
        raise Fault(f"{file}: {found}{kind}" if kind else
                    f"{file}: {found}if it is a Chakra trace in protobuf (.et), convert it: chakra_jsonizer "
                    f"--input_filename {file} --output_filename {file}.json")
    return text


def mended(text):
    """Returns (text with what PyTorch writes for JSON as JSON, what was mended: how many of each)."""
    counts = {}

    def count(what):
        counts[what] = counts.get(what, 0) + 1

    def mend(match):
        whole = match[0]
        if match["comma"]:
            count("numbers with a decimal comma")
            return whole.replace(",", ".")
        if match["word"]:
            count("values nan, inf or N/A")
            value = WORDS[match["word"].lower().removesuffix("(ind)")]
            return value if value in ("NaN", "null") else match["sign"] + value
        if "\\" not in whole:
            return whole
        escaped = BACKSLASH.sub(lambda pair: pair[0] if pair[1] else "\\\\", whole)
        if escaped != whole:
            count("names with backslashes")
        return escaped

    return NO_JSON.sub(mend, text), counts


def values_of(text):
    """Returns the JSON values of a text, which stand one after the other (chakra_jsonizer writes one for each node)."""
    values, at = [], 0
    while True:
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        if at == len(text):
            return values
        value, at = DECODER.raw_decode(text, at)
        values.append(value)


def no_json(error, text, file):
    """Returns the fault of a text that cannot be read, with what stands there."""
    cut_off = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
    found = ("the file ends within it, so it is cut off; record or copy it again" if cut_off else
             f"the file has {shown(text[error.pos:error.pos + 24])}; record it again, or copy it in binary mode")
    return Fault(f"{file}: line {error.lineno}, column {error.colno}: is not JSON: {error.msg}; {found}")


def documents_of(text, file, warn):
    """Returns the JSON values of a text; of one that PyTorch wrote badly, what can be read in one way only."""
    try:
        try:
            return values_of(text)
        except json.JSONDecodeError as error:
            better, counts = mended(text)
            if not counts:
                raise no_json(error, text, file) from None
            try:
                values = values_of(better)
            except json.JSONDecodeError as left:
                raise no_json(left, better, file) from None
            found = ", ".join(f"{number} {what}" for what, number in counts.items())
            warn(f"line {error.lineno}, column {error.colno} is not JSON ({error.msg}): the file has {found}, as some "
                 "versions of PyTorch write them; they are read as what they stand for")
            return values
    except RecursionError:
        raise Fault(f"{file}: is nested too deep; {EXPECTED}") from None
    except json.JSONDecodeError:
        raise
    except ValueError as error:  # a number of thousands of digits
        raise Fault(f"{file}: a number is too long: {str(error)[:80]}; times are microseconds") from None

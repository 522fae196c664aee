"""Bytes to JSON, and which kind of trace it is."""

import gzip
import json
import zlib

from .fault import Fault

MOST_BYTES = 2 << 30
DECODER = json.JSONDecoder()

EXPECTED = ("a Chrome trace of torch.profiler has \"traceEvents\" (prof.export_chrome_trace), a Chakra trace nodes with "
            "\"id\", \"name\" and \"type\"")


def read_text(file):
    """Returns the text of a plain or gzipped file."""
    try:
        with open(file, "rb") as source:
            content = source.read(MOST_BYTES + 1)
        if content[:2] == b"\x1f\x8b":
            with gzip.open(file, "rb") as source:
                content = source.read(MOST_BYTES + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise Fault(f"{file}: is no whole gzip file ({error}); copy it again, or unpack it") from None
    except OSError as error:
        raise Fault(f"{file}: cannot be read: {error.strerror or error}") from None
    if len(content) > MOST_BYTES:
        raise Fault(f"{file}: is larger than {MOST_BYTES >> 30} GiB; record one step (schedule=... active=1)")
    start = content.lstrip()[:1]
    if not start:
        raise Fault(f"{file}: is empty; {EXPECTED}")
    if start not in (b"{", b"["):
        raise Fault(f"{file}: byte 0: is no JSON; if it is a Chakra trace in protobuf (.et), convert it: chakra_jsonizer "
                    f"--input_filename {file} --output_filename {file}.json")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Fault(f"{file}: byte {error.start}: is no UTF-8; {EXPECTED}") from None


def documents_of(text, file):
    """Returns the JSON values of a text, which stand one after the other (chakra_jsonizer writes one for each node)."""
    documents, at = [], 0
    while True:
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        if at == len(text):
            return documents
        try:
            document, at = DECODER.raw_decode(text, at)
        except json.JSONDecodeError as error:
            raise Fault(f"{file}: line {error.lineno}, column {error.colno}: is no JSON: {error.msg}; if the file is cut "
                        "off, record it again") from None
        except RecursionError:
            raise Fault(f"{file}: is nested too deep; {EXPECTED}") from None
        except ValueError as error:  # a number of thousands of digits
            raise Fault(f"{file}: a number is too long: {str(error)[:80]}; times are microseconds") from None
        documents.append(document)


def load(file):
    """Returns ("pytorch", events) or ("chakra", nodes) with the place of the list in the file."""
    documents = documents_of(read_text(file), file)
    first = documents[0]
    if len(documents) > 1:
        return "chakra", documents[1:] if is_metadata(first) else documents, ""
    if isinstance(first, dict) and "traceEvents" in first:
        return "pytorch", first["traceEvents"], "traceEvents"
    if isinstance(first, dict) and "nodes" in first:
        return "chakra", first["nodes"], "nodes"
    if isinstance(first, list) and first and isinstance(first[0], dict):
        return ("pytorch" if any(isinstance(e, dict) and "ph" in e for e in first) else "chakra"), first, ""
    raise Fault(f"{file}: holds no trace; {EXPECTED}")


def is_metadata(document):
    """Returns whether it is Chakra's GlobalMetadata, which stands before the nodes."""
    return isinstance(document, dict) and not {"id", "name", "type"} & set(document)

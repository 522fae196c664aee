"""Which kind of trace a file is. What is another kind of JSON is named, with what converts it.

Files that are often taken for a trace:

    execution trace of PyTorch  ExecutionTraceObserver, {"schema": "1.1.1-chakra.0.0.4", "nodes": [...]}: nodes with
                                "attrs", or with "fw_parent" and "rf_id" before, and without times
                                (torch/csrc/profiler/standalone/execution_trace_observer.cpp)
    linked trace                chakra_trace_link joins one with a trace of torch.profiler: the same nodes, with
                                "exclusive_dur" (mlcommons/chakra, src/trace_link)
    feeder's JSON               {"workload_graph": [{"Id", "Name", "NodeType", ...}]} for ASTRA-sim
                                (mlcommons/chakra, src/feeder/JSONNode.cpp)
"""

from .fault import Fault, shown
from .text import EXPECTED, documents_of, read_text

TO_JSON = "chakra_jsonizer --input_filename net.et --output_filename net.json"


def load(file, warn):
    """Returns ("pytorch", events) or ("chakra", nodes) with the place of the list in the file."""
    documents = documents_of(read_text(file, warn), file, warn)
    first = documents[0]
    refuse_other_kinds(first, file)
    if len(documents) > 1:
        return "chakra", documents[1:] if is_metadata(first) else documents, ""
    if isinstance(first, dict) and "traceEvents" in first:
        return "pytorch", first["traceEvents"], "traceEvents"
    if isinstance(first, dict) and "nodes" in first:
        return "chakra", first["nodes"], "nodes"
    if isinstance(first, list) and first and isinstance(first[0], dict):
        return ("pytorch" if any(isinstance(e, dict) and "ph" in e for e in first) else "chakra"), first, ""
    raise Fault(f"{file}: holds no trace, but {content_of(first)}; {EXPECTED}")


def content_of(document):
    """Returns in words what a JSON value holds."""
    if isinstance(document, dict):
        keys = ", ".join(shown(key) for key in list(document)[:6])
        return f"an object with {keys}" if keys else "an empty object"
    if isinstance(document, list):
        return f"a list of {len(document)}, the first of which is {shown(document[0])}" if document else "an empty list"
    return shown(document)


def refuse_other_kinds(document, file):
    if not isinstance(document, dict):
        return
    if "workload_graph" in document and "nodes" not in document:
        raise Fault(f"{file}: is the JSON of Chakra's feeder (\"workload_graph\"), whose nodes tell no layers; import "
                    f"the Chakra trace that it was made of: {TO_JSON}")
    nodes = document.get("nodes")
    nodes = [node for node in nodes[:1000] if isinstance(node, dict)] if isinstance(nodes, list) else []
    if not any("attrs" in node or {"fw_parent", "rf_id"} <= set(node) for node in nodes):
        return
    schema = f"schema {shown(document['schema'])}" if "schema" in document else "without a schema"
    if any("exclusive_dur" in node or "inclusive_dur" in node for node in nodes):
        raise Fault(f"{file}: is what chakra_trace_link writes ({schema}); convert it: chakra_converter PyTorch "
                    f"--input {file} --output net.et, then {TO_JSON}")
    raise Fault(f"{file}: is an execution trace of PyTorch (ExecutionTraceObserver, {schema}), whose nodes have no "
                "times; import what torch.profiler exported beside it (prof.export_chrome_trace), or join both: "
                f"chakra_trace_link --chakra-host-trace {file} --chakra-device-trace EXPORTED.json --output-file "
                f"linked.json, then chakra_converter PyTorch --input linked.json --output net.et, then {TO_JSON}")


def is_metadata(document):
    """Returns whether it is Chakra's GlobalMetadata, which stands before the nodes."""
    return isinstance(document, dict) and not {"id", "name", "type"} & set(document)

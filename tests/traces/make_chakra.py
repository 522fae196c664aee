#!/usr/bin/env python3
"""Makes the Chakra traces of this folder after the schema (mlcommons/chakra, schema/protobuf/et_def.proto).

    tests/traces/make_chakra.py FOLDER

    small-cnn.chakra.json.gz   the operators of small-cnn.pt.trace.json as chakra_converter PyTorch and chakra_jsonizer write
                               them (src/converter/pytorch_converter.py, src/jsonizer/jsonizer.py): JSON objects one after
                               the other, 64-bit integers as texts, durations without what lies within
    data-parallel.chakra.json  three layers as chakra_converter Text writes them (src/converter/text_converter.py), with
                               invented times and sizes
"""

import gzip
import json
import sys
from pathlib import Path

FORWARD, USER = 0, 7


def attribute(name, key, value):
    return {"name": name, key: str(value) if key == "int64Val" else value}


def node(number, name, kind="COMP_NODE", **more):
    return {"id": str(number), "name": name, "type": kind, **more}


def nested(events):
    """Returns (event, number of the event around it, own time in microseconds)."""
    rows, above = [], []
    for event in events:
        while above and rows[above[-1]][0]["ts"] + rows[above[-1]][0]["dur"] <= event["ts"]:
            above.pop()
        rows.append([event, above[-1] if above else None, event["dur"]])
        if above:
            rows[above[-1]][2] -= event["dur"]
        above.append(len(rows) - 1)
    return rows


def operators(trace):
    events = [e for e in trace["traceEvents"] if e["ph"] == "X" and e["cat"] != "python_function"]
    yield node(1, "[pytorch|profiler|execution_trace|thread]", durationMicros="0")
    for i, (event, above, own) in enumerate(nested(events)):
        args = event["args"]
        span = event["cat"] == "user_annotation"
        yield node(i + 2, event["name"], ctrlDeps=[str(1 if above is None else above + 2)], startTimeMicros=str(event["ts"]),
                   durationMicros="0" if span else str(max(own, 0)),
                   inputs={"values": "[]", "shapes": str(args.get("Input Dims", [])), "types": "[]"},
                   attr=[attribute("rf_id", "int64Val", i), attribute("seq_id", "int64Val", args.get("Sequence number", -1)),
                         attribute("scope", "int64Val", USER if span else FORWARD), attribute("tid", "int64Val", 1),
                         attribute("fw_tid", "int64Val", args.get("Fwd thread id", 0)), attribute("is_cpu_op", "boolVal", True)])


# name, microseconds of forward, of the input's gradient and of the weight's, bytes of the weight, operations of forward
LAYERS = [("conv1", 120, 0, 210, 37_632, 236_000_000), ("conv2", 340, 310, 330, 589_824, 1_849_000_000),
          ("fc", 60, 55, 70, 8_192_000, 65_536_000)]


def data_parallel():
    number, before, nodes, backward = 0, None, [], {}

    def add(name, kind="COMP_NODE", depends=None, **more):
        nonlocal number
        nodes.append(node(number, name, kind, dataDeps=[] if depends is None else [str(depends)], **more))
        number += 1
        return number - 1

    for name, forward, _, _, _, operations in LAYERS:
        before = add(f"COMP_NODE_{name}_FWD", depends=before, durationMicros=str(forward),
                     attr=[attribute("num_ops", "int64Val", operations)])
    for i, (name, _, of_input, of_weight, size, _) in reversed(list(enumerate(LAYERS))):
        backward[name] = before = add(f"COMP_NODE_{name}_BWD_WG", depends=before, durationMicros=str(of_weight))
        add(f"COMM_COLL_NODE_{name}_ALLREDUCE", "COMM_COLL_NODE", backward[name],
            attr=[attribute("comm_type", "int64Val", 0), attribute("comm_size", "int64Val", size)])
        if i > 0:
            before = add(f"COMP_NODE_{name}_BWD_IG", depends=before, durationMicros=str(of_input))
    return nodes


def main(folder):
    metadata = {"version": "0.0.4", "attr": [{"name": "schema", "stringVal": "1.0.2-chakra.0.0.4"}]}
    trace = json.loads(Path(folder, "small-cnn.pt.trace.json").read_text())
    with gzip.GzipFile(Path(folder, "small-cnn.chakra.json.gz"), "wb", mtime=0) as out:
        out.write("".join(json.dumps(one, indent=2) + "\n" for one in [metadata, *operators(trace)]).encode())
    text = "".join(json.dumps(one) + "\n" for one in [metadata, *data_parallel()])
    Path(folder, "data-parallel.chakra.json").write_text(text)


if __name__ == "__main__":
    main(sys.argv[1])

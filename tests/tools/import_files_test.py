"""Checks that files are read in every encoding, with the faults of PyTorch's export, and that other files are named."""

import codecs
import gzip
import json
import random
import unittest
from pathlib import Path

from importing import TRACES, Imported, Test, event, two_linears, write

ENCODINGS = {"utf-8-sig": b"", "utf-16": b"", "utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE,
             "utf-32": b""}


def shipped():
    """Returns the text of each shipped trace, by name."""
    return {file.name: (gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()).decode()
            for file in sorted(TRACES.glob("*.json*"))}


class OfFiles(Test):
    def written(self, content, name="net.json"):
        file = Path(self.folder, "in", name)
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(content)
        return file

    def profile(self, content):
        made = Imported(self.written(content), self.folder)
        self.assertEqual(made.code, 0, made.errors)
        return made.profile


class OfEncodings(OfFiles):
    def test_every_encoding_of_json_gives_the_same_profile(self):
        for name, text in shipped().items():
            once = self.profile(text.encode())
            for encoding, mark in ENCODINGS.items():
                for packed in (lambda content: content, gzip.compress):
                    with self.subTest(name=name, encoding=encoding):
                        self.assertEqual(self.profile(packed(mark + text.encode(encoding))), once)

    def test_utf_16_without_a_mark_is_known_by_its_zeros(self):
        text = json.dumps({"traceEvents": two_linears()})
        for encoding in ("utf-16-le", "utf-16-be"):
            self.assertEqual(self.profile(text.encode(encoding)), self.profile(text.encode()))


class OfWhatPyTorchWrites(OfFiles):
    # What stands in a name or a value as PyTorch writes it, and what a warning says about it. text.py has sources.
    BAD_NAMES = [(b"C:\\work\\net.py(12): forward", "names with backslashes"),
                 (b"torch\\cuda\\__init__.py", "names with backslashes"),
                 (b"C:\\users\\net.py", "names with backslashes"),
                 (b"\\\\server\\users\\x.py", "names with backslashes"),
                 (b"config.py(0): \x01\x1f\t", ""), (b"gemm \xff\xfe\x80", "is not UTF-8")]
    BAD_VALUES = [(b"nan", "nan, inf or N/A"), (b"-nan", "nan, inf or N/A"), (b"-nan(ind)", "nan, inf or N/A"),
                  (b"inf", "nan, inf or N/A"), (b"-inf", "nan, inf or N/A"),
                  (b"N/A", "nan, inf or N/A"), (b"0,015152", "decimal comma"), (b"-31,5", "decimal comma")]

    def import_with(self, text, at, inserted):
        return Imported(self.written(text[:at].encode() + inserted + text[at:].encode()), self.folder)

    def test_names_and_values_that_are_no_json_are_read_and_said(self):
        for name, text in shipped().items():
            if '"traceEvents": [' not in text:
                continue
            once, dice = self.profile(text.encode()), random.Random(name)
            places = [at for at in range(len(text)) if text.startswith('{"ph"', at)]
            for i, (bad, said) in enumerate(self.BAD_NAMES + self.BAD_VALUES):
                is_name = i < len(self.BAD_NAMES)
                inserted = (b'{"ph": "X", "cat": "python_function", "name": "' + (bad if is_name else b"x") +
                            b'", "ts": 1, "dur": 1, "q": ' + (b"1" if is_name else bad) + b', "args": {}}, ')
                with self.subTest(name=name, bad=bad):
                    made = self.import_with(text, dice.choice(places), inserted)
                    self.assertEqual(made.code, 0, made.errors)
                    self.assertEqual(made.profile, once)
                    self.assertIn(said, made.errors)

    def test_a_name_beside_a_bad_one_stays_as_it_is(self):
        events = two_linears() + [event("user_annotation", 'say "x" \\ inf, N/A, nan', 9, 11.5),
                                  event("user_annotation", "head", 20, 22.5)]
        text = json.dumps({"traceEvents": events})
        bad = b'{"ph": "X", "cat": "python_function", "name": "C:\\work", "ts": 1, "dur": nan, "args": {}}, '
        made = self.import_with(text, text.index('{"ph"'), bad)
        self.assertEqual(made.code, 0, made.errors)
        self.assertEqual([layer["name"].replace("\\\\", "\\") for layer in made.profile["layers"]],
                         ['say "x" \\ inf, N/A, nan', "head"])

    def test_a_time_that_is_no_number_stays_none(self):
        text = json.dumps({"traceEvents": two_linears()})
        for value in ("nan", "inf", "N/A"):
            with self.subTest(value):
                file = write(self.folder, text.replace('"dur": 10,', f'"dur": {value},', 1))
                self.assertIn("traceEvents[1].dur: ", self.refused(file))


class OfOtherFiles(OfFiles):
    def test_a_file_that_is_cut_off_is_said_to_be_that(self):
        dice = random.Random(1)
        for name, text in shipped().items():
            for _ in range(20):
                half = text[:dice.randrange(2, len(text) - 2)].rstrip()
                if name == "data-parallel.chakra.json" or half.endswith("\n}"):
                    continue  # its nodes stand one after the other, and a cut between them is no fault of JSON
                with self.subTest(name=name, length=len(half)):
                    made = Imported(self.written(half.encode()), self.folder)
                    if made.code != 0:
                        self.assertIn("it is cut off", made.errors)

    def test_what_is_no_json_is_shown(self):
        for content, right in [(b"PK\x03\x04zip", "a zip archive; unpack it"),
                               (b"\x28\xb5\x2f\xfd\x00", "by zstd; unpack it"),
                               (b"<!DOCTYPE html>", "download the file itself"),
                               (b"SQLite format 3\0", "Nsight Systems"),
                               (b"\x1b\x0a\x051.0.2" + bytes(20), "chakra_jsonizer --input_filename"),
                               (b"ts,dur\n", "but b'ts,dur"),
                               (b'{"a": x}', 'column 7: is not JSON: Expecting value; the file has "x}"')]:
            with self.subTest(content):
                self.assertIn(right, self.refused(self.written(content)))

    def test_json_that_is_no_trace_is_shown(self):
        for content, right in [({"a": 1, "b": 2}, 'but an object with "a", "b"; '), ([], "but an empty list"),
                               ([7], "the first of which is 7"), ({}, "an empty object")]:
            with self.subTest(content=content):
                message = self.refused(write(self.folder, content))
                self.assertIn(right, message)
                self.assertIn('has "traceEvents" (prof.export_chrome_trace)', message)

    def node(self, number, **more):
        shapes = {"values": [], "shapes": [], "types": []}
        return {"id": number, "name": "aten::linear", "ctrl_deps": number - 1, "inputs": shapes, "outputs": shapes,
                "attrs": [{"name": "seq_id", "type": "int64", "value": number}], **more}

    def test_execution_traces_of_pytorch_are_named_with_what_converts_them(self):
        old = {"id": 2, "name": "aten::mm", "rf_id": 1, "parent": 1, "fw_parent": 0, "seq_id": 1, "input_shapes": []}
        for nodes, schema in [([self.node(i) for i in range(2, 9)], "1.1.1-chakra.0.0.4"), ([old], "1.0.1"),
                              ([{"id": 1}, old], None)]:
            whole = {**({"schema": schema} if schema else {}), "pid": 1, "nodes": nodes}
            with self.subTest(schema=schema):
                message = self.refused(write(self.folder, whole))
                self.assertIn("is an execution trace of PyTorch", message)
                self.assertIn("whose nodes have no times", message)
                self.assertIn("chakra_trace_link --chakra-host-trace", message)
                self.assertIn(schema or "without a schema", message)

    def test_linked_traces_are_named_with_what_converts_them(self):
        nodes = [self.node(1), self.node(2, exclusive_dur=5, inclusive_dur=7, ts=1)]
        message = self.refused(write(self.folder, {"schema": "1.0.2-chakra.0.0.4", "nodes": nodes}))
        self.assertIn("is what chakra_trace_link writes", message)
        self.assertIn("chakra_converter PyTorch --input", message)

    def test_the_json_of_chakras_feeder_is_named(self):
        graph = [{"Id": 0, "Name": "COMP_NODE_0", "NodeType": 4, "is_cpu_op": False, "runtime": 5, "data_deps": []}]
        message = self.refused(write(self.folder, {"workload_graph": graph}))
        self.assertIn("the JSON of Chakra's feeder", message)
        self.assertIn("chakra_jsonizer", message)


if __name__ == "__main__":
    unittest.main()

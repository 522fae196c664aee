"""Checks what the importer writes over: nothing but what it wrote itself, by whatever name, and whole files or none."""

import contextlib
import gzip
import io
import json
import os
import resource
import signal
import subprocess
import sys
import unittest
import unittest.mock
from pathlib import Path

from importing import ROOT, Test, import_trace, two_linears, write_events

from trace_import import text

PROGRAM = [sys.executable, "-B", str(ROOT / "tools" / "import_trace.py")]
MINE = "a user's own\n"


def below(folder):
    """Returns what a folder has: of each path the content, or where the link leads."""
    return {str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.read_bytes()
            for path in sorted(Path(folder).rglob("*")) if path.is_symlink() or not path.is_dir()}


def direct(name):
    """Returns names of one file that go through no link at the file itself."""
    return [name, f"./{name}", f".//{name}", f"inner/../{name}", f"inner/./..//{name}", f"by-link/{name}",
            f"/proc/self/cwd/{name}", os.path.abspath(name), f"{os.path.abspath('.')}/inner/../{name}"]


def linked(name):
    """Makes links to a file, and returns their names."""
    os.symlink(name, "soft.json")
    os.symlink("soft.json", "twice.json")
    os.symlink(os.path.abspath(name), "inner/far.json")
    handle = os.open(name, os.O_RDONLY)
    return ["soft.json", "twice.json", "inner/far.json", "inner/../soft.json", f"/proc/self/fd/{handle}", f"/dev/fd/{handle}"]


def hard(name):
    os.link(name, "hard.json")
    return ["hard.json", "inner/../hard.json"]


class OfOutputs(Test):
    def setUp(self):
        super().setUp()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        os.mkdir("inner")
        os.symlink(".", "by-link")
        self.trace = write_events(self.folder, two_linears(), "trace.json").name

    def say(self, *arguments):
        """Runs the importer. Returns its exit code and its errors."""
        errors = io.StringIO()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
            code = import_trace.main(list(arguments))
        return code, "".join(line for line in errors.getvalue().splitlines(True) if ": warning: " not in line)

    def imports(self, *arguments):
        self.assertEqual(self.say(*arguments), (0, ""))

    def leaves_all(self, *arguments, names=(), right=""):
        """Checks that the importer refuses in one line with these names, and that no file is changed, made or gone."""
        before = below(self.folder)
        code, errors = self.say(*arguments)
        self.assertEqual((code, errors.count("\n")), (2, 1), errors)
        for name in (*names, right):
            self.assertIn(name, errors)
        self.assertEqual(below(self.folder), before)

    def each_output(self, name):
        """Returns the arguments that make `name` each of the outputs."""
        return [("--out", name), ("--out", "net.json", "--scenario", name), ("--out", name, "--scenario", "curve.json")]


class OfInputs(OfOutputs):
    def test_the_trace_is_never_written_over_whatever_it_is_called(self):
        for name in (*direct("trace.json"), *linked("trace.json"), *hard("trace.json")):
            for output in self.each_output(name):
                for force in ((), ("--force",)):
                    with self.subTest(output=output, force=force):
                        self.leaves_all(self.trace, *output, *force, names=[f"{name}: is the trace itself"])

    def test_the_trace_may_be_the_one_that_is_a_link(self):
        for name in (*direct("trace.json"), *linked("trace.json"), *hard("trace.json")):
            for output in self.each_output("trace.json"):
                with self.subTest(name=name, output=output):
                    self.leaves_all(name, *output, "--force", names=["trace.json: is the trace itself"])
            if os.path.basename(name) == "trace.json":
                self.leaves_all(name, "--force", names=["trace.json: is the trace itself"])


class OfOtherFiles(OfOutputs):
    def test_what_a_user_wrote_is_replaced_only_on_request(self):
        for name in direct("mine.json"):
            for output in self.each_output(name):
                with self.subTest(output):
                    Path("mine.json").write_text(MINE)
                    self.leaves_all(self.trace, *output, names=[name], right="--force")
                    self.imports(self.trace, *output, "--force")
                    json.loads(Path("mine.json").read_text())

    def test_links_are_not_followed(self):
        Path("mine.json").write_text(MINE)
        os.symlink("nothing.json", "dangling.json")
        os.symlink("/dev/stdout", "terminal.json")
        for name in (*linked("mine.json"), "dangling.json", "terminal.json"):
            for output in self.each_output(name):
                for force in ((), ("--force",)):
                    with self.subTest(output=output, force=force):
                        self.leaves_all(self.trace, *output, *force, names=[name], right="is a symbolic link")

    def test_another_name_of_what_is_replaced_keeps_its_content(self):
        Path("mine.json").write_text(MINE)
        for name in hard("mine.json"):
            for output in self.each_output(name):
                with self.subTest(output):
                    os.unlink("hard.json")
                    os.link("mine.json", "hard.json")
                    self.leaves_all(self.trace, *output, names=[name], right="--force")
                    self.imports(self.trace, *output, "--force")
                    self.assertEqual(Path("mine.json").read_text(), MINE)

    def test_what_is_no_regular_file_is_refused(self):
        os.mkfifo("pipe")
        for name in ("inner", "inner/", ".", "..", "pipe", "trace.json/x.json", "no/x.json", "mine/"):
            for output in self.each_output(name):
                for force in ((), ("--force",)):
                    with self.subTest(output=output, force=force):
                        before = sorted(os.listdir("."))
                        code, errors = self.say(self.trace, *output, *force)
                        self.assertEqual((code, errors.count("\n")), (2, 1), errors)
                        self.assertIn(name, errors)
                        self.assertEqual(sorted(os.listdir(".")), before)

    def test_outputs_are_two_files(self):
        for name in direct("new.json"):
            for other in direct("new.json"):
                with self.subTest(name=name, other=other):
                    self.leaves_all(self.trace, "--out", name, "--scenario", other, "--force", names=[other, "--out"])
        self.leaves_all(self.trace, "--name", "net", "--scenario", "net.json", names=["net.json", "--out"])
        self.imports(self.trace, "--out", "old.json")
        for name in hard("old.json"):
            with self.subTest(name):  # a user may keep the old file by another name, but not as the other output
                self.leaves_all(self.trace, "--out", "old.json", "--scenario", name, "--force", names=[name, "--out"])

    def test_the_default_is_in_this_folder_whatever_the_net_is_called(self):
        self.imports(self.trace, "--name", "../inner/net")
        self.assertTrue(Path("..-inner-net.json").exists())

    def test_names_with_odd_characters_are_told_in_one_line(self):
        Path("new\nline\x1b[31m.json").write_text(MINE)
        self.leaves_all(self.trace, "--out", "new\nline\x1b[31m.json", names=["new line [31m.json"])


class OfOwnFiles(OfOutputs):
    BOTH = ("--out", "own.json", "--scenario", "curve.json")

    def test_what_the_importer_wrote_is_replaced(self):
        self.imports(self.trace, *self.BOTH)
        once = below(self.folder)
        self.imports(self.trace, *self.BOTH)
        self.assertEqual(below(self.folder), once)
        longer = write_events(self.folder, [{**e, "dur": e["dur"] * 2, "ts": e["ts"] * 2} for e in two_linears()], "longer.json")
        self.imports(str(longer), *self.BOTH, "--batch", "7", "--name", "x; import_trace 0123456789abcdef")
        twice = below(self.folder)
        for name in ("own.json", "curve.json"):
            self.assertNotEqual(twice[name], once[name])
        self.imports(self.trace, *self.BOTH)
        self.assertEqual({name: content for name, content in below(self.folder).items() if name != "longer.json"}, once)

    def test_neither_output_is_written_if_one_is_refused(self):
        Path("mine.json").write_text(MINE)
        self.leaves_all(self.trace, "--out", "new.json", "--scenario", "mine.json", names=["mine.json"])
        self.leaves_all(self.trace, "--out", "mine.json", "--scenario", "new.json", names=["mine.json"])

    def test_a_profile_is_no_scenario_and_the_reverse(self):
        self.imports(self.trace, *self.BOTH)
        self.leaves_all(self.trace, "--out", "curve.json", names=["curve.json"], right="--force")
        self.leaves_all(self.trace, "--out", "new.json", "--scenario", "own.json", names=["own.json"], right="--force")

    def test_what_was_changed_since_is_replaced_only_on_request(self):
        self.imports(self.trace, *self.BOTH)
        for name, changes in {"own.json": [("10us", "11us"), ('"batch": 4', '"batch": 5'), ("aten::linear", "fc"), (": ", ":")],
                              "curve.json": [('"star"', '"ring"'), ("25MB", "1MB"), ("16]", "16, 32]"), (": ", ":")]}.items():
            text = Path(name).read_text()
            for old, new in [*changes, ("{", "{ "), (text, text + "\n"), (text, text[:-9]), (text, "")]:
                with self.subTest(name=name, new=new[-20:]):
                    self.assertIn(old, text)
                    Path(name).write_text(text.replace(old, new, 1))
                    self.leaves_all(self.trace, *self.BOTH, names=[name], right="--force")
            Path(name).write_text(text)
            os.chmod(name, 0o444)
            self.leaves_all(self.trace, *self.BOTH, names=[name], right="--force")
            os.chmod(name, 0o640)
        self.imports(self.trace, *self.BOTH)
        self.assertEqual(Path("own.json").stat().st_mode & 0o777, 0o640)

    def test_a_scenario_finds_its_profile_from_another_folder(self):
        os.makedirs("deep/er")
        os.symlink("deep/er", "short")
        for scenario in ("curve.json", "inner/curve.json", "short/curve.json", "short/../curve.json"):
            with self.subTest(scenario):
                self.imports(self.trace, "--out", "by-link/own.json", "--scenario", scenario)
                named = json.loads(Path(scenario).read_text())["workload"]["profile"]
                self.assertTrue(os.path.samefile(os.path.join(os.path.dirname(scenario) or ".", named), "own.json"))


class OfWriting(OfOutputs):
    def test_a_disk_without_room_leaves_the_old_files(self):
        self.imports(self.trace, "--out", "own.json", "--scenario", "curve.json")
        before = below(self.folder)
        size = os.path.getsize("own.json")
        for most, name in ((0, "own.json"), (size // 2, "own.json"), (size - 1, "own.json")):
            for arguments in (["--out", "own.json"], ["--out", "own.json", "--scenario", "curve.json"],
                              ["--out", "new.json", "--scenario", "new-curve.json"]):
                with self.subTest(most=most, arguments=arguments):
                    done = subprocess.run([*PROGRAM, self.trace, *arguments], capture_output=True, text=True, check=False,
                                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
                    errors = [line for line in done.stderr.splitlines() if ": warning: " not in line]
                    self.assertEqual((done.returncode, len(errors)), (2, 1), done.stderr)
                    self.assertIn("cannot be written: File too large", errors[0])
                    self.assertEqual(below(self.folder), before)

    def test_ctrl_c_ends_it_without_a_traceback(self):
        os.mkfifo("pipe.json")
        process = subprocess.Popen([*PROGRAM, "pipe.json", "--out", "new.json"], stderr=subprocess.PIPE)
        with open("pipe.json", "wb"):  # opens when the importer does
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=20)
        self.assertEqual((process.returncode, errors), (130, b""))
        self.assertFalse(os.path.exists("new.json"))


class OfSizes(OfOutputs):
    LIMIT = 256 << 20  # of memory; the trace may unpack to more than that

    def run_within(self, *arguments, **how):
        """Runs the importer with little memory. Returns its exit code and its errors."""
        done = subprocess.run([*PROGRAM, *arguments, "--out", "new.json"], capture_output=True, text=True, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (self.LIMIT, self.LIMIT)), **how)
        return done.returncode, "".join(line for line in done.stderr.splitlines(True) if ": warning: " not in line)

    def test_a_trace_needs_little_memory_if_it_is_small(self):
        self.assertEqual(self.run_within(self.trace), (0, ""))
        Path("packed.json.gz").write_bytes(gzip.compress(Path(self.trace).read_bytes()))
        self.assertEqual(self.run_within("packed.json.gz"), (0, ""))
        with open("packed.json.gz", "rb") as packed, subprocess.Popen(["cat"], stdin=packed, stdout=subprocess.PIPE) as pipe:
            self.assertEqual(self.run_within("/dev/stdin", stdin=pipe.stdout), (0, ""))

    def test_what_is_larger_than_the_limit_is_refused_in_little_memory(self):
        self.assertEqual(self.run_within("/dev/zero"), (2, "import_trace: /dev/zero: has more than 2 GiB; record one step "
                                                           "(schedule=... active=1)\n"))

    def test_the_limit_is_of_what_is_unpacked(self):
        content = Path(self.trace).read_bytes().ljust(1 << 20)
        for name, pack, found in (("plain.json", bytes, "has more than"), ("packed.json.gz", gzip.compress, "unpacks to more than")):
            with self.subTest(name), unittest.mock.patch.object(text, "MOST_BYTES", len(content)):
                Path(name).write_bytes(pack(content))
                self.imports(name, "--out", "net.json")
                Path(name).write_bytes(pack(content) + pack(b" "))
                self.leaves_all(name, "--out", "net.json", names=[name], right=found)

    def test_what_is_packed_twice_is_named(self):
        Path("twice.json.gz").write_bytes(gzip.compress(gzip.compress(b" " * (64 << 20))))
        code, errors = self.run_within("twice.json.gz")
        self.assertEqual((code, errors.count("\n")), (2, 1), errors)
        self.assertIn("twice.json.gz: ", errors)
        self.assertIn("packed by gzip twice; unpack it once", errors)

    def test_what_memory_does_not_hold_is_refused_in_one_line(self):
        content = b'{"traceEvents": [' + b"[]," * (20 << 20) + b"[]]}"
        Path("wide.json").write_bytes(content)
        Path("wide.json.gz").write_bytes(gzip.compress(content, 1))
        for name in ("wide.json", "wide.json.gz"):
            with self.subTest(name):
                code, errors = self.run_within(name)
                self.assertEqual((code, errors.count("\n")), (2, 1), errors)
                self.assertIn(f"{name}: needs more memory than there is", errors)


if __name__ == "__main__":
    unittest.main()

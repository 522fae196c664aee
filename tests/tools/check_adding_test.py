#!/usr/bin/env python3
"""Tests that tools/check_adding.py finds what a page says and its patch, or the tree, does not."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import check_adding  # noqa: E402
from check_pages import Failure  # noqa: E402

BEFORE = "one\ntwo\nthree\n"
AFTER = "one\nint twice(int x) {\n    return 2 * x;\n}\ntwo\nthree\nfour\n"
PAGE = """\
# Add a number

| file | content |
|---|---|
| `numbers.txt` | `twice` |
| `new/file.txt` | nothing else |

```sh
git apply docs/adding/number.patch
echo before
cmake --preset release -D PACELINE_TESTS='sim/(engine|numeric)|papers'
cmake --build build/release --target paceline paceline_tests
build/release/tests/paceline_tests -tc='units*,papers*'
echo after
```

```cpp
int twice(int x) {
    return 2 * x;
}
```

Write `study.json`:

```json
{"stop": {}}
```

```sh
cat study.json
```

```text
{"stop": {}}
```
""".replace("`twice`", "a function")


def make_patch(folder):
    """Returns a patch that adds lines at two places of one file, and another file."""
    (folder / "numbers.txt").write_text(BEFORE)
    for command in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    (folder / "numbers.txt").write_text(AFTER)
    (folder / "new").mkdir()
    (folder / "new" / "file.txt").write_text("new\n")
    subprocess.run(["git", "add", "--intent-to-add", "new/file.txt"], cwd=folder, check=True)
    return subprocess.run(["git", "diff"], cwd=folder, check=True, capture_output=True, text=True).stdout


with tempfile.TemporaryDirectory() as name:
    PATCH = make_patch(pathlib.Path(name))


class Pages(unittest.TestCase):
    def refused(self, old, new, *words):
        self.assertIn(old, PAGE)
        with self.assertRaises(Failure) as caught:
            check_adding.compare(PAGE.replace(old, new, 1), PATCH)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_a_page_that_agrees_with_its_patch(self):
        check_adding.compare(PAGE, PATCH)

    def test_a_block_that_is_not_in_the_patch(self):
        self.refused("2 * x", "x + x", "x + x", "not among the lines")
        self.refused("int twice(int x) {", "two\nint twice(int x) {", "not among the lines")  # a line of the tree
        self.refused("    return", "  return", "not among the lines")

    def test_lines_of_two_places_are_not_one_block(self):
        self.refused("    return 2 * x;\n}\n", "    return 2 * x;\n}\nfour\n", "not among the lines")

    def test_the_list_of_files(self):
        self.refused("| `new/file.txt` | nothing else |\n", "", "new/file.txt")
        self.refused("`new/file.txt`", "`new/other.txt`", "new/file.txt", "new/other.txt")

    def test_a_block_that_nobody_fences(self):
        self.refused("# Add a number\n", "# Add a number\n\n    int x;\n", "indented")

    def test_json_is_of_the_patch_unless_it_is_the_input_of_commands(self):
        self.refused("`study.json`", "`scenarios/study.json`", '{"stop": {}}')

    def test_a_command_that_is_missing(self):
        self.refused("git apply docs/adding/number.patch\n", "", "git apply")
        self.refused("build/release/tests/paceline_tests -tc='units*,papers*'\n", "", "paceline_tests")

    def test_what_stands_above_the_build_runs_before_it(self):
        above, below = check_adding.commands_of(PAGE)
        self.assertEqual(above, [("run", "echo before\n", None)])
        self.assertEqual(below, [("run", "echo after\n", None), ("write", "study.json", '{"stop": {}}\n'),
                                 ("run", "cat study.json\n", ['{"stop": {}}'])])


class Filters(unittest.TestCase):
    TESTS = {"units*": ["units: one", "units: two"], "*two": ["units: two", "papers: two"]}

    def test_a_filter_without_a_match(self):
        with self.assertRaisesRegex(Failure, r"'unit\*'"):
            check_adding.tests_of(["units*,unit*"], lambda part: self.TESTS.get(part, []))

    def test_a_test_of_two_filters_runs_once(self):
        parts = check_adding.tests_of(["units*,*two", "units*"], lambda part: self.TESTS.get(part, []))
        self.assertEqual(parts, [["units: one", "units: two"], ["papers: two"]])

    def test_what_ctest_runs_is_left_to_it(self):
        files = {"units: one": "/tests/sim/units_test.cpp", "units: two": "/tests/sim/units_test.cpp", "papers: two": "/tests/papers/papers_test.cpp"}
        parts = [["units: one", "units: two"], ["papers: two"]]
        self.assertEqual(check_adding.without(parts, files, ["/tests/(sim|app)/"]), [["papers: two"]])
        self.assertEqual(check_adding.without(parts, files, []), parts)

    def test_an_alternative_of_an_expression_without_a_match(self):
        files = ["tests/sim/engine/units_test.cpp", "sim/numeric/sums.cpp"]
        check_adding.check_expression("sim/(engine|numeric)|units", files)
        with self.assertRaisesRegex(Failure, "'sim/numeric'"):
            check_adding.check_expression("sim/engine|sim/numeric", files)


class Trees(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.source, self.patch = self.folder / "source", self.folder / "number.patch"
        self.source.mkdir()
        (self.source / "numbers.txt").write_text(BEFORE)
        self.patch.write_text(PATCH)

    def stage(self):
        names = [path.name for path in self.source.iterdir()]
        check_adding.copy_with_patches(self.source, names, [self.patch], self.folder / "staged")
        return check_adding.update(self.folder / "tree", self.folder / "staged")

    def test_a_patch_that_applies(self):
        self.assertEqual(self.stage(), {"numbers.txt", "new/file.txt"})
        self.assertEqual((self.folder / "tree" / "numbers.txt").read_text(), AFTER)

    def test_a_patch_that_does_not_apply(self):
        (self.source / "numbers.txt").write_text("one\n2\nthree\n")
        with self.assertRaisesRegex(Failure, "number.patch does not apply"):
            self.stage()

    def test_files_that_are_equal_are_left_alone_and_those_that_went_go(self):
        self.stage()
        tree = self.folder / "tree"
        (tree / "made.txt").write_text("by a command\n")
        before = (tree / "new" / "file.txt").stat().st_mtime_ns
        (self.source / "other.txt").write_text("other\n")
        self.stage()
        self.assertEqual((tree / "new" / "file.txt").stat().st_mtime_ns, before)
        self.assertEqual((tree / "other.txt").read_text(), "other\n")
        self.patch.write_text(PATCH[PATCH.index("diff --git a/numbers.txt") :])
        self.stage()
        self.assertFalse((tree / "new" / "file.txt").exists())
        self.assertTrue((tree / "made.txt").exists())


if __name__ == "__main__":
    unittest.main()

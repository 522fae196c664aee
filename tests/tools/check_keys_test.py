#!/usr/bin/env python3
"""Tests that tools/check_keys.py finds what a page says of keys and the schema does not."""

import copy
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import check_keys  # noqa: E402

DEFINITIONS = {
    "algorithm": {"oneOf": [{"$ref": "#/definitions/slow"}]},
    "share": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
    "slow": {"required": ["kind", "mixing"], "properties": {
        "kind": {"const": "slow"},
        "label": {"type": "string"},
        "mixing": {"type": "object", "properties": {"rows": {"type": "integer", "minimum": 1, "description": "default: as a square"}}},
        "density": {"$ref": "#/definitions/share", "default": 0.01},
        "rank": {"type": "integer", "minimum": 1, "maximum": 64, "default": 2},
        "steps": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 8},
        "base": {"enum": ["local", "mean"], "default": "local"},
        "masking": {"type": "boolean", "default": True},
    }},
}
FAMILIES = "| page | algorithms |\n|---|---|\n| [some](algorithms/some.md): slow ones | `slow` |\n"
PAGE = """\
# Some

## Slow: `{"kind": "slow"}`

| key | default | values | effect |
|---|---|---|---|
| `mixing` | required | an object | neighbors |
| `mixing.rows` | as a square | from 1 | of it |
| `density`, `rank` | 0.01, 2 | (0, 1], 1 to 64 | more bytes |
| `steps` | 8 | steps, 1 or more | tau |
| `base` | `local` | `local`, `mean` | what trains |
| `masking` | true | | of entries |
"""


def found(old="", new="", text=PAGE):
    """Returns the problems of the page with one change."""
    assert old in text
    pages = {"docs/algorithms.md": FAMILIES, "docs/algorithms/some.md": text.replace(old, new, 1)}
    return check_keys.problems(pages, check_keys.Schema({"definitions": copy.deepcopy(DEFINITIONS)}))


class TablesOfKeys(unittest.TestCase):
    def assert_one(self, problems, *words):
        self.assertEqual(len(problems), 1, problems)
        for word in ("docs/algorithms/some.md", *words):
            self.assertIn(word, problems[0])

    def test_a_page_that_agrees_has_no_problem(self):
        self.assertEqual(found(), [])

    def test_a_key_that_the_schema_does_not_have(self):
        self.assert_one(found("| `masking` |", "| `masking`, `momentum` |"), "`momentum`", "no such key")
        self.assert_one(found("`mixing.rows`", "`mixing.columns`"), "`mixing.columns`", "no such key")

    def test_another_default(self):
        self.assert_one(found("0.01, 2", "0.01, 3"), "`rank`", "default 3", "default 2")
        self.assert_one(found("| true |", "| false |"), "`masking`", "default true")
        self.assert_one(found("| 8 |", "| - |"), "`steps`", "default 8")

    def test_required_where_it_is_not_and_a_default_where_it_is(self):
        self.assert_one(found("| 8 |", "| required |"), "`steps`", "does not require")
        self.assert_one(found("| required |", "| none |"), "`mixing`", "requires it")

    def test_another_range(self):
        self.assert_one(found("1 to 64", "from 1"), "`rank`", "[1, 64]")
        self.assert_one(found("(0, 1]", "[0, 1]"), "`density`", "(0, 1]")
        self.assert_one(found("steps, 1 or more", "steps, 0 or more"), "`steps`", "[1, 1000000]")

    def test_a_bound_against_overflow_need_not_be_told(self):
        self.assertEqual(found("steps, 1 or more", "1 to 1000000"), [])
        self.assert_one(found("steps, 1 or more", "1 to 1000"), "`steps`", "[1, 1000000]")

    def test_other_names(self):
        self.assert_one(found("`local`, `mean` |", "`local`, `median` |"), "`base`", "local, mean")
        self.assert_one(found("`local`, `mean` |", "`local` |"), "`base`", "local, mean")

    def test_a_key_that_no_page_tells(self):
        self.assert_one(found("| `masking` | true | | of entries |\n", ""), "slow", "`masking`")

    def test_a_key_may_be_told_before_the_sections_or_in_a_sentence(self):
        without = PAGE.replace("| `masking` | true | | of entries |\n", "")
        self.assertEqual(found("# Some\n", "# Some\n\nAll have `masking`.\n", without), [])
        self.assertEqual(found("| `mixing` |", "| `mixing` |", without + "\nKeys: `masking`.\n"), [])

    def test_a_table_of_which_nobody_says_what_it_is_about(self):
        self.assert_one(found("# Some\n", "# Some\n\n| key | default |\n|---|---|\n| `rows` | 1 |\n"), "PLACES")

    def test_code_and_tables_of_commands_are_no_tables_of_keys(self):
        more = "\n```text\n| key | default |\n|---|---|\n| `rows` | 1 |\n```\n\n| option | default |\n|---|---|\n| `--rows` | 1 |\n"
        self.assertEqual(found(text=PAGE + more), [])


if __name__ == "__main__":
    unittest.main()

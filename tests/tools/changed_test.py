#!/usr/bin/env python3
"""What `make changed` chooses to run for a change. Run: python3 changed_test.py"""

import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import changed  # noqa: E402

TEXTS = {"sim/network/flow.cpp": '#include "sim/network/flow.hpp"\n',
         "sim/collectives/ring.cpp": '#include "sim/network/flow.hpp"\n#include "sim/engine/time.hpp"\n',
         "app/run/run_point.hpp": '#include "sim/collectives/ring.hpp"\n'}


class Tests(unittest.TestCase):
    def test_a_source_runs_its_room_and_the_rooms_that_include_its_header(self):
        expected = ["*/tests/sim/collectives/*", "*/tests/sim/network/*"]
        self.assertEqual(changed.tests_of(["sim/network/flow.cpp"], TEXTS), expected)
        self.assertEqual(changed.tests_of(["sim/network/flow.hpp", "README.md"], TEXTS), expected)

    def test_a_test_runs_itself_unless_its_room_runs_or_it_is_gone(self):
        test = next(Path(changed.ROOT, "tests/sim/network").glob("*_test.cpp")).relative_to(changed.ROOT).as_posix()
        self.assertEqual(changed.tests_of([test, "tests/sim/network/gone_test.cpp"], TEXTS), [f"*/{test}"])
        self.assertEqual(changed.tests_of([test, "sim/network/other.cpp"], TEXTS), ["*/tests/sim/network/*"])

    def test_nothing_runs_for_a_page_alone(self):
        self.assertEqual(changed.tests_of(["docs/tutorial.md"], TEXTS), [])


class Pages(unittest.TestCase):
    def test_a_touched_page_and_pages_that_name_a_touched_key_run(self):
        self.assertEqual(changed.pages_of(["docs/tutorial.md", "docs/design.md"], ""), ["docs/tutorial.md"])
        named = changed.pages_of([], '+        "straggler_key_of_no_page": {\n-        "recompute": {\n   "nodes": {\n')
        self.assertTrue(named)
        self.assertLess(len(named), 10)
        for page in named:
            self.assertIn("recompute", Path(changed.ROOT, page).read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()

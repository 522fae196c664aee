#!/usr/bin/env python3
"""Tests that tools/check_layers.py counts the files of folders. Its rules for lines have cases of their own: --self-test."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import check_layers  # noqa: E402


class CheckLayersTest(unittest.TestCase):
    def faults_of(self, count):
        with tempfile.TemporaryDirectory() as folder:
            room = pathlib.Path(folder) / "models" / "nets"
            (room / "layers").mkdir(parents=True)
            for i in range(count):
                (room / f"net{i}.hpp").write_text("")
            (room / "layers" / "a.cpp").write_text("")  # of another folder
            (room / "CMakeLists.txt").write_text("")
            return check_layers.check(pathlib.Path(folder))[1]

    def test_a_folder_has_at_most_40_files(self):
        self.assertEqual(self.faults_of(40), [])
        [fault] = self.faults_of(41)
        self.assertRegex(fault, r"^models/nets: 41 C\+\+ files; allowed: 40")


if __name__ == "__main__":
    unittest.main()

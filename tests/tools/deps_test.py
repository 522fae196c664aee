#!/usr/bin/env python3
"""Tests what tools/deps.sh says on a system without apt."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

DEPS = pathlib.Path(__file__).resolve().parents[2] / "tools" / "deps.sh"


def deps_with(programs, *arguments):
    """Runs deps.sh with these programs in reach and no others, not even apt-get."""
    with tempfile.TemporaryDirectory() as folder:
        for program in ("bash", "env", "awk"):
            os.symlink(shutil.which(program), f"{folder}/{program}")
        for program in programs:
            os.symlink("/bin/true", f"{folder}/{program}")
        return subprocess.run(["bash", DEPS, *arguments], env={"PATH": folder}, capture_output=True, text=True,
                              check=False)


class WithoutApt(unittest.TestCase):
    def test_it_says_that_nothing_was_installed_and_what_was_tried(self):
        run = deps_with([], "--demo")
        self.assertEqual(run.returncode, 1)
        self.assertIn("nothing was installed", run.stderr)
        self.assertIn("tested on Debian 12 and 13", run.stderr)
        self.assertIn("nobody has tried it", run.stderr)

    def test_fedora_gets_fedoras_names(self):
        said = deps_with(["dnf"], "--demo").stderr
        self.assertIn("eigen3-devel", said)
        self.assertIn("and the equivalents of Debian's: libspectra-dev", said)
        self.assertNotIn("conda", said)

    def test_other_systems_get_the_names_of_conda_forge_and_of_debian(self):
        said = deps_with([], "--demo").stderr
        self.assertIn("spectra-cpp", said)
        self.assertIn("libspectra-dev", said)

    def test_node_is_installed_only_where_there_is_none(self):
        self.assertRegex(deps_with([], "--explorer").stderr, r"\bnodejs npm\b")
        self.assertNotRegex(deps_with(["node", "npm"], "--explorer").stderr, r"\bnodejs\b")


if __name__ == "__main__":
    unittest.main()

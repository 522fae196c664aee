#!/usr/bin/env python3
"""Tests what tools/deps.sh says on a system without apt, and where apt waits or fails."""

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


class WithApt(unittest.TestCase):
    """apt-get is a script here. Its n-th call runs the n-th of `answers`."""

    def deps(self, *answers):
        with tempfile.TemporaryDirectory() as folder:
            programs = {
                "dpkg-query": '[ ! -e $folder/done ] || echo "installed:debootstrap installed:util-linux installed:git "',
                "apt-get": 'read -r answer <$folder/answers\nsed -i 1d $folder/answers\neval "$answer"',
                "sudo": 'exec "$@"',
                "sleep": "",
            }
            pathlib.Path(folder, "answers").write_text("".join(f"{answer}\n" for answer in answers), encoding="utf-8")
            for name, text in programs.items():
                program = pathlib.Path(folder, name)
                program.write_text(f"#!/bin/bash\nfolder={folder}\n{text}\n", encoding="utf-8")
                program.chmod(0o755)
            run = subprocess.run(["bash", DEPS, "--fresh"], env={"PATH": f"{folder}:/usr/bin:/bin"}, capture_output=True,
                                 text=True, check=False)
            self.assertEqual(pathlib.Path(folder, "answers").read_text(encoding="utf-8"), "", "calls that were not made")
            return run

    LOCKED = ("printf '%s\\n' 'E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 7 (unattended-upgr)'"
              " 'E: Unable to acquire the dpkg frontend lock' >&2; exit 100")

    def test_it_waits_for_a_lock_and_says_so_once(self):
        run = self.deps("true", self.LOCKED, self.LOCKED, "touch $folder/done")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(run.stdout.splitlines()[1:],
                         ["waiting for up to 15 minutes for the lock /var/lib/dpkg/lock-frontend. "
                          "It is held by process 7 (unattended-upgr)", "installed"])

    def test_the_lists_have_a_lock_too(self):
        run = self.deps("exit 100", "echo 'E: Could not get lock /var/lib/apt/lists/lock' >&2; exit 100", "true",
                        "touch $folder/done")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertIn("for the lock /var/lib/apt/lists/lock\n", run.stdout)

    def test_where_apt_fails_its_reason_is_the_message(self):
        run = self.deps("true", "echo 'E: old lists' >&2; exit 100", "echo 'W: no network' >&2",
                        "echo 'E: Unable to locate package git' >&2; exit 100")
        self.assertEqual((run.returncode, run.stderr), (1, "W: no network\nE: Unable to locate package git\n"))
        self.assertEqual(run.stdout, "installing: debootstrap util-linux git\n")


if __name__ == "__main__":
    unittest.main()

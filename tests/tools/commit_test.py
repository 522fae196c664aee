#!/usr/bin/env python3
"""Tests what cmake/Commit.cmake finds to be the commit of a folder."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
UNKNOWN = "unknown: built outside a git checkout"


def git(folder, *arguments):
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    return subprocess.run(["git", "-C", folder, *who, *arguments], check=True, capture_output=True).stdout


def commit_of(folder):
    output = folder / "build" / "commit.cpp"
    subprocess.run(["cmake", "-D", f"SOURCE={folder}", "-D", f"OUTPUT={output}", "-P", folder / "cmake/Commit.cmake"],
                   check=True)
    return output.read_text().partition('return "')[2].partition('"')[0]


class Commit(unittest.TestCase):
    def setUp(self):
        top = tempfile.TemporaryDirectory()
        self.addCleanup(top.cleanup)
        self.folder = pathlib.Path(top.name) / "source"
        (self.folder / "cmake").mkdir(parents=True)
        shutil.copy(TOP / "cmake" / "Commit.cmake", self.folder / "cmake")
        shutil.copy(TOP / ".gitattributes", self.folder)

    def check_in(self):
        git(self.folder, "init", "--quiet")
        (self.folder / ".gitignore").write_text("/build/\n")
        git(self.folder, "add", ".")
        git(self.folder, "commit", "--quiet", "--message", "first")
        return git(self.folder, "rev-parse", "HEAD").decode()[:12]

    def test_a_checkout_has_its_commit_and_says_if_it_was_changed(self):
        name = self.check_in()
        git(self.folder, "tag", "v1")
        self.assertEqual(commit_of(self.folder), name)
        (self.folder / ".gitignore").write_text("/build/\n*.tmp\n")
        self.assertEqual(commit_of(self.folder), f"{name}-dirty")

    def test_an_archive_of_git_has_its_commit(self):
        name = self.check_in()
        archive = self.folder.parent / "archive"
        archive.mkdir()
        subprocess.run(["tar", "-xC", archive], input=git(self.folder, "archive", "HEAD"), check=True)
        self.assertEqual(commit_of(archive), name)

    def test_other_folders_have_none_even_in_a_checkout_of_something_else(self):
        self.assertEqual(commit_of(self.folder), UNKNOWN)
        git(self.folder.parent, "init", "--quiet")
        git(self.folder.parent, "add", ".")
        git(self.folder.parent, "commit", "--quiet", "--message", "of another project")
        self.assertEqual(commit_of(self.folder), UNKNOWN)

    def test_a_file_that_is_right_is_not_written_again(self):
        self.check_in()
        commit_of(self.folder)
        written = (self.folder / "build" / "commit.cpp").stat().st_mtime_ns
        commit_of(self.folder)
        self.assertEqual((self.folder / "build" / "commit.cpp").stat().st_mtime_ns, written)


if __name__ == "__main__":
    unittest.main()

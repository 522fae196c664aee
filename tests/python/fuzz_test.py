"""Nothing that a user passes ends the interpreter: 2,000 scenarios, changed at random (fuzz.py)."""

import os
import pathlib
import re
import subprocess
import sys

from conftest import ROOT

COUNT = int(os.environ.get("PACELINE_FUZZ", 2000))


def test_changed_scenarios_run_or_are_refused():
    script = pathlib.Path(__file__).with_name("fuzz.py")
    done = subprocess.run([sys.executable, "-B", "-X", "faulthandler", script, str(COUNT)], capture_output=True, text=True,
                          check=False, cwd=ROOT / "tests/fingerprints", timeout=1500)
    told = done.stdout[-300:] + done.stderr[-3000:]
    assert done.returncode == 0, told
    ran, refused, too_long = map(int, re.search(r"(\d+) ran, (\d+) refused, (\d+) too long", done.stdout).groups())
    assert ran + refused + too_long == COUNT
    assert ran > COUNT // 20 and refused > COUNT // 4, told
    assert too_long < COUNT // 20, told

"""Results from Python are byte for byte the command line's."""

import json
import subprocess
import sys

import pandas
import pytest

import paceline
from conftest import ROOT, ring, ring_step_s

TABLES = ("results.csv", "timeline.csv", "summary.csv", "table.txt")
STUDIES = ("scenarios/dgc-speedup.json", "tests/fingerprints/algorithms.json", "tests/fingerprints/seeds.json",
           "tests/fingerprints/files.json", "tests/fingerprints/failures.json")


def tables_in(folder):
    return {name: (folder / name).read_bytes() for name in TABLES if (folder / name).exists()}


@pytest.mark.parametrize("study", STUDIES)
def test_results_are_the_bytes_of_the_command_line(study, command, tmp_path):
    done = command("run", ROOT / study, "--out", tmp_path / "program", "--quiet")
    assert done.returncode == 0, done.stderr

    ran = paceline.run(ROOT / study, out=tmp_path / "python", progress=False)

    expected = tables_in(tmp_path / "program")
    assert len(expected) >= 2
    assert tables_in(tmp_path / "python") == expected
    held = {name: ran.csv(name[:-4]).encode() for name in expected if name.endswith(".csv")}
    assert held == {name: text for name, text in expected.items() if name.endswith(".csv")}
    assert ran.table.encode() == expected["table.txt"]


def test_a_dict_gives_the_bytes_of_its_file(tmp_path):
    file = ROOT / "tests/fingerprints/seeds.json"
    of_file = paceline.run(file, progress=False)
    of_dict = paceline.run(json.loads(file.read_text()), progress=False)
    of_text = paceline.run(file.read_text(), progress=False)
    assert of_dict.csv() == of_file.csv() == of_text.csv()
    assert of_dict.csv("summary") == of_file.csv("summary")


def test_overrides_and_picks_are_those_of_the_command_line(command, tmp_path):
    scenario = ROOT / "scenarios/dgc-speedup.json"
    done = command("run", scenario, "--set", "cluster.fabric.link.latency=100us", "--set", "cluster.nodes=[2, 4]",
                   "--pick", "algorithm=dgc", "--pick", "workload=AlexNet", "--out", tmp_path / "program", "--quiet")
    assert done.returncode == 0, done.stderr
    ran = paceline.run(scenario, {"cluster.fabric.link.latency": "100us", "cluster.nodes": [2, 4]},
                       pick={"algorithm": "dgc", "workload": "AlexNet"}, progress=False)
    assert ran.csv().encode() == (tmp_path / "program/results.csv").read_bytes()
    assert len(ran.points) == 4


def test_the_number_of_jobs_and_threads_changes_nothing():
    file = ROOT / "tests/fingerprints/seeds.json"
    assert paceline.run(file, jobs=1, threads=1).csv() == paceline.run(file, jobs=3, threads=2).csv()


def test_models_that_are_kept_change_nothing():
    file = ROOT / "tests/fingerprints/seeds.json"
    assert paceline.run(file, models=True).csv("timeline") == paceline.run(file).csv("timeline")


def test_the_module_is_the_command_line(command, tmp_path):
    scenario = ROOT / "scenarios/ring-allreduce.json"
    for arguments in (["check", scenario], ["list", "mixings"], ["explain", scenario, "--point", "0"],
                      ["run", scenario, "--set", "cluster.nodse=3"], ["completion", "bash"]):
        expected = command(*arguments)
        got = subprocess.run([sys.executable, "-m", "paceline", *map(str, arguments)], capture_output=True, text=True,
                             check=False, cwd=tmp_path)
        assert (got.returncode, got.stdout, got.stderr) == (expected.returncode, expected.stdout, expected.stderr)

    for who, out in ((command, "one"), (None, "two")):
        arguments = ["run", scenario, "--quiet", "--out", tmp_path / out]
        done = who(*arguments) if who else subprocess.run([sys.executable, "-m", "paceline", *map(str, arguments)],
                                                          check=False)
        assert done.returncode == 0
    assert tables_in(tmp_path / "one") == tables_in(tmp_path / "two")


def test_a_diagnosis_is_that_of_the_command_line_and_its_patch_gives_the_number(command, tmp_path):
    """A ring at a fifth of its bandwidth."""
    slow = ring_step_s(4, bandwidth=0.2e9)
    found = paceline.diagnose(ring(), f"step={slow}", jobs=1)
    assert found.answers[0]["either"][0]["causes"][0]["cause"] == "bandwidth"
    assert found.answers[0]["either"][0]["causes"][0]["number"] == pytest.approx(0.2e9, rel=0.02)
    run = paceline.run(ring(), overrides_of(found.answers[0]["either"][0]["patch"]))
    assert run.points[0].metrics["step_time_s"] == pytest.approx(slow, rel=0.02)
    assert str(found) == found.text and "bandwidth of the links" in found._repr_html_()
    (tmp_path / "s.json").write_text(json.dumps(ring()))
    done = command("diagnose", "s.json", "--measured", f"step={slow}", "--json")
    assert done.returncode == 0
    printed = json.loads(done.stdout)
    assert printed["answers"] == found.answers and printed["next"] == found.next


def overrides_of(patch, path=""):
    """Returns the leaves of a merge patch as overrides."""
    if not isinstance(patch, dict):
        return {path[1:]: patch}
    return {where: value for key, one in patch.items() for where, value in overrides_of(one, f"{path}.{key}").items()}


def test_a_calibration_is_that_of_the_command_line_and_stands_in_place_of_its_file(command, tmp_path):
    """Steps of a ring at another bandwidth give it back."""
    wanted, path = 2.5e9, "cluster.fabric.link.bandwidth"
    rows = [{"nodes": nodes, "step_time_s": ring_step_s(nodes, bandwidth=wanted), "workload.gradient": None} for nodes in (2, 4, 8)]
    rows.append({"name": "large", "workload.gradient": "2MB", "step_time_s": f"{1e3 * ring_step_s(4, 2e6, wanted)}ms"})
    found = paceline.calibrate(ring(), rows, {path: ("1Gbps", "10Gbps")}, jobs=1)
    assert found.constants[0]["value"] == "2.5Gbps" and not found.constants[0]["low_is_open"]
    assert [row["row"] for row in found.rows] == ["rows[0]", "rows[1]", "rows[2]", "large"]
    assert str(found) == found.text and "2.5Gbps" in found._repr_html_()

    frame = pandas.DataFrame(rows)
    assert paceline.calibrate(ring(), frame, f"{path}=1Gbps..10Gbps").constants == found.constants
    frame.fillna({"name": "a row"}).to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "s.json").write_text(json.dumps(ring()))
    assert command("calibrate", "s.json", "rows.csv", "--free", f"{path}=1Gbps..10Gbps", "--out", "mine.json").returncode == 0
    written = json.loads((tmp_path / "mine.json").read_text())
    assert written["constants"] == found.data["constants"] and written["cluster"] == found.data["cluster"]

    found.save(tmp_path / "mine.json")
    assert json.loads((tmp_path / "mine.json").read_text()) == found.data == found.testbed()
    times = [paceline.run(ring(cluster={"testbed": testbed, "nodes": 4})).points[0].metrics["step_time_s"]
             for testbed in (found, found.data, str(tmp_path / "mine.json"))]
    assert times == pytest.approx([ring_step_s(4, bandwidth=wanted)] * 3)
    with pytest.raises(paceline.ScenarioError, match="exists and is not a testbed"):
        found.save(tmp_path / "rows.csv")


def test_explain_and_solve_are_those_of_the_command_line(command):
    scenario = ROOT / "scenarios/ring-allreduce.json"
    asked = {"cluster.fabric.link.bandwidth": ("100Mbps", "100Gbps")}
    point = 0
    explained = paceline.explain(scenario, point)
    assert explained.text == command("explain", scenario, "--point", point).stdout
    assert explained.data == json.loads(command("explain", scenario, "--point", point, "--json").stdout)
    assert sum(explained.parts_s.values()) == pytest.approx(explained.step_time_s)

    solved = paceline.solve(ring(), asked, "step_time_s", equals=0.02)
    # closed form of the ring: 10 ms + 6 (100 us + 2 Mbit / B) = 20 ms
    assert solved.number == pytest.approx(6 * 2e6 / (0.010 - 6 * 100e-6), rel=1e-3)
    assert solved.value.endswith("bps")

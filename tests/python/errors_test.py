"""Errors have the words of the command line, and tell programs what is wrong where."""

import json
import pickle

import pytest

import paceline
from conftest import ROOT, ring

WRONG = [
    ({"cluster.nodse": 3}, ["cluster.nodse=3"]),
    ({"cluster.nodes": -1}, ["cluster.nodes=-1"]),
    ({"algorithm": {"kind": "dense", "agregation": "all-reduce"}}, ['algorithm={"kind":"dense","agregation":"all-reduce"}']),
    ({"algorithm": {"kind": "dense", "all_reduce": "rung"}}, ['algorithm={"kind":"dense","all_reduce":"rung"}']),
    ({"workload.batch": "many"}, ['workload.batch="many"']),
    ({"sweep": {}}, ["sweep={}"]),
    ({"cluster.nodes": []}, ["cluster.nodes=[]"]),
]


def printed(error):
    """Returns what the command line prints of an error."""
    return "".join(f"paceline: {line}\n" for line in str(error).split("\n"))


@pytest.mark.parametrize(("overrides", "settings"), WRONG)
def test_an_error_has_the_words_of_the_command_line(overrides, settings, command):
    file = ROOT / "scenarios/ring-allreduce.json"
    done = command("check", file, *[part for text in settings for part in ("--set", text)])
    assert done.returncode == 2
    with pytest.raises(paceline.ScenarioError) as caught:
        paceline.run(file, overrides)
    assert printed(caught.value) == done.stderr


def test_an_error_of_a_file_has_the_words_of_the_command_line(command, tmp_path):
    for text in ("{", "[]", '{"cluster": {"nodes": 4, "nodes": 5}}', "\0", '{"cluster": 3}'):
        (tmp_path / "wrong.json").write_text(text)
        done = command("check", "wrong.json")
        with pytest.raises(paceline.ScenarioError) as caught:
            paceline.check(tmp_path / "wrong.json")
        assert printed(caught.value).replace(f"{tmp_path}/", "") == done.stderr
    with pytest.raises(paceline.ScenarioError, match="no such file|cannot be"):
        paceline.run(tmp_path / "none.json")


def test_an_error_has_path_value_and_suggestion():
    with pytest.raises(paceline.ScenarioError) as caught:
        paceline.run(ring(algorithm={"kind": "dens"}))
    error = caught.value
    assert (error.file, error.path, error.value, error.suggestion) == ("scenario", "algorithm.kind", "dens", "dense")
    assert str(error) == f"scenario: algorithm.kind: {error.problem}"


def test_all_mistakes_are_told_at_once():
    with pytest.raises(paceline.ScenarioError) as caught:
        paceline.run(ring(stop={"iterations": 0}, algorithm={"kind": "dens"}), {"cluster.nodes": "four"})
    error = caught.value
    assert [(fault.file, fault.path) for fault in error.faults] == [
        ("command line", "--set cluster.nodes"), ("scenario", "algorithm.kind"), ("scenario", "stop.iterations")]
    assert error.faults[0] == (error.file, error.path, error.problem)
    assert str(error).split("\n")[2] == f"scenario: stop.iterations: {error.faults[2].message}"
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.faults, again.value) == (str(error), error.faults, "four")


def test_a_mistake_in_an_object_stands_beside_others():
    profile = {"name": "own", "layers": 3}
    with pytest.raises(paceline.ScenarioError) as caught:
        paceline.run(ring(workload={"profile": profile, "step_time": "5ms"}, stop={"iterations": 0}))
    assert [fault.path for fault in caught.value.faults][1:] == ["stop.iterations"]
    assert caught.value.path.startswith("workload.profile")


def test_a_mistyped_key_has_the_nearest_as_its_suggestion():
    with pytest.raises(paceline.ScenarioError) as caught:
        paceline.run(ring(clutser={}))
    assert (caught.value.path, caught.value.value, caught.value.suggestion) == ("clutser", {}, "cluster")
    with pytest.raises(paceline.ScenarioError) as caught:
        paceline.run(ring(), {"cluster.nodse": 3})
    assert (caught.value.file, caught.value.suggestion) == ("command line", "nodes")


def test_a_value_out_of_range_has_no_suggestion():
    with pytest.raises(paceline.ScenarioError) as caught:
        paceline.run(ring(stop={"iterations": 0}))
    assert (caught.value.path, caught.value.value, caught.value.suggestion) == ("stop.iterations", 0, None)


def test_an_error_in_a_sweep_names_its_value():
    with pytest.raises(paceline.ScenarioError) as caught:
        paceline.run(ring(sweep={"cluster.nodes": [2, "two"]}))
    assert caught.value.path == "sweep.cluster.nodes[1]"
    assert caught.value.value == "two"


@pytest.mark.parametrize(("value", "path", "words"), [
    (float("nan"), "workload.dataset_samples", "nan is not a number in JSON"),
    ({1, 2}, "workload.dataset_samples", "a set cannot be written as JSON"),
    ({1: 2}, "workload.dataset_samples", "1 is not a key; keys are strings"),
])
def test_what_json_has_not_is_refused_with_its_place(value, path, words):
    scenario = ring()
    scenario["workload"]["dataset_samples"] = value
    with pytest.raises(paceline.ScenarioError, match=words) as caught:
        paceline.run(scenario)
    assert caught.value.path == path


def test_a_dict_that_holds_itself_is_refused():
    scenario = ring()
    scenario["cluster"]["fabric"] = scenario
    with pytest.raises(paceline.ScenarioError, match="nested deeper than 32 levels"):
        paceline.run(scenario)


def test_what_is_no_scenario_is_a_type_error():
    for wrong in (3, None, [1], b"{}"):
        with pytest.raises(TypeError):
            paceline.run(wrong)


def test_arguments_are_checked():
    for options in ({"jobs": 0}, {"jobs": "two"}, {"threads": 2000}, {"resume": True}, {"out": ""}):
        with pytest.raises(paceline.ScenarioError):
            paceline.run(ring(), **options)
    with pytest.raises(paceline.ScenarioError, match="makes 2 points"):
        paceline.solve(ring(sweep={"seed": [1, 2]}), {"cluster.nodes": (2, 8)}, "step_time_s", 1)
    with pytest.raises(paceline.ScenarioError) as caught:
        paceline.solve(ring(), {"cluster.nodes": (2, 8)}, "step_time", 1)
    assert caught.value.suggestion == "step_time_s"
    with pytest.raises(paceline.ScenarioError):
        paceline.explain(ring(), point=7)


def test_a_point_that_fails_is_an_outcome_and_no_error():
    study = paceline.run(ring(stop={"time": "5ms"}))
    assert [point.outcome for point in study.points] == ["time-limit"]
    assert json.loads(json.dumps(study.points[0].scenario))["stop"] == {"time": "5ms"}

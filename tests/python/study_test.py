"""What a study holds: frames, points, figures, models; and reading it from a folder."""

import copy
import json
import math
import pickle
import warnings

import numpy
import pytest

import paceline
from conftest import ROOT, ring, ring_step_s, training


def test_a_step_takes_the_time_of_the_closed_form():
    point = paceline.run(ring()).points[0]
    assert point.metrics["step_time_s"] == pytest.approx(ring_step_s(), rel=1e-9)
    assert point.outcome == "finished"
    assert point.metrics["speedup"] == pytest.approx(4 * 0.01 / ring_step_s())


def test_a_frame_has_the_columns_of_results_csv_with_types():
    pandas = pytest.importorskip("pandas")
    study = paceline.run(ring(sweep={"cluster.nodes": [2, 4], "seed": [1, 2],
                                     "cluster.fabric.link.bandwidth": ["1Gbps", "10Gbps"]}))
    frame = study.frame
    assert list(frame.columns) == study.csv().partition("\n")[0].split(",")
    assert len(frame) == 8
    for name in ("point", "nodes", "devices", "seed"):
        assert frame[name].dtype == numpy.int64
    for name in ("step_time_s", "speedup", "train_loss"):
        assert frame[name].dtype == numpy.float64
    assert frame["train_loss"].isna().all()
    assert set(frame["cluster.fabric.link.bandwidth"]) == {"1Gbps", "10Gbps"}
    assert list(frame.query("nodes == 2 and seed == 1")["algorithm"]) == ["dense", "dense"]
    assert study.timeline.empty and "train_loss" in study.timeline.columns
    assert len(study.summary) == 4
    assert study.summary["step_time_s_count"].eq(2).all()
    assert isinstance(frame, pandas.DataFrame)


def test_comparisons_are_there_with_intervals_and_come_back_from_a_folder(tmp_path):
    pytest.importorskip("pandas")
    methods = {"algorithm": [{"label": "=a", "kind": "dense"}, {"label": "b", "kind": "dense", "wire": "fp16"}], "cluster.nodes": [2, 4]}
    assert paceline.run(ring(sweep=methods)).comparisons.empty
    study = paceline.run(ring(sweep=methods, measure={"interval": True}), out=tmp_path / "out")
    frame = study.comparisons
    steps = list(study.frame["step_time_s"])
    assert list(frame["times_as_fast"]) == [steps[0] / steps[2], steps[1] / steps[3]]
    assert list(frame["point"]) == [2, 3] and list(frame["against"]) == [0, 1]
    assert list(frame["against_algorithm"]) == ["=a", "=a"]
    assert (frame["times_as_fast_low"] < frame["times_as_fast"]).all()
    assert (tmp_path / "out/comparisons.csv").read_text() == study.csv("comparisons")
    assert paceline.load(tmp_path / "out").comparisons.equals(frame)


def test_numbers_of_a_frame_are_those_of_the_file_to_the_last_bit():
    pytest.importorskip("pandas")
    study = paceline.run(ROOT / "tests/fingerprints/seeds.json")
    cells = [row.split(",") for row in study.csv().splitlines()]
    column = cells[0].index("step_time_s")
    assert [repr(x) for x in study.frame["step_time_s"]] == [repr(float(row[column])) for row in cells[1:]]


def test_points_have_their_resolved_scenarios():
    study = paceline.run(ring(sweep={"cluster.nodes": [2, 4]}))
    assert [point.scenario["cluster"]["nodes"] for point in study.points] == [2, 4]
    assert [point.values for point in study.points] == [{"cluster.nodes": "2"}, {"cluster.nodes": "4"}]
    assert study.points[-1].number == 1
    assert [point.number for point in study.points[:1]] == [0]
    again = paceline.run(study.points[1].scenario)
    assert again.points[0].metrics == study.points[1].metrics


def test_a_timeline_has_the_evaluations():
    pytest.importorskip("pandas")
    timeline = paceline.run(training()).timeline
    assert list(timeline["iteration"]) == [0, 4, 8, 12]
    assert timeline["train_loss"].iloc[-1] < timeline["train_loss"][0]
    assert timeline["train_loss"][0] == pytest.approx(math.log(3))  # a model of zeros, three classes


def test_models_at_the_end_are_numpy_arrays_of_the_workers():
    study = paceline.run(training(algorithm={"kind": "local-sgd", "period": 5}), models=True)
    point = study.points[0]
    assert point.models.shape == (4, 3 * 4 + 3)  # after 12 steps of periods of 5, the workers differ
    assert point.models.dtype == numpy.float64
    assert not numpy.array_equal(point.models[0], point.models[1])
    tensors = point.model(2)
    assert sum(tensor.size for tensor in tensors.values()) == 15
    assert numpy.array_equal(numpy.concatenate([t.ravel() for t in tensors.values()]), point.models[2])


def test_workers_of_synchronous_sgd_end_with_one_model():
    models = paceline.run(training(), models=True).points[0].models
    assert models.shape[0] == 4
    assert all(numpy.array_equal(models[0], model) for model in models)


def test_one_step_of_sgd_is_that_of_numpy():
    """Linear regression from 0 on one worker with the whole data as its batch: x1 = -rate * gradient."""
    rng = numpy.random.default_rng(1)
    x, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    scenario = training(workload={"model": {"kind": "linear-regression", "bias": False}, "batch": 1, "step_time": "1ms",
                                  "data": {"X": x, "y": y, "test_share": 0.2, "standardize": False}},
                        stop={"iterations": 1}, optimizer={"learning_rate": 1.0}, measure={})
    scenario["cluster"]["nodes"] = 1
    model = paceline.run(scenario, models=True).points[0].models[0]
    # A batch of one sample i: the gradient of (x_i w - y_i)^2 / 2 at w = 0 is -y_i x_i.
    steps = y[:, None] * x
    assert numpy.abs(steps - model).max(axis=1).min() < 1e-6


def test_a_point_without_models_says_how_to_get_them():
    with pytest.raises(LookupError, match="models=True"):
        paceline.run(training()).points[0].model()
    assert paceline.run(ring(), models=True).points[0].models is None


def test_a_folder_is_read_again(tmp_path):
    study = paceline.run(training(sweep={"seed": [1, 2], "cluster.nodes": [2, 4]}), out=tmp_path / "out")
    again = paceline.load(tmp_path / "out")
    assert again.csv() == study.csv()
    assert again.csv("timeline") == study.csv("timeline")
    assert again.title == study.title == "Four nodes learn"
    assert sorted(again.axes) == sorted(study.axes)
    assert again.complete and again.size == 4
    for ours, theirs in zip(again.points, study.points):
        assert (ours.values, ours.metrics, ours.scenario, ours.events) == (
            {axis: theirs.values[axis] for axis in ours.values}, theirs.metrics, theirs.scenario, theirs.events)


def test_a_saved_study_is_what_the_program_would_have_written(tmp_path):
    study = paceline.run(training(), out=tmp_path / "out")
    study.save(tmp_path / "saved")
    for name in ("results.csv", "timeline.csv", "table.txt"):
        assert (tmp_path / "saved" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()
    manifest = json.loads((tmp_path / "saved/manifest.json").read_text())
    assert manifest["program"] == "paceline" and len(manifest["points"]) == 1


def test_a_folder_without_results_is_refused(tmp_path):
    with pytest.raises(paceline.ScenarioError, match="has no results.csv"):
        paceline.load(tmp_path)
    with pytest.raises(paceline.ScenarioError, match="no such folder"):
        paceline.load(tmp_path / "nowhere")
    (tmp_path / "results.csv").write_text("a,b\n1,2\n")
    with pytest.raises(paceline.ScenarioError, match="is not of paceline"):
        paceline.load(tmp_path)


def test_an_html_table_escapes_titles():
    text = paceline.run(ring(title="<script>"))._repr_html_()
    assert "&lt;script&gt;" in text and "<script>" not in text
    assert "step_time_s" in text and "train_loss" not in text


def test_figures_are_those_of_the_scripts():
    matplotlib = pytest.importorskip("matplotlib")
    before = dict(matplotlib.rcParams)
    study = paceline.run(ROOT / "scenarios/dgc-speedup.json")
    figure = study.plot("speedup", where={"workload": "AlexNet"}, target=30)
    assert figure.get_axes() and "style" not in __import__("sys").modules
    assert dict(matplotlib.rcParams) == before
    assert type(study.plot()).__name__ == "Figure"
    with pytest.raises(paceline.ScenarioError, match="convergence cannot be drawn.*what fits this study: speedup"):
        study.plot("convergence")
    with pytest.raises(paceline.ScenarioError, match="no kind of figure \"pie\""):
        study.plot("pie")
    with pytest.raises(paceline.ScenarioError, match="no option \"colour\""):
        study.plot("speedup", colour="red")


def test_check_and_lists_and_schema_tell_what_there_is():
    checked = paceline.check(ring())
    assert "points  1" in checked.text
    lists = paceline.lists()
    assert "decentlam" in {entry["name"] for entry in lists["algorithms"]}
    assert "resnet-50" in {entry["name"] for entry in lists["profiles"]}
    aggregations = {entry["name"]: entry["keys"] for entry in lists["aggregations"]}
    assert {"all-reduce", "all-gather", "two-phase", "sparse-all-reduce", "servers", "neighbors"} == set(aggregations)
    assert {"kind", "plan"} <= set(aggregations["all-reduce"])
    assert {"top-k", "power-sgd", "dgc"} <= {entry["name"] for entry in lists["codecs"]}
    assert "ring" in paceline.list_text("mixings")
    assert set(paceline.schema()["properties"]) >= {"cluster", "workload", "algorithm", "sweep"}
    assert paceline.schema() == json.loads((ROOT / "scenarios/scenario.schema.json").read_text())


def test_warnings_are_pythons_and_the_studys():
    scenario = training(algorithm={"kind": "local-sgd", "period": 5})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        study = paceline.run(scenario)
    assert [str(one.message) for one in caught if one.category is paceline.ScenarioWarning] == list(study.warnings)
    assert any("unfinished-period" in text for text in study.warnings)
    assert paceline.check(scenario).warnings == study.warnings


def test_errors_can_be_pickled():
    with pytest.raises(paceline.ScenarioError) as caught:
        paceline.run(ring(cluster={"nodse": 3}))
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.path, again.value, again.suggestion) == (
        str(caught.value), "cluster.nodse", 3, "nodes")


def copies(study):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        yield pickle.loads(pickle.dumps(study, protocol))
    yield copy.copy(study)
    yield copy.deepcopy(study)


@pytest.mark.parametrize("kind", ["timing", "training", "loaded", "of a file"])
def test_a_study_can_be_pickled_and_copied(kind, tmp_path):
    swept = training(sweep={"cluster.nodes": [2, 4], "seed": [1, 2]})
    study = {"timing": lambda: paceline.run(ring(sweep={"cluster.nodes": [2, 4]})),
             "training": lambda: paceline.run(swept, models=True),
             "loaded": lambda: paceline.load(paceline.run(swept, out=tmp_path / "out").folder),
             "of a file": lambda: paceline.run(ROOT / "scenarios/ring-allreduce.json")}[kind]()
    for again in copies(study):
        assert again == study and hash(again) == hash(study)
        assert again.points == study.points
        assert repr(again) == repr(study) and again._repr_html_() == study._repr_html_()
        assert again.table == study.table and again.frame.equals(study.frame)
        assert again.timeline.equals(study.timeline) and again.summary.equals(study.summary)
        for mine, its in zip(study.points, again.points):
            assert (mine.scenario, mine.metrics, mine.values, mine.tensors) == (its.scenario, its.metrics, its.values, its.tensors)
            assert (mine.models is None) == (its.models is None) == (kind != "training")
        study.plot(save=tmp_path / "mine.svg")
        again.plot(save=tmp_path / "its.svg")
        assert (tmp_path / "mine.svg").read_bytes() == (tmp_path / "its.svg").read_bytes()
        again.save(tmp_path / "saved")
        study.save(tmp_path / "of-study")
        for file in (tmp_path / "of-study").iterdir():
            assert file.read_bytes() == (tmp_path / "saved" / file.name).read_bytes()
    for points in copies(study.points):
        assert points == study.points
    with pytest.raises(paceline.Interrupted) as caught:
        raise pickle.loads(pickle.dumps(paceline.Interrupted(study)))
    assert caught.value.study == study


def test_studies_that_differ_are_not_equal():
    one = paceline.run(training(), models=True)
    assert one != paceline.run(training(), {"seed": 2}, models=True)
    assert one != paceline.run(training())  # without models
    assert one.points[0] != paceline.run(training()).points[0]
    assert one.points[0].models is not None and one != 3 and one.points != 3

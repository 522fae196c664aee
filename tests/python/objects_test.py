"""Python objects in place of files: profiles, traces, mixings, data. Each gives what the file gives."""

import gzip
import pathlib

import numpy
import pytest

import paceline
from conftest import ring, training

PROFILE = {
    "name": "two-layers", "source": "a test",
    "layers": [{"name": "a", "macs": 1000, "tensors": [{"name": "weight", "shape": [10, 20]}]},
               {"name": "b", "macs": 500, "tensors": [{"name": "weight", "shape": [30]}]}],
}


def with_profile(profile):
    return ring(workload={"profile": profile, "step_time": "3ms", "batch": 4})


def save(path, scenario):
    import json

    pathlib.Path(path).write_text(json.dumps(scenario))
    return path


def test_a_profile_as_a_dict_is_that_of_a_file(tmp_path):
    save(tmp_path / "net.json", PROFILE)
    of_file = paceline.run(save(tmp_path / "s.json", with_profile("net.json")))
    of_dict = paceline.run(with_profile(PROFILE))
    assert of_dict.csv() == of_file.csv()
    # a ring of four: (10 * 20 + 30) * 4 bytes, 2 * 3 / 4 of them
    assert of_dict.points[0].metrics["bytes_sent_per_node_per_step"] == 1380


def test_a_profile_as_a_dict_may_hold_the_sizes_of_a_transformer():
    sizes = {"layers": 1, "width": 4, "heads": 2, "vocabulary": 3, "context": 5}  # 284 parameters
    of_sizes = paceline.run(with_profile({"transformer": sizes}))
    named = paceline.run(with_profile({"name": "mine", "source": "this test", "transformer": sizes}))
    for results in (of_sizes, named):
        assert results.points[0].metrics["bytes_sent_per_node_per_step"] == 284 * 4 * 2 * 3 / 4


def test_an_error_in_a_profile_has_its_place_in_the_scenario():
    wrong = {**PROFILE, "layers": [{**PROFILE["layers"][0], "macs": -1}]}
    with pytest.raises(paceline.ScenarioError) as caught:
        paceline.run(with_profile(wrong))
    assert caught.value.path == "workload.profile.layers[0].macs"
    assert caught.value.value == -1
    assert str(caught.value).startswith("scenario: workload.profile.layers[0].macs: -1 is not")


def test_profiles_can_be_swept_and_overridden():
    other = {**PROFILE, "name": "half", "layers": PROFILE["layers"][:1]}
    scenario = with_profile("resnet-50")
    swept = paceline.run({**scenario, "sweep": {"workload.profile": [PROFILE, other, "resnet-50"]}})
    sent = [point.metrics["bytes_sent_per_node_per_step"] for point in swept.points]
    assert sent[:2] == [1380, 1200] and sent[2] > 1e8
    assert paceline.run(scenario, {"workload.profile": other}).points[0].metrics["bytes_sent_per_node_per_step"] == 1200


def trace_scenario(file):
    scenario = ring(stop={"iterations": 5})
    scenario["cluster"]["access"] = [{"kind": "trace", "file": file}]
    return scenario


def test_a_trace_as_an_array_a_list_a_frame_or_bytes_is_that_of_a_file(tmp_path):
    pandas = pytest.importorskip("pandas")
    rows = [[0, 500.0, 500.0], [0.02, 100.0, 100.0], [0.1, 1000.0, 1000.0]]
    header = ["time_s", "up_mbps", "down_mbps"]
    text = ",".join(header) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    (tmp_path / "link.csv").write_text(text)
    expected = paceline.run(save(tmp_path / "s.json", trace_scenario("link.csv"))).csv()
    assert expected != paceline.run(ring(stop={"iterations": 5})).csv()
    frame = pandas.DataFrame(rows, columns=header)[["down_mbps", "time_s", "up_mbps"]]
    for trace in (rows, numpy.array(rows), frame, text.encode(), gzip.compress(text.encode())):
        assert paceline.run(trace_scenario(trace)).csv() == expected


def test_an_error_in_a_trace_has_its_place():
    with pytest.raises(paceline.ScenarioError, match="is not later than the previous row") as caught:
        paceline.run(trace_scenario([[0, 1, 1], [0, 2, 2]]))
    assert caught.value.path == "cluster.access[0].file (line 3)"
    with pytest.raises(paceline.ScenarioError, match="has 2 numbers; a row has 3"):
        paceline.run(trace_scenario([[0, 1]]))


def test_absences_as_an_array_are_those_of_a_file(tmp_path):
    rows = [[1, 0.5, 2.0]]
    (tmp_path / "away.csv").write_text("node,leaves_s,returns_s\n1,0.5,2\n")

    def scenario(file):
        return training(failures={}, stop={"iterations": 400}, measure={}) | {
            "cluster": {**ring()["cluster"], "failures": {"trace": {"file": file}}}}

    def without_key(made):
        made.pop("failures")
        return made

    expected = paceline.run(save(tmp_path / "s.json", without_key(scenario("away.csv"))))
    got = paceline.run(without_key(scenario(numpy.array(rows))))
    assert got.csv() == expected.csv()
    assert got.points[0].metrics["deaths"] == 1


def test_a_matrix_as_a_mixing_is_the_one_of_that_name():
    """The ring of four with weights 1/3 (docs/models/learning.md), as a matrix."""
    ring_of_four = sum(numpy.roll(numpy.eye(4), shift, axis=1) for shift in (-1, 0, 1)) / 3
    named = training(algorithm={"kind": "dsgd", "mixing": {"kind": "ring"}})
    own = training(algorithm={"kind": "dsgd", "mixing": ring_of_four})
    a, b = paceline.run(named, models=True).points[0], paceline.run(own, models=True).points[0]
    assert a.metrics["bytes_sent_per_node_per_step"] == b.metrics["bytes_sent_per_node_per_step"]
    assert numpy.allclose(a.models, b.models, rtol=0, atol=1e-12)
    swept = training(algorithm={"kind": "dsgd", "mixing": {"kind": "ring"}},
                     sweep={"algorithm.mixing": [ring_of_four.tolist(), {"kind": "complete"}]})
    assert len(paceline.run(swept).points) == 2
    with pytest.raises(paceline.ScenarioError, match="sums to 0.9"):
        paceline.run(training(algorithm={"kind": "dsgd", "mixing": 0.9 * ring_of_four}))
    for nodes in (5, 8):
        wider = training(algorithm={"kind": "dsgd", "mixing": ring_of_four})
        wider["cluster"]["nodes"] = nodes
        with pytest.raises(paceline.ScenarioError, match=f"one of 4 workers, and {nodes} average"):
            paceline.run(wider)
    with pytest.raises(paceline.ScenarioError, match="a mixing is square"):
        paceline.run(training(algorithm={"kind": "dsgd", "mixing": ring_of_four[:3]}))
    with pytest.raises(paceline.ScenarioError, match="does not preserve the mean: column"):
        paceline.run(training(algorithm={"kind": "dsgd", "mixing": [[0.5, 0.5, 0, 0]] * 4}))


def blobs(samples=300):
    rng = numpy.random.default_rng(3)
    y = rng.integers(0, 3, samples)
    return rng.normal(size=(samples, 2)) + 4 * numpy.array([[0, 0], [1, 0], [0, 1]])[y], y


def on(data, **workload):
    return training(workload={"model": {"kind": "softmax-regression"}, "data": data, "batch": 8, "step_time": "1ms",
                              **workload}, stop={"iterations": 100}, measure={"every": "50 iterations"})


def test_arrays_as_data_are_those_of_a_csv_file(tmp_path):
    x, y = blobs()
    lines = ["x0,x1,y"] + [f"{a!r},{b!r},{c}" for (a, b), c in zip(x.tolist(), y.tolist())]
    (tmp_path / "d.csv").write_text("\n".join(lines) + "\n")
    of_file = paceline.run(save(tmp_path / "s.json", on({"kind": "csv", "file": "d.csv", "label": "y"})))
    of_arrays = paceline.run(on((x, y)))
    assert of_arrays.csv("timeline") == of_file.csv("timeline")
    assert of_arrays.points[0].metrics["test_accuracy"] > 0.9  # classes four deviations apart
    dealt = paceline.run(on({"X": x, "y": y, "partition": {"kind": "label-sorted"}, "test_share": 0.5}))
    assert dealt.csv("timeline") != of_file.csv("timeline")


def test_data_with_targets_are_regressed():
    rng = numpy.random.default_rng(4)
    x = rng.normal(size=(200, 3)).astype("float32")
    y = x @ [1.0, -2.0, 0.5]
    scenario = on({"X": x, "y": y, "standardize": False}, model={"kind": "linear-regression", "bias": False})
    model = paceline.run(scenario, {"stop.iterations": 500}, models=True).points[0].models[0]
    assert numpy.allclose(model, [1, -2, 0.5], atol=1e-3)


def test_images_train_a_convolutional_net():
    rng = numpy.random.default_rng(5)
    y = rng.integers(0, 2, 80)
    x = rng.integers(0, 60, (80, 8, 8)).astype("uint8")
    x[y == 1, 2:6, 2:6] += 180
    scenario = on({"X": x[:60], "y": y[:60], "X_test": x[60:], "y_test": y[60:]}, model={"kind": "cnn", "channels": [4]})
    assert paceline.run(scenario).points[0].metrics["test_accuracy"] > 0.9
    with pytest.raises(paceline.ScenarioError, match="images need \"X_test\""):
        paceline.run(on((x, y)))


@pytest.mark.parametrize(("data", "words"), [
    ((numpy.ones((3, 2)), numpy.ones(4)), "X has shape"),
    ((numpy.array([["a"]]), numpy.array([0])), "X holds <U1; give numbers"),
    (([[1, 2], [3]], [0, 1]), r"X is not an array of numbers: \[\[1, 2\], \[3\]\]; give rows of equal length"),
    (([[1, None], [3, 4]], [0, 1]), "X is not an array of numbers"),
    ((numpy.ones((3, 2)), ["a", "b", None]), "y is not an array of numbers"),
    ((numpy.ones((3, 2)), numpy.array([1, 2, 3], "datetime64[s]")), "y holds datetime64"),
    ((numpy.ones((3, 0)), numpy.zeros(3, int)), r"X has shape \(3, 0\)"),
    ((numpy.ma.masked_less(numpy.arange(6.0).reshape(3, 2), 1), numpy.zeros(3, int)), "has masked elements"),
    ((numpy.ones((3, 2)), numpy.ma.masked_equal([0, 1, 2], 2)), "has masked elements"),
    ((numpy.full((30, 2), numpy.nan), numpy.zeros(30, int)), "X has a number that is not finite"),
    ((1, 2, 3), r"data are \(X, y\)"),
    ({"X": numpy.ones((3, 2))}, "has \"X\" and no \"y\""),
    ({"X": numpy.ones((30, 2)), "y": numpy.zeros(30, int), "shuffle": True}, "\"shuffle\" is not a key here"),
])
def test_wrong_data_are_refused(data, words):
    with pytest.raises(paceline.ScenarioError, match=words) as caught:
        paceline.run(on(data))
    assert caught.value.path.startswith("workload.data")


def test_kept_points_know_the_content_of_objects(tmp_path):
    """A point is taken over only if the object is the same."""
    x, y = blobs()
    first = paceline.run(on((x, y)), out=tmp_path / "out")
    same = paceline.run(on((x.copy(), y)), out=tmp_path / "out", resume=True)
    assert same.csv("timeline") == first.csv("timeline")
    assert len(list((tmp_path / "out/points").glob("*.points"))) == 1
    other = paceline.run(on((x + 0.01 * numpy.arange(300)[:, None], y)), out=tmp_path / "out", resume=True)
    assert other.csv("timeline") != first.csv("timeline")
    assert len(list((tmp_path / "out/points").glob("*.points"))) == 2


def test_numpys_numbers_and_ranges_may_stand_in_scenarios():
    scenario = ring(sweep={"cluster.nodes": numpy.array([2, 4]), "seed": range(2)})
    scenario["stop"]["iterations"] = numpy.int64(2)
    assert len(paceline.run(scenario).points) == 4

"""Every argument of every call is read: whatever stands there, the call works, or an error of ours names the argument."""

import decimal
import fractions
import inspect
import pathlib

import numpy
import pandas
import pytest

import paceline
from paceline import _arguments, _plots
from conftest import ring, training

FOREIGN = ("pybind", "incompatible function arguments", "numpy.", "pandas", "ambiguous", "NoneType", "has no attribute",
           "Unable to cast", "not subscriptable", "internal error", "expected str, bytes", "zero-size", "dtype=object")


class Odd:
    def __repr__(self):
        raise RuntimeError("no text")


JUNK = {
    "none": None, "nan": float("nan"), "inf": float("inf"), "minus inf": float("-inf"), "half": 0.5, "minus": -1,
    "huge": 10**400, "true": True, "text": "nonsense", "empty": "", "surrogate": "\ud800", "nul": "a\0b", "bytes": b"x\xff",
    "complex": 2j, "object": object(), "odd": Odd(), "list": [1, [2]], "empty list": [], "dict": {"a": 1}, "set": {1},
    "numbers as keys": {1: 2}, "numpy nan": numpy.float64("nan"), "array": numpy.arange(3), "matrix": numpy.ones((2, 2)),
    "empty array": numpy.ones(0), "texts": numpy.array(["a", "b"]), "masked": numpy.ma.masked_equal([1, 2], 2),
    "masked one": numpy.ma.masked, "series": pandas.Series([1, 2]), "frame": pandas.DataFrame({"a": [1]}), "na": pandas.NA,
    "nat": pandas.NaT, "date": numpy.datetime64("2026-01-01"), "decimal": decimal.Decimal("nan"), "function": len,
}


@pytest.fixture(scope="module")
def study():
    return paceline.run(training(sweep={"cluster.nodes": [1, 2], "cluster.fabric.link.latency": ["1us", "5us"]}), models=True, progress=False)


def calls(study, tmp_path):
    """Returns every call, with arguments that are right."""
    scenario = ring(sweep={"cluster.nodes": [2, 4]})
    folder = tmp_path / "saved"
    study.save(folder)
    return {
        "run": (paceline.run, {"scenario": scenario, "jobs": 1, "progress": False}),
        "check": (paceline.check, {"scenario": scenario}),
        "check_method": (paceline.check_method, {"scenario": scenario}),
        "explain": (paceline.explain, {"scenario": scenario, "point": 1}),
        "solve": (paceline.solve, {"scenario": ring(), "vary": {"cluster.nodes": (2, 4)}, "find": "step_time_s", "equals": 0.02,
                                   "grid": 2}),
        "calibrate": (paceline.calibrate, {"scenario": ring(), "rows": [{"nodes": 4, "step_time_s": 0.022}],
                                           "free": {"cluster.fabric.link.bandwidth": ("500Mbps", "2Gbps")}}),
        "diagnose": (paceline.diagnose, {"scenario": ring(), "measured": ["step=30ms"], "advise": False}),
        "load": (paceline.load, {"folder": folder}),
        "list_text": (paceline.list_text, {"name": "links"}),
        "csv": (study.csv, {"name": "results"}),
        "plot": (study.plot, {"kind": "speedup"}),
        "save": (study.save, {"folder": folder}),
        "model": (study.points[-1].model, {"worker": 1}),
    }


def arguments_of(call):
    names = [name for name, parameter in inspect.signature(call).parameters.items()
             if parameter.kind is not inspect.Parameter.VAR_KEYWORD]
    return names + (list(_plots.OPTIONS) if "options" in inspect.signature(call).parameters else [])


def test_every_public_call_is_here(study, tmp_path):
    of_parts = ("algorithm", "codec", "mixing", "problem", "torch_problem")  # own_*_test.py has what they refuse
    public = {name for name in dir(paceline) if name not in of_parts and not name.startswith("_")
              and inspect.isfunction(getattr(paceline, name)) and inspect.signature(getattr(paceline, name)).parameters}
    methods = {name for cls in (paceline.Study, paceline.Point) for name, one in vars(cls).items()
               if not name.startswith("_") and inspect.isfunction(one)}
    assert public | methods == set(calls(study, tmp_path))


@pytest.mark.parametrize("name", ["run", "check", "explain", "solve", "calibrate", "diagnose", "load", "list_text", "csv", "plot", "save", "model"])
@pytest.mark.filterwarnings("ignore")
def test_whatever_stands_in_an_argument_is_read_or_refused_by_its_name(name, study, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, right = calls(study, tmp_path)[name]
    call(**right)
    refused = 0
    for argument in arguments_of(call):
        for what, value in JUNK.items():
            given = {**right, argument: value}
            if name == "plot" and argument in ("x", "y", "value", "ratio"):
                given["kind"] = "heatmap"
            try:
                call(**given)
            except (paceline.ScenarioError, paceline.OutputError, OSError, LookupError, TypeError) as error:
                refused += 1
                said = str(error).replace(_arguments.shown(value), "...")
                assert not any(word in said for word in FOREIGN), (argument, what, said)
                assert isinstance(error, (paceline.ScenarioError, OSError, LookupError)) or argument == "scenario", (argument, what)
                assert argument in said or isinstance(value, (str, bytes, dict, numpy.ndarray, list)) or argument == "scenario", \
                    (argument, what, said)
                faults = len(error.faults) if isinstance(error, paceline.ScenarioError) else 1
                assert len(said) < 1000 * faults and len(said.split("\n")) == faults, (argument, what, said)
    assert refused > len(JUNK) / 2


NUMBERS = [lambda n: numpy.int64(n), lambda n: numpy.uint8(n), lambda n: numpy.float32(n), lambda n: float(n),
           lambda n: numpy.array(n), lambda n: pandas.Series([n]).iloc[0], lambda n: fractions.Fraction(n)]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_of_numpy_is_a_number_in_every_call(number, study, tmp_path):
    scenario = ring(sweep={"cluster.nodes": [2, 4]})
    plain = paceline.run(scenario, jobs=1, progress=False)
    one = number(1)
    assert paceline.run(scenario, jobs=one, threads=one, progress=False).csv() == plain.csv()
    assert paceline.explain(scenario, one, threads=one).text == paceline.explain(scenario, 1).text
    in_cell = plain.frame["point"].iloc[1]
    assert paceline.explain(scenario, in_cell).text == paceline.explain(scenario, 1).text
    assert paceline.run(ring(), {"stop.iterations": number(3), "cluster.nodes": number(4)}).points[0].metrics == \
        paceline.run(ring()).points[0].metrics
    assert paceline.run(ring(stop={"iterations": number(3)})).points[0].metrics == paceline.run(ring()).points[0].metrics
    solved = paceline.solve(ring(), {"cluster.nodes": (number(2), number(4))}, "step_time_s", number(1), times=one,
                            grid=number(3))
    assert solved.data["answers"] == paceline.solve(ring(), "cluster.nodes=2..4", "step_time_s", 1.0, grid=3).data["answers"]
    assert study.points[-1].model(one).keys() == study.points[-1].model(1).keys()
    assert study.plot("speedup", target=number(1)).axes


@pytest.mark.parametrize("whole", [30, 30.0, numpy.float64(30), "30.0", "3e1"])
def test_a_whole_number_may_have_a_point(whole, tmp_path):
    """In a dict, in JSON text and in an override; in a profile and in the labels of a table."""
    plain = paceline.run(ring(stop={"iterations": 30})).points[0].metrics
    text = str(whole)
    of_text = '{"cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps", "latency": "50us"}}},' \
              '"workload": {"gradient": "1MB", "step_time": "10ms"}, "algorithm": {"kind": "dense"}, "stop": {"iterations": %s}}'
    assert paceline.run(of_text % text).points[0].metrics == plain
    if not isinstance(whole, str):
        assert paceline.run(ring(stop={"iterations": whole})).points[0].metrics == plain
        assert paceline.run(ring(), {"stop.iterations": whole}).points[0].metrics == plain
    profile = '{"name": "a", "source": "b", "layers": [{"name": "c", "macs": %s, "tensors": [{"name": "w", "shape": [%s]}]}]}'
    (tmp_path / "p.json").write_text(profile % (text, text))
    used = {**ring(), "workload": {"profile": str(tmp_path / "p.json"), "step_time": "10ms"}}
    assert paceline.run(used).points[0].metrics["bytes_sent_per_node_per_step"] > 0


@pytest.mark.parametrize("mark", ["\ufeff", "\ufeff\n  "])
def test_a_mark_of_byte_order_is_skipped(mark, study, tmp_path):
    import json

    text = json.dumps(ring())
    assert paceline.run(mark + text).csv() == paceline.run(text).csv()
    folder = tmp_path / "saved"
    study.save(folder)
    for name in ("results.csv", "timeline.csv", "summary.csv", "manifest.json"):
        file = pathlib.Path(folder / name)
        if file.exists():
            file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert paceline.load(folder).csv("timeline") == study.csv("timeline")


def cut_cell(lines):
    return [*lines[:1], lines[1].rpartition(",")[0], *lines[2:]]


def word_in_number(lines):
    at = lines[0].split(",").index("step_time_s")
    cells = lines[1].split(",")
    return [*lines[:1], ",".join([*cells[:at], "fast", *cells[at + 1:]]), *lines[2:]]


@pytest.mark.parametrize(("change", "words"), [
    (cut_cell, r"results.csv: row 1 has \d+ cells; the header has \d+"),
    (word_in_number, "row 1 has \"fast\" as step_time_s, which is not a number"),
    (lambda lines: [lines[0].replace("outcome", "end"), *lines[1:]], "is not of paceline"),
    (lambda lines: [*lines[:1], "x" + lines[1], *lines[2:]], "row 1 has \"x0\" as point, which is not a whole number"),
    (lambda lines: [], "results.csv: is empty"),
    (lambda lines: [lines[0], '"' + lines[1]], "results.csv: cannot be read"),
])
def test_a_changed_table_is_refused_with_its_row(change, words, study, tmp_path):
    folder = tmp_path / "saved"
    study.save(folder)
    file = folder / "results.csv"
    file.write_text("".join(line + "\n" for line in change(file.read_text().splitlines())))
    with pytest.raises(paceline.ScenarioError, match=words):
        paceline.load(folder)

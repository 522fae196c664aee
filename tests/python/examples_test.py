"""The notebooks of examples/: they run, print what docs/python.md shows, and draw their figures."""

import os
import re
import subprocess
import sys

import pytest

import paceline
from conftest import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
PAGE = (ROOT / "docs/python.md").read_text()


def shown(name):
    """Returns what the page shows of an example."""
    return re.search(rf"\[examples/{name}\.py\].*?```text\n(.*?)```", PAGE, re.DOTALL)[1]


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_a_notebook_prints_what_the_page_shows(file, tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(paceline.__file__))}
    done = subprocess.run([sys.executable, "-B", file], capture_output=True, text=True, check=False, cwd=tmp_path,
                          env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout == shown(file.stem)
    figure = tmp_path / f"{file.stem}.svg"
    assert figure.read_text().startswith("<?xml") and figure.stat().st_size > 5_000
    assert f"figures/{file.stem}.svg" in PAGE and (ROOT / f"docs/figures/{file.stem}.svg").exists()


def test_there_are_three_notebooks():
    assert len(EXAMPLES) == 3
    assert all(file.read_text().count("# %%") >= 6 for file in EXAMPLES)


def test_the_pages_program_runs(tmp_path, monkeypatch, capsys):
    """The python blocks of docs/python.md, one after another, from the root of the repository."""
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(ROOT)
    names = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(block, "docs/python.md", "exec"), names)  # noqa: S102
    assert capsys.readouterr().out == "--set cluster.nodse nodes\n"
    assert names["study"].points[0].metrics["test_accuracy"] > 0.9
    assert names["study"].points[0].models.shape == (4, 9)


@pytest.mark.parametrize(("page", "count", "figure"), [("in-a-notebook", 7, "speedup.svg"), ("your-own-method", 8, "seldom.svg")])
def test_the_cells_of_a_how_to_page_print_what_it_shows(page, count, figure, tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    names = {}
    text = (ROOT / f"docs/how-to/{page}.md").read_text()
    cells = re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", text, re.DOTALL)
    assert len(cells) == count
    for cell, expected in cells:
        exec(compile(cell, f"docs/how-to/{page}.md", "exec"), names)  # noqa: S102
        assert capsys.readouterr().out == expected, cell
    assert (tmp_path / figure).read_text().startswith("<?xml")


def test_the_example_with_optuna_finds_options(tmp_path):
    pytest.importorskip("optuna")
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(paceline.__file__))}
    done = subprocess.run([sys.executable, "-B", ROOT / "examples/methods/tune_with_optuna.py"], capture_output=True, text=True,
                          check=False, cwd=tmp_path, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "accuracy 0." in done.stdout


def test_a_saved_figure_has_the_bytes_of_paceline_plot(command, tmp_path):
    pytest.importorskip("matplotlib")
    study = paceline.run(ROOT / "scenarios/dgc-speedup.json", out=tmp_path / "out", progress=False)
    study.plot("speedup", where=["workload=AlexNet", "nodes=2", "nodes=8", "nodes=64"], save=tmp_path / "ours.svg")
    done = command("plot", tmp_path / "out", "speedup", "--where", "workload=AlexNet", "--where", "nodes=2", "--where",
                   "nodes=8", "--where", "nodes=64", "--format", "svg")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "ours.svg").read_bytes() == (tmp_path / "out/speedup.svg").read_bytes()
    with pytest.raises(paceline.ScenarioError, match="ends in none of"):
        study.plot("speedup", save="figure.gif")

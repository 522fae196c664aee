"""The package as a whole: types, docstrings, import time, the cost of a call, processors."""

import inspect
import os
import pathlib
import subprocess
import sys
import time

import pytest

import paceline
from conftest import ring
from paceline import _engine, _processor

PACKAGE = pathlib.Path(paceline.__file__).parent


def run(*arguments):
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), "MYPYPATH": str(PACKAGE.parent)}
    return subprocess.run([sys.executable, "-B", *map(str, arguments)], capture_output=True, text=True, check=False,
                          env=environment, timeout=300)


def test_types_are_those_that_mypy_finds(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "mypy.ini").write_text("[mypy]\nstrict = True\nexclude = /paceline/plots/\n[mypy-paceline.plots.*]\nfollow_imports = skip\n"
                                       "[mypy-pandas.*,matplotlib.*,tqdm.*]\nignore_missing_imports = True\n")
    done = run("-m", "mypy", "--config-file", tmp_path / "mypy.ini", "--cache-dir", tmp_path / "cache",
               pathlib.Path(__file__).with_name("typing_sample.py"), PACKAGE)
    assert done.returncode == 0, done.stdout + done.stderr


def test_mypy_finds_a_wrong_call(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "wrong.py").write_text("import paceline\npaceline.run(3)\npaceline.run('s.json').points[0].steps\n")
    done = run("-m", "mypy", "--cache-dir", tmp_path / "cache", "--ignore-missing-imports", tmp_path / "wrong.py")
    assert done.returncode == 1
    assert "incompatible type \"int\"" in done.stdout and "has no attribute \"steps\"" in done.stdout


def test_the_stubs_are_those_of_the_engine(tmp_path):
    pytest.importorskip("mypy")
    # Nothing is constructed from Python, and the metaclass of a class is pybind11's.
    (tmp_path / "allowed").write_text(r"paceline._engine\.(Job|ReadJob|RunJob|AnswerJob|Study|Results|Operation|Draws|WorkerCore)(\.__init__)?" + "\n")
    (tmp_path / "mypy.ini").write_text("[mypy]\nignore_missing_imports = True\n")
    done = run("-m", "mypy.stubtest", "paceline._engine", "--allowlist", tmp_path / "allowed", "--ignore-unused-allowlist",
               "--ignore-positional-only", "--mypy-config-file", tmp_path / "mypy.ini")
    assert done.returncode == 0, done.stdout + done.stderr


def public(module):
    for name in module.__all__:
        thing = getattr(module, name)
        yield name, thing
        if inspect.isclass(thing):
            yield from ((f"{name}.{key}", value) for key, value in vars(thing).items()
                        if not key.startswith("_") and (callable(value) or isinstance(value, property)))


def test_everything_public_has_a_docstring():
    without = [name for name, thing in public(paceline)
               if name != "__version__" and not name.endswith((".table", ".points")) and not inspect.getdoc(thing)]
    assert without == []
    assert "(workers, parameters)" in inspect.getdoc(paceline.Point) and "seconds" in inspect.getdoc(paceline.Point)


def test_the_package_is_imported_within_100_ms_and_without_pandas():
    # CPU time, which other processes do not change; an import waits for nothing.
    script = ("import sys, time; t = time.process_time(); import paceline; s = time.process_time() - t; "
              "print(s, *(name in sys.modules for name in ('pandas', 'numpy', 'matplotlib', 'tqdm')))")
    words = [run("-c", script).stdout.split() for _ in range(7)]
    assert words[0][1:] == ["False"] * 4
    assert min(float(seconds) for seconds, *_ in words) < 0.1


def test_a_call_costs_less_than_2_ms_beyond_the_simulation():
    """The least CPU time of all threads, which other processes change least; bench/python_calls.py measures wall-clock time."""
    paceline.run(ring(), progress=False)
    beyond = []
    for _ in range(50):
        begin = time.process_time()
        study = paceline.run(ring(), progress=False)
        seconds = study.points[0].metrics["step_time_s"]
        beyond.append(time.process_time() - begin)
        assert seconds > 0
    assert min(beyond) < 0.002


def test_a_call_without_pandas_or_matplotlib_says_what_to_install():
    script = ("import sys; sys.modules['pandas'] = None; sys.modules['matplotlib'] = None; import paceline\n"
              "study = paceline.run({})")
    script = script.replace("{}", repr(ring()))
    for call, words in (("study.frame", "python3-pandas"), ("study.plot()", "python3-matplotlib")):
        done = run("-c", f"{script}\n{call}")
        assert done.returncode == 1 and words in done.stderr.splitlines()[-1]


def test_a_progress_bar_is_shown_on_a_terminal_alone(tmp_path):
    import pty

    script = f"import paceline; paceline.run({ring(stop={'iterations': 2_000_000})!r})"
    quiet = run("-c", script)
    assert (quiet.returncode, quiet.stderr) == (0, "")
    for prelude, words in (("", "/1"), ("import sys; sys.modules['tqdm'] = None; ", "0/1 points")):
        leader, follower = pty.openpty()
        child = subprocess.Popen([sys.executable, "-B", "-c", prelude + script], stderr=follower,
                                 env={**os.environ, "PYTHONPATH": str(PACKAGE.parent), "TERM": "xterm"})
        os.close(follower)
        told = b""
        while True:
            try:
                piece = os.read(leader, 4096)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            told += piece
        os.close(leader)
        assert child.wait(60) == 0
        assert words in told.decode(), told


def test_a_progress_bar_is_shown_in_a_notebook():
    """A notebook is a process whose IPython has a kernel; its standard error is no terminal."""
    pytest.importorskip("tqdm")
    shell = "type('Shell', (), {'config': {'IPKernelApp': {}}})()"
    prelude = f"import sys, types; sys.modules['IPython'] = types.SimpleNamespace(get_ipython=lambda: {shell})\n"
    done = run("-c", f"{prelude}import paceline; paceline.run({ring(stop={'iterations': 2_000_000})!r})")
    assert done.returncode == 0 and "0/1" in done.stderr


def test_a_processor_without_avx2_is_refused_in_words():
    assert _processor.missing("processor\t: 0\nflags\t\t: fpu sse4_2\n") >= {"avx2", "fma"}
    assert _processor.missing("flags\t: avx2 fma bmi1 bmi2 movbe f16c abm\n") == set()
    assert _processor.missing("no such line") == set()


def test_versions_agree():
    assert paceline.__version__ == _engine.__version__
    assert f"paceline {paceline.__version__} (commit " in run("-m", "paceline", "--version").stdout


def test_an_instruction_set_that_is_not_there_is_refused():
    done = subprocess.run([sys.executable, "-B", "-c", f"import paceline; paceline.run({ring()!r})"], capture_output=True,
                          text=True, check=False, env={**os.environ, "PYTHONPATH": str(PACKAGE.parent), "PACELINE_ISA": "mmx"})
    assert done.returncode == 1 and "PACELINE_ISA" in done.stderr.splitlines()[-1]

"""Ctrl-C, threads, and the exit of the interpreter."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import paceline
from conftest import ROOT, endless, ring


def interrupt_after(seconds):
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def test_an_interrupt_ends_a_study_within_a_second_and_keeps_its_points(tmp_path):
    interrupt_after(1.0)
    begin = time.monotonic()
    with pytest.raises(paceline.Interrupted) as caught:
        paceline.run(endless(points=4), jobs=1, out=tmp_path / "out", progress=False)
    assert time.monotonic() - begin < 2.0  # one second passes before the signal

    study = caught.value.study
    assert not study.complete
    # The longest point runs first with one loop, so it may be that nothing has finished.
    assert len(study.points) < study.size == 4


def test_points_that_had_finished_are_there_and_are_taken_over(tmp_path):
    interrupt_after(1.0)
    with pytest.raises(paceline.Interrupted) as caught:
        paceline.run(endless(points=4), jobs=2, out=tmp_path / "out", progress=False)
    study = caught.value.study
    assert [point.number for point in study.points] == [0, 1, 2]  # beside the long one
    assert all(point.outcome == "finished" for point in study.points)
    (journal,) = (tmp_path / "out/points").glob("*.points")
    assert journal.read_text().count("paceline-point") == 3
    assert paceline.load(tmp_path / "out").csv() == study.csv()

    short = {"stop.iterations": [1, 2, 3]}
    again = paceline.run(endless(points=4), short, out=tmp_path / "out", resume=True, progress=False)
    assert again.complete and again.csv() == study.csv()


@pytest.mark.parametrize("call", [
    lambda: paceline.explain(endless(), point=0, overrides={  # messages with jitter go by events, one by one
        "stop.iterations": 2000, "cluster.nodes": 4096, "cluster.fabric.link.jitter": {"kind": "normal", "mean": "1us", "sd": "1us"}}),
    lambda: paceline.run(ring(), {"cluster.nodes": 8_000, "algorithm": {"kind": "dense", "aggregation": {"kind": "all-reduce", "plan": "ring"}},
                                  "stop.iterations": 100}, progress=False),
    lambda: paceline.solve(endless(), {"cluster.fabric.link.latency": ("1us", "1ms")}, "sim_time_s", 1.0),
])
def test_an_interrupt_ends_other_questions_within_a_second(call):
    timer = interrupt_after(0.5)
    begin = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
            assert not timer.is_alive(), "the call was quicker than the signal"
            time.sleep(5)
    finally:
        timer.cancel()
    assert time.monotonic() - begin < 1.5


def test_an_interrupt_is_a_keyboard_interrupt_that_except_exception_lets_pass():
    assert issubclass(paceline.Interrupted, KeyboardInterrupt)
    assert not issubclass(paceline.Interrupted, Exception)


def test_two_studies_run_in_two_threads():
    files = [ROOT / "tests/fingerprints/seeds.json", ROOT / "tests/fingerprints/nets.json"]
    alone = [paceline.run(file, progress=False).csv() for file in files]
    made = {}

    def work(i):
        made[i] = paceline.run(files[i % 2], progress=False).csv()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [made[i] for i in range(4)] == [alone[0], alone[1], alone[0], alone[1]]


def test_the_gil_is_released_while_a_study_runs():
    steps = {"count": 0}
    over = threading.Event()

    def count():
        while not over.is_set():
            steps["count"] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begin = time.monotonic()
    study = paceline.run(ring(stop={"iterations": 40_000}), progress=False)
    seconds = time.monotonic() - begin
    over.set()
    thread.join()
    assert study.complete and seconds > 0.05
    assert steps["count"] > 100 * seconds  # of the 1,000 a second that a free GIL would allow


def run_script(script, tmp_path, **options):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(os.path.dirname(paceline.__file__)),
                                                                str(pathlib.Path(__file__).parent)])}
    return subprocess.run([sys.executable, "-B", "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False,
                          cwd=tmp_path, env=environment, timeout=60, **options)


def test_the_interpreter_ends_cleanly_while_a_daemon_thread_runs_a_study(tmp_path):
    done = run_script("""
        import threading, time
        import paceline
        from conftest import endless
        thread = threading.Thread(target=paceline.run, args=(endless(),), kwargs={"progress": False}, daemon=True)
        thread.start()
        time.sleep(0.5)
        print("end")
        """, tmp_path)
    assert done.stdout == "end\n"
    assert done.returncode == 0, done.stderr


def test_a_signal_ends_a_script(tmp_path):
    done = run_script("""
        import os, signal, threading
        import paceline
        from conftest import endless
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        paceline.run(endless(), progress=False)
        """, tmp_path)
    assert done.returncode == 1
    assert "Interrupted: 0 of 1 points are done" in done.stderr


def test_the_command_line_of_the_module_stops_as_the_program_does(tmp_path):
    (tmp_path / "long.json").write_text(json.dumps(endless()))
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(paceline.__file__))}
    child = subprocess.Popen([sys.executable, "-B", "-m", "paceline", "run", "long.json"], cwd=tmp_path, env=environment,
                             stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    begin = time.monotonic()
    told = child.communicate(timeout=30)[1]
    assert time.monotonic() - begin < 1
    assert child.returncode == 128 + signal.SIGINT
    assert told == "paceline: stopped: 0 of 1 points are done; to resume: paceline run long.json --resume\n"


def test_a_folder_in_use_is_refused(tmp_path):
    thread = threading.Thread(target=lambda: pytest.raises(paceline.OutputError, run_there))
    ran = threading.Event()

    def run_there():
        paceline.run(ring(), out=tmp_path / "out", progress=False)

    def long_run():
        try:
            paceline.run(endless(), out=tmp_path / "out", progress=False)
        except KeyboardInterrupt:
            ran.set()

    threading.Timer(0.5, thread.start).start()
    interrupt_after(1.5)
    long_run()
    thread.join()
    assert ran.is_set()
    with pytest.raises(paceline.OutputError, match="another scenario"):
        (tmp_path / "out/manifest.json").write_text('{\n  "program": "paceline",\n  "scenario": "other.json"\n}\n')
        run_there()

"""Methods of one's own: what they see, how options reach them, and how mistakes are told."""

import gc
import subprocess
import sys

import numpy
import pytest

import paceline
from conftest import ring, training

RING = {"kind": "ring"}


@paceline.algorithm
async def plain(self, *, damping=1.0):
    x = self.model()
    while self.begins_step():
        g = await self.gradient(x)
        x[:] = await self.neighbor_average(x - damping * self.learning_rate() * g)
        await self.update()


def with_method(method, scenario=training, **options):
    return scenario(algorithm={"kind": method, **options})


def failure_of(method, scenario=training, **options):
    with pytest.raises(paceline.MethodError) as caught:
        paceline.run(with_method(method, scenario, **options))
    return caught.value


def line_of(method, text):
    """Returns the number of the line of a method that contains a text."""
    import inspect

    lines, first = inspect.getsourcelines(method.function)
    return first + next(i for i, line in enumerate(lines) if text in line)


def test_options_are_keywords_that_scenarios_set_and_sweep():
    swept = paceline.run(with_method(plain, mixing=RING, damping=1),
                         {"optimizer.learning_rate": 0.2}).points[0].metrics["train_loss"]
    halves = paceline.run(training(algorithm={"kind": plain, "mixing": RING}, optimizer={"learning_rate": 0.4},
                                   sweep={"algorithm.damping": [0.25, 0.5]}), jobs=2)
    assert [point.values["algorithm.damping"] for point in halves.points] == ["0.25", "0.5"]
    assert halves.points[1].metrics["train_loss"] == swept
    assert halves.points[0].metrics["train_loss"] != swept
    changed = paceline.run(with_method(plain, mixing=RING), {"algorithm.damping": 0.5, "optimizer.learning_rate": 0.4})
    assert changed.points[0].metrics["train_loss"] == swept


def test_methods_stand_beside_those_of_the_table_and_have_their_names():
    study = paceline.run(training(sweep={"algorithm": [{"kind": plain, "mixing": RING}, {"kind": "dense"},
                                                       {"kind": plain, "mixing": RING, "label": "again"}]}), jobs=2)
    assert [point.values["algorithm"] for point in study.points] == ["plain", "dense", "again"]
    assert study.points[0].metrics == study.points[2].metrics


@pytest.mark.parametrize(("options", "path", "words"), [
    ({"dampign": 0.5}, "algorithm.dampign", "did you mean \"damping\"?"),
    ({"damping": "much"}, "algorithm.damping", "\"much\" is not a number"),
    ({"damping": [1]}, "algorithm.damping", "is not a number"),
    ({"codec": {"kind": "qsgdd"}}, "algorithm.codec.kind", "did you mean \"qsgd\"?"),
])
def test_a_wrong_option_is_refused_at_its_place(options, path, words):
    with pytest.raises(paceline.ScenarioError) as caught:
        paceline.check(with_method(plain, mixing=RING, **options))
    assert caught.value.path == path
    assert words in str(caught.value)


def test_an_option_without_a_default_has_to_be_given():
    @paceline.algorithm
    async def needs(self, *, period: int):
        while self.begins_step():
            await self.compute(period * 1e-3)

    with pytest.raises(paceline.ScenarioError, match="\"period\" is missing"):
        paceline.check(with_method(needs))
    with pytest.raises(paceline.ScenarioError, match="1.5 is not a whole number"):
        paceline.check(with_method(needs, period=1.5))
    run = paceline.run(with_method(needs, ring, period=3.0))
    assert run.points[0].metrics["sim_time_s"] == pytest.approx(3 * 3e-3)


def test_what_is_no_method_is_refused_when_it_is_marked():
    with pytest.raises(TypeError, match="a method is an async def"):
        paceline.algorithm(lambda self: None)
    with pytest.raises(TypeError, match="options are keyword-only: write a \\* before momentum"):
        @paceline.algorithm
        async def positional(self, momentum):
            pass
    with pytest.raises(TypeError, match="label is already a key"):
        @paceline.algorithm
        async def taken(self, *, label=""):
            pass
    with pytest.raises(ValueError, match="'shrugs' is none of"):
        paceline.algorithm(when_nodes_die="shrugs")


@paceline.algorithm
async def divides(self):
    while self.begins_step():
        await self.gradient(self.model())
        if self.step == 2 and self.rank == 1:
            print(1 // (self.step - 2))  # here


@paceline.algorithm
async def forgets(self):
    while self.begins_step():
        await self.gradient(self.model())
        self.update()  # here


@paceline.algorithm
async def writes(self):
    while self.begins_step():
        mean = await self.all_reduce(self.model())
        mean *= 2  # here


@paceline.algorithm
async def awaits_twice(self):
    while self.begins_step():
        once = self.update()
        await once
        await once  # here


@paceline.algorithm
async def wrong_size(self):
    while self.begins_step():
        await self.gradient(numpy.zeros(3))  # here


@pytest.mark.parametrize(("method", "step", "words"), [
    (divides, 2, "ZeroDivisionError: integer division or modulo by zero (node 1, step 2"),
    (forgets, 0, "self.update was not awaited, so it did nothing: write await self.update(...) (node 0, step 0"),
    (writes, 0, "ValueError: output array is read-only"),
    (awaits_twice, 0, "self.update was awaited or started before"),
    (wrong_size, 0, "has 3 numbers, and the model has 15 parameters"),
])
def test_a_failure_tells_node_step_and_line(method, step, words):
    error = failure_of(method)
    assert words in str(error)
    assert (error.step, error.file, error.line) == (step, __file__, line_of(method, "# here"))
    assert f"{__file__}:{error.line}" in str(error)


def test_what_is_of_another_event_loop_is_refused():
    class Future:
        def __await__(self):
            yield self

        def __repr__(self):
            return "<a future>"

    @paceline.algorithm
    async def foreign(self):
        await Future()

    assert str(failure_of(foreign)).startswith("awaits <a future>, which is not an operation of a worker")


def test_a_deadlock_tells_what_each_waits_for():
    @paceline.algorithm
    async def waits(self):
        while self.begins_step():
            if self.rank == 1:
                await self.next_letter()
            else:
                await self.barrier()

    point = paceline.run(with_method(waits)).points[0]
    assert point.outcome == "deadlock"
    assert "node 1 waits for a value in a channel" in point.details
    assert "node 0 waits for the others at a barrier" in point.details


def test_arrays_keep_their_values_and_a_worker_ends_with_its_run():
    kept = []

    @paceline.algorithm
    async def keeps(self):
        x = self.model()
        assert self.model() is x
        while self.begins_step():
            g = await self.gradient(x)
            before = x.copy()
            x -= self.learning_rate() * g
            kept.append((self, x, g, before))
            await self.update()

    study = paceline.run(with_method(keeps), models=True)
    models = study.points[0].models.copy()
    del study
    gc.collect()
    last = {worker.rank: (worker, x) for worker, x, _, _ in kept}
    for rank, (worker, x) in last.items():
        assert numpy.array_equal(x, models[rank])
        with pytest.raises(RuntimeError, match="used outside of its method"):
            worker.step
    for worker, _, g, before in kept[-4:]:
        assert numpy.array_equal(before - 0.1 * g, models[worker.rank])


def test_a_gradient_is_at_the_model_as_it_was_passed():
    """Who writes into the model while its gradient is computed gets the gradient at the old values."""
    def method(writes):
        @paceline.algorithm
        async def overlaps(self):
            x = self.model()
            while self.begins_step():
                gradient = self.start(self.gradient(x if writes else x.copy()))
                x += 1.0
                g = await gradient
                x -= 1.0
                x -= self.learning_rate() * g
        return overlaps

    a, b = (paceline.run(with_method(method(writes)), models=True).points[0].models for writes in (True, False))
    assert numpy.array_equal(a, b)


def test_work_beside_the_method_takes_its_time_and_returns_what_it_returns():
    @paceline.algorithm
    async def beside(self):
        async def later(seconds, value):
            await self.sleep(seconds)
            return value

        while self.begins_step():
            one = self.start(later(0.002, "one"))
            two = self.start(later(0.003, "two"))
            await self.sleep(0.001)
            assert (await two, await one) == ("two", "one")

    assert paceline.run(with_method(beside, ring)).points[0].metrics["sim_time_s"] == pytest.approx(3 * 0.003)


def test_a_group_averages_among_its_members():
    @paceline.algorithm
    async def pairs(self):
        x = self.model()
        x[:] = self.rank
        while self.begins_step():
            first = self.rank // 2 * 2
            x[:] = await self.all_reduce(x, group=[first, first + 1])
            tensors = self.tensors()
            assert sum(tensor.size for tensor in tensors) == x.size
            assert self.mixing_row() == {0: 0.25, 1: 0.25, 2: 0.25, 3: 0.25}
            total = await self.neighbor_sum(numpy.ones(2))
            assert list(total) == [4, 4]

    models = paceline.run(with_method(pairs, mixing={"kind": "complete"}), models=True).points[0].models
    assert numpy.array_equal(models[:, 0], [0.5, 0.5, 2.5, 2.5])


def test_without_values_arithmetic_works_and_what_needs_values_says_so():
    @paceline.algorithm
    async def sizes(self, *, look=False):
        x, m = self.model(), 0.0
        while self.begins_step():
            g = await self.gradient(x)
            m = 0.9 * m + numpy.sqrt(abs(g)) / 2
            x[:] = await self.all_reduce(x - m)
            assert x[10:30].size == 20 and len(numpy.zeros_like(x)) == x.size == 250_000
            if look and numpy.linalg.norm(g) > 1:
                break

    assert paceline.run(with_method(sizes, ring)).points[0].metrics["step_time_s"] == \
        paceline.run(ring()).points[0].metrics["step_time_s"]
    error = failure_of(sizes, ring, look=True)
    assert "numpy.norm needs values, and a timing-only run has none" in str(error)
    assert error.line == line_of(sizes, "numpy.linalg.norm")


def test_points_that_run_side_by_side_give_the_same_bytes():
    scenario = training(algorithm={"kind": plain, "mixing": RING}, sweep={"seed": list(range(8))})
    one, two = (paceline.run(scenario, jobs=jobs, threads=jobs) for jobs in (1, 2))
    assert one.csv() == two.csv() and one.csv("timeline") == two.csv("timeline")


def test_a_method_that_remembers_other_runs_is_caught():
    calls = []

    @paceline.algorithm
    async def counts(self):
        calls.append(self.rank)
        while self.begins_step():
            await self.compute(1e-3 * len(calls))

    with pytest.raises(paceline.MethodError, match="point 0 differs when it is run again: sim_time_s"):
        paceline.check_method(with_method(counts))
    paceline.check_method(with_method(plain, mixing=RING))


SOURCE = """
import paceline

RATE = 1.0

@paceline.algorithm
async def mine(self):
    x = self.model()
    while self.begins_step():
        x -= RATE * self.learning_rate() * await self.gradient(x)
        await self.update()
"""


def test_a_finished_point_is_taken_over_only_if_the_source_is_the_same(tmp_path):
    def mine(source):
        (tmp_path / "mine.py").write_text(source)
        return paceline.run(training(algorithm={"kind": str(tmp_path / "mine.py") + ":mine"}), out=tmp_path / "out",
                            resume=True).points[0]

    first = mine(SOURCE)
    kept = list((tmp_path / "out/points").glob("*.points"))
    assert mine(SOURCE).wall_clock_s == first.wall_clock_s  # it did not run again
    changed = mine(SOURCE.replace("RATE = 1.0", "RATE = 0.5"))
    assert changed.metrics["train_loss"] != first.metrics["train_loss"]
    assert len(kept) == 1


def test_the_kind_of_a_function_contains_its_source_and_what_it_uses():
    def made(rate, helper):
        @paceline.algorithm
        async def mine(self):
            while self.begins_step():
                await self.compute(helper(rate))
        return mine.kind

    def twice(x):
        return 2 * x

    def thrice(x):
        return 3 * x

    assert made(1.0, twice) == made(1.0, twice)
    assert len({made(1.0, twice), made(2.0, twice), made(1.0, thrice)}) == 3


def test_the_command_line_of_python_runs_a_method_and_the_program_says_how(tmp_path, command):
    import json
    import os

    (tmp_path / "mine.py").write_text(SOURCE)
    (tmp_path / "s.json").write_text(json.dumps(training(algorithm={"kind": "mine.py:mine"})))
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(paceline.__file__))}

    def of_python(*arguments):
        return subprocess.run([sys.executable, "-B", "-m", "paceline", *arguments], capture_output=True, text=True,
                              check=False, cwd=tmp_path, env=environment, timeout=100)

    assert of_python("run", "s.json", "--out", "out", "--quiet").returncode == 0
    assert (tmp_path / "out/results.csv").read_text() == paceline.run(tmp_path / "s.json").csv()
    refused = command("run", "s.json")
    assert refused.returncode == 2
    assert "\"mine.py:mine\" is a method in Python, which runs in Python alone: python3 -m paceline run" in refused.stderr
    (tmp_path / "mine.py").write_text(SOURCE.replace("RATE *", "[] *"))
    failed = of_python("run", "s.json", "--out", "other")
    assert failed.returncode == 1
    assert "mine.py:10: TypeError" in failed.stderr and "(node 0, step 0" in failed.stderr
    (tmp_path / "mine.py").write_text("import nothing_of_this_name")
    missing = of_python("check", "s.json")
    assert missing.returncode == 2
    assert "s.json: algorithm.kind: \"mine.py\" cannot be imported: ModuleNotFoundError" in missing.stderr


def test_a_method_is_explained_and_solved_for():
    scenario = with_method(plain, ring, mixing=RING)
    known = ring(algorithm={"kind": "dsgd", "mixing": RING})
    assert paceline.explain(scenario).parts_s == paceline.explain(known).parts_s
    asked = {"cluster.fabric.link.bandwidth": ("100Mbps", "10Gbps")}
    assert paceline.solve(scenario, asked, "step_time_s", 0.015).value == \
        paceline.solve(known, asked, "step_time_s", 0.015).value


def test_a_checkpoint_has_the_model_as_it_was_when_the_step_began():
    """Who writes into the model at once, before anything is awaited, does not write into the checkpoint."""
    def method(waits):
        @paceline.algorithm
        async def counts(self):
            x = self.model()
            while self.begins_step():
                if waits:
                    await self.sleep(0)
                x += 1.0
                await self.compute(2e-3)
        return counts

    failures = {"on_death": "restart", "trace": {"file": numpy.array([[1, 0.0131, 0.015]])}, "detection": "1ms",
                "checkpoint": {"every": "3ms", "write": "100us", "read": "100us"}}
    cluster = {**training()["cluster"], "failures": failures}
    a, b = (paceline.run(with_method(method(waits), lambda **key: training(cluster=cluster, **key)), models=True).points[0]
            for waits in (False, True))
    assert a.metrics["deaths"] == 1
    assert numpy.array_equal(a.models, b.models)


@paceline.algorithm
async def hurries(self):
    while self.begins_step():
        self.backward(self.model())
        await self.gradient(self.model())  # here


@paceline.algorithm
async def asks_an_old_one(self):
    x = self.model()
    while self.begins_step():
        old = self.backward(x)
        await old.complete(old.pieces[-1])
        new = self.backward(x)
        await new.complete(new.pieces[-1])
        await old.complete(old.pieces[0])  # here


@paceline.algorithm
async def skips_updates(self):
    while self.begins_step():
        await self.update()
        self.updates(self.step + 1)  # here


@paceline.algorithm
async def sets_another_size(self):
    state = self.shared("state")
    while self.begins_step():
        state.value = numpy.zeros(3)  # here
        await self.update()


@paceline.algorithm
async def writes_shared(self):
    model = self.shared_model()
    while self.begins_step():
        model.value += 1.0  # here
        await self.update()


@pytest.mark.parametrize(("method", "words"), [
    (hurries, "await the last piece of the gradient before, then begin another"),
    (asks_an_old_one, "this gradient is over: a newer one has begun"),
    (skips_updates, "updates are numbered 0, 1, ... without gaps; the next is 0, not 1"),
    (sets_another_size, "has 3 numbers, and it had 15"),
    (writes_shared, "output array is read-only"),
])
def test_pieces_and_shared_state_are_used_as_they_are_meant(method, words):
    error = failure_of(method)
    assert words in str(error)
    assert error.line == line_of(method, "# here")


def test_shared_state_has_a_first_value_and_exists_once():
    @paceline.algorithm
    async def counts(self):
        count = self.shared("count", numpy.ones(2))
        while self.begins_step():
            await self.barrier()
            if self.updates(self.step):
                count.value = count.value + 1
            assert list(count.value) == [self.step + 2] * 2 and self.updates_done() == self.step + 1
            await self.barrier()

    assert paceline.run(with_method(counts)).points[0].outcome == "finished"
    with pytest.raises(paceline.MethodError, match="state has a name"):
        @paceline.algorithm
        async def nameless(self):
            self.shared("")
        paceline.run(with_method(nameless))


def test_without_values_pieces_weigh_what_they_would():
    @paceline.algorithm
    async def sizes(self):
        model = self.shared_model()
        while self.begins_step():
            backward = self.backward(model.value)
            assert [piece.weight for piece in backward.pieces] == [500_000, 500_000]
            for piece in backward.pieces:
                assert (await backward.complete(piece)).size == piece.size == 125_000
            await self.update()

    scenario = ring(workload={"gradient": "1MB", "tensors": 2, "step_time": "10ms"},
                    algorithm={"kind": sizes, "schedule": {"pieces": "tensors", "begin": "beside-backward"}})
    assert paceline.run(scenario).points[0].metrics["step_time_s"] == pytest.approx(0.01)

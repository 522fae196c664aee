"""Servers of methods of one's own: bounded staleness in Python is that of the table, also when nodes die."""

import numpy
import pytest

import paceline
from conftest import ring, training
from methods_test import NET, rows_of

NOBODY = 10**9


@paceline.algorithm(when_nodes_die="server-goes-on", runs_freely=True)
async def stale(self, *, beta=0.9, bound=3):
    """Ho et al., NIPS 2013: the server answers who is at most `bound` steps ahead of the slowest."""
    x, version, m = self.shared_model().value, self.updates_done(), 0.0
    while self.begins_step():
        gamma = self.learning_rate() / self.workers
        m = beta * m + await self.gradient(x)
        await self.post(self.servers[0], gamma * m, number=version)
        answer = await self.next_letter()
        x, version = answer.vector, answer.number
        await self.update()


@stale.server
async def serve(self, *, bound=3):
    model, waiting = self.shared_model(), []
    steps, lives = [0] * self.workers, [0] * self.workers

    def present():
        return [rank for rank in range(self.workers) if self.present(rank)]

    def note_changes():
        waiting[:] = [rank for rank in waiting if self.present(rank) and self.life(rank) == lives[rank]]
        for rank in present():
            if lives[rank] != self.life(rank):
                lives[rank], steps[rank] = self.life(rank), self.first_step(rank)

    def let_go():
        note_changes()
        least = min((steps[rank] for rank in present()), default=NOBODY)
        free = [rank for rank in waiting if not self.gradients_left() or steps[rank] - least <= bound]
        waiting[:] = [rank for rank in waiting if rank not in free]
        return free

    while True:
        push = await self.next_letter_or_change()
        if push is not None:
            self.count_staleness(self.updates_done() - push.number)
            if self.updates(self.updates_done()):
                model.value = model.value - push.vector
            note_changes()
            if self.present(push.sender) and self.life(push.sender) == push.life:
                steps[push.sender] += 1
                waiting.append(push.sender)
        free = let_go()
        while free:
            for rank in free:
                await self.post(rank, model.value, number=self.updates_done())
            free = let_go()


@pytest.mark.parametrize("bound", [0, 2])
@pytest.mark.parametrize("dies", [False, True])
def test_bounded_staleness_in_python_is_that_of_the_table(bound, dies):
    """With a bound of 0, the server is a synchronous one: nobody begins a step before all have pushed theirs."""
    scenario = training(workload=NET, stop={"iterations": 32}, optimizer={"learning_rate": 0.05, "momentum": 0.8})
    scenario["cluster"] = {**scenario["cluster"], "stragglers": {"factor": 3, "share": 0.3}}
    if dies:
        trace = numpy.array([[1, 0.0042, 0.0131], [3, 0.0303, 9.0]])
        scenario["cluster"]["failures"] = {"trace": {"file": trace}, "detection": "1ms"}
    a = paceline.run({**scenario, "algorithm": {"kind": stale, "beta": 0.8, "bound": bound}}, models=True)
    b = paceline.run({**scenario, "algorithm": {"kind": "ps-stale", "bound": bound}}, models=True)
    for table in ("timeline", "results"):
        assert rows_of(a.csv(table)) == rows_of(b.csv(table))
    assert numpy.array_equal(a.points[0].models, b.points[0].models)
    assert a.points[0].metrics.get("deaths", 0) == 2 * dies


def test_a_server_needs_a_fabric_with_room_for_it_and_is_told_by_its_rank():
    scenario = training(cluster={"nodes": 4, "fabric": {"kind": "fat-tree", "k": 4, "link": {"bandwidth": "1Gbps",
                                                                                            "latency": "1us"}}})
    with pytest.raises(paceline.ScenarioError, match="its server has its own node"):
        paceline.check({**scenario, "algorithm": {"kind": stale}})

    @paceline.algorithm
    async def lost(self):
        while self.begins_step():
            await self.post(self.workers, self.model())

    with pytest.raises(paceline.MethodError, match="4 is not a worker or server: there are 0 to 3"):
        paceline.run(ring(algorithm={"kind": lost}))


def test_several_servers_have_ranks_behind_the_workers():
    @paceline.algorithm
    async def spread(self, *, times=2):
        assert list(self.servers) == [4, 5, 6]
        while self.begins_step():
            for server in self.servers:
                await self.post(server, number=self.rank)
            assert [(await self.next_letter()).sender for _ in self.servers] in ([4, 5, 6], [4, 6, 5], [5, 4, 6])

    @spread.server(count=3)
    async def echo(self, *, times):
        assert times == 2 and self.rank >= self.workers
        while True:
            letter = await self.next_letter()
            await self.post(letter.sender)

    assert paceline.run(ring(algorithm={"kind": spread})).points[0].outcome == "finished"


def test_a_failure_of_a_server_tells_where_and_its_mistakes_are_refused_when_it_is_marked():
    @paceline.algorithm
    async def asks(self):
        while self.begins_step():
            await self.post(self.servers[0], number=self.rank)
            await self.next_letter()

    @asks.server
    async def divides(self):
        letter = await self.next_letter()
        await self.post(letter.sender, number=1 / letter.number)

    with pytest.raises(paceline.MethodError, match="ZeroDivisionError.*\\(node 4, step") as caught:
        paceline.run(ring(algorithm={"kind": asks}))
    assert caught.value.file == __file__
    with pytest.raises(TypeError, match="bound is not an option of asks"):
        @asks.server
        async def more(self, *, bound):
            """Takes what the method has not."""
    with pytest.raises(ValueError, match="count: 0 is not a number of servers"):
        asks.server(count=0)

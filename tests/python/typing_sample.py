"""A user's program, for mypy alone: what it uses has the types that docs/python.md tells."""

import pathlib

import paceline

study: paceline.Study = paceline.run(pathlib.Path("s.json"), {"cluster.nodes": 4}, jobs=2, out=None, pick={"seed": 1})
seconds: float = study.points[0].metrics["step_time_s"]
numbers: list[int] = [point.number for point in study.points[1:]]
text: str = study.csv("timeline") + study.table
explanation = paceline.explain({"cluster": {}}, point=0)
parts: dict[str, float] = explanation.parts_s
solution = paceline.solve("s.json", {"cluster.nodes": (2, 8)}, "speedup", 3.0)
calibration: paceline.Calibration = paceline.calibrate(
    "s.json", [{"nodes": 8, "step_time_s": 0.2}], {"cluster.fabric.link.bandwidth": ("1Gbps", "40Gbps")}, noise=0.02)
constants: list[str] = [constant["path"] for constant in calibration.constants]
diagnosis: paceline.Diagnosis = paceline.diagnose("s.json", ["nodes=1:step=0.5s", "step=4s"], noise=0.1)
causes: list[str] = [one["name"] for one in diagnosis.answers]
value: str | None = solution.value
warned: tuple[str, ...] = paceline.check("s.json").warnings
names: list[str] = [entry["name"] for entry in paceline.lists()["algorithms"]]


@paceline.algorithm
async def own(self: paceline.Worker, *, damping: float = 1.0) -> None:
    x = self.model()
    rate: float = damping * self.learning_rate()
    while self.begins_step():
        pending: paceline.Started[paceline.Vector] = self.start(self.gradient(x))
        x -= rate * await pending
        letter: paceline.Letter = await self.next_letter()
        await self.post(letter.sender, x, number=letter.number)
        await self.update()


@paceline.algorithm(when_nodes_die="renormalizes")
async def plain(self: paceline.Worker) -> None:
    await self.exchange().aggregate(self.model())


@own.server
async def serve(self: paceline.Worker, *, damping: float = 1.0) -> None:
    model: paceline.Shared = self.shared_model()
    push = await self.next_letter_or_change()
    if push is not None and self.updates(self.updates_done()):
        model.value = model.value - damping * push.vector


@own.server(count=2)
async def serve_half(self: paceline.Worker) -> None:
    backward: paceline.Backward = self.backward(self.model())
    pieces: list[paceline.Piece] = backward.pieces
    await backward.complete(pieces[0])


@paceline.problem
class Squares:
    samples = 10

    def start(self) -> list[float]:
        return [0.0]

    def gradient(self, x: paceline.Vector, batch: paceline.Vector) -> paceline.Vector:
        return x - batch.mean()

    def loss(self, x: paceline.Vector) -> float:
        return float(x @ x)


@paceline.mixing(period=2)
def turns(step: int, nodes: int, *, own: float = 0.5) -> list[list[float]]:
    return [[own] * nodes] * nodes

mixing: paceline.Mixing = turns
method: paceline.Method = own
paceline.run({"algorithm": {"kind": plain}})
try:
    paceline.run("{}")
except paceline.ScenarioError as error:
    path: str = error.path
    suggestion: str | None = error.suggestion
except paceline.Interrupted as stop:
    size: int = stop.study.size

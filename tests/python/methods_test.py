@paceline.algorithm(when_nodes_die="renormalizes")
async def decentlam(self, *, beta=0.9):
    x, m = self.model(), 0.0
    while self.begins_step():
        gamma = self.learning_rate()
        g = await self.gradient(x)
        mixed = await self.neighbor_average(x - gamma * g)
        m = beta * m + (x - mixed) * (1 / gamma)
        x -= gamma * m
        await self.update()

pair = [{"kind": kind, "label": label, **ring} for kind, label in ((decentlam, "own"), ("decentlam", "table"))]
study = paceline.run({**scenario, "sweep": {"algorithm": pair}}, progress=False)
print(study.points[0].metrics["train_loss"] == study.points[1].metrics["train_loss"])

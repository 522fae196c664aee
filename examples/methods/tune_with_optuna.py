"""Tunes a method with Optuna, by ask and tell: python3 examples/methods/tune_with_optuna.py (needs optuna).

Each trial is one point: a learning rate and a period, judged by the accuracy after 200 ms of simulated time.
"""

import optuna

import paceline


@paceline.algorithm
async def seldom(self, *, momentum=0.9, period=4):
    x, m = self.model(), 0.0
    while self.begins_step():
        m = momentum * m + await self.gradient(x)
        x -= self.learning_rate() * m
        await self.update()
        if (self.step + 1) % period == 0:
            x[:] = await self.neighbor_average(x)

scenario = {
    "cluster": {"nodes": 8, "fabric": {"kind": "star", "link": {"bandwidth": "100Mbps", "latency": "100us"}}},
    "workload": {"model": {"kind": "softmax-regression"}, "batch": 16, "step_time": "2ms",
                 "data": {"kind": "digits", "train": 512, "test": 128, "partition": {"kind": "label-sorted"}}},
    "optimizer": {"learning_rate": 0.05, "momentum": 0.9},
    "algorithm": {"kind": seldom, "mixing": {"kind": "ring"}},
    "stop": {"time": "200ms"},
}
optuna.logging.set_verbosity(optuna.logging.WARNING)
study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=1))
for _ in range(20):
    trial = study.ask()
    changes = {"optimizer.learning_rate": trial.suggest_float("learning_rate", 0.005, 0.5, log=True),
               "algorithm.period": trial.suggest_int("period", 1, 40, log=True)}
    point = paceline.run(scenario, changes, progress=False).points[0]
    study.tell(trial, point.metrics["test_accuracy"] or 0.0)
print(f"accuracy {study.best_value:.3f} with {study.best_params}")

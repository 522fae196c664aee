# %% [markdown]
# # Which bandwidth does DiLoCo need?
#
# DiLoCo lets workers take H steps of AdamW alone, then takes an outer Nesterov step with the mean of what they have moved
# (Douillard et al., 2023). What travels is one all-reduce of the model every H steps.

# %%
import paceline

scenario = {
    "title": "A model of 1.3 billion parameters on 8 sites",
    "cluster": {"nodes": 8, "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps", "latency": "10ms"}}},
    "workload": {"gradient": "5.2GB", "step_time": "1s"},
    "algorithm": {"kind": "dense"},
    "stop": {"iterations": 500},
    "sweep": {
        "cluster.fabric.link.bandwidth": ["100Mbps", "300Mbps", "1Gbps", "3Gbps", "10Gbps", "30Gbps", "100Gbps", "300Gbps"],
        "algorithm": [
            {"label": "every step", "kind": "dense"},
            {"label": "H = 50", "kind": "diloco", "period": 50},
            {"label": "H = 500", "kind": "diloco", "period": 500},
        ],
    },
}
study = paceline.run(scenario)
print(study.frame.pivot(index="algorithm", columns="cluster.fabric.link.bandwidth", values="efficiency")
      [scenario["sweep"]["cluster.fabric.link.bandwidth"]].round(3).to_string())

# %%
study.plot("bandwidth", value="efficiency", scale="linear", target=0.9, save="bandwidth_for_diloco.svg")

# %% [markdown]
# Exactly: the bandwidth at which 90 % of the time is computing, by bisection.

# %%
one = {key: value for key, value in scenario.items() if key != "sweep"}
for algorithm in scenario["sweep"]["algorithm"]:
    solution = paceline.solve(one, {"cluster.fabric.link.bandwidth": ("10Mbps", "1Tbps")}, "efficiency", 0.9,
                              overrides={"algorithm": algorithm}, tolerance=1e-3)
    gbps = "no bandwidth suffices" if solution.number is None else f"{solution.number / 1e9:.3g} Gbps"
    print(f"{algorithm['label']}: {gbps}")

# %% [markdown]
# Averaging every step fails for another reason than bandwidth: the 14 messages of a ring cross the sites one after another,
# 20 ms each.

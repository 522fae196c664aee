# %% [markdown]
# # DecentLaM against DmSGD, over five seeds
#
# Sixteen workers with different data average with their neighbors. Momentum makes DmSGD settle away from the optimum; DecentLaM
# removes that bias (Yuan et al., ICCV 2021). Is the difference more than chance?

# %%
import paceline

scenario = {
    "title": "Momentum on two graphs of 16 nodes, each with data of its own",
    "cluster": {"nodes": 16, "fabric": {"kind": "star", "link": {"preset": "10GbE-tcp"}}},
    "workload": {
        "model": {"kind": "linear-regression", "bias": False},
        "data": {"kind": "linear-regression", "rows": 50, "dimension": 30, "noise": 0.1, "spread": 0.5},
        "batch": 50, "step_time": "1ms",
    },
    "optimizer": {"learning_rate": 0.01, "momentum": 0.8},
    "algorithm": {"kind": "decentlam", "mixing": {"kind": "ring"}},
    "stop": {"iterations": 400},
    "measure": {"every": "20 iterations"},
    "sweep": {
        "algorithm.mixing.kind": ["ring", "symmetric-exponential"],
        "algorithm.kind": ["dmsgd", "decentlam"],
        "seed": [1, 2, 3, 4, 5],
    },
}
study = paceline.run(scenario)

# %% [markdown]
# Means and deviations over the seeds, as a DataFrame:

# %%
columns = ["algorithm.mixing.kind", "algorithm", "relative_error_mean", "relative_error_sd"]
print(study.summary[columns].to_string(index=False, float_format="{:.1e}".format))

# %% [markdown]
# The seeds are paired, since both methods see the same data, so the ratio of each pair is what to look at:

# %%
errors = study.frame.pivot(index=["algorithm.mixing.kind", "seed"], columns="algorithm", values="relative_error")
ratios = (errors["dmsgd"] / errors["decentlam"]).unstack("seed")
print(ratios.round(1).to_string())

# %% [markdown]
# The figure, with 95 % confidence intervals of the means as bands:

# %%
study.plot("convergence", value="relative_error", scale="log", panels="mixing.kind", band="ci",
           save="decentlam_against_dmsgd.svg")

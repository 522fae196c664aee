# %% [markdown]
# # How does a net of my own scale?
#
# A net is a profile: its layers in forward order, each with its gradient tensors and its multiply-accumulates. Here it is a
# dict, so it can be computed: a multilayer perceptron over embeddings, of any width.

# %%
import paceline


def my_net(width, layers=4, features=512):
    """Returns the profile of a perceptron. A dense layer has inputs x outputs multiply-accumulates."""
    sizes = [features] + [width] * layers + [100]
    return {
        "name": f"mlp-{width}", "source": "my own",
        "layers": [{"name": f"fc{i}", "macs": a * b, "tensors": [{"name": "weight", "shape": [b, a]}, {"name": "bias", "shape": [b]}]}
                   for i, (a, b) in enumerate(zip(sizes, sizes[1:]))],
    }


# %% [markdown]
# The study: 1 to 32 machines on a switch, with all-reduce in full and compressed (DGC). The time of a step follows from the
# multiply-accumulates: a device of 14 TFLOP/s, half of which it reaches.

# %%
scenario = {
    "title": "A perceptron of 4096 units a layer, 10 Gbps",
    "cluster": {"nodes": 1, "fabric": {"kind": "star", "link": {"preset": "10GbE-tcp"}}},
    "workload": {"profile": my_net(4096), "batch": 4096,
                 "device": {"peak_flops": 1.4e13, "efficiency": 0.5}},
    "algorithm": {"kind": "dense"},
    "stop": {"iterations": 10},
    "sweep": {
        "cluster.nodes": [1, 2, 4, 8, 16, 32],
        "algorithm": [{"label": "dense", "kind": "dense"}, {"label": "DGC", "kind": "dgc", "codec": {"kind": "dgc", "density": 0.001}}],
    },
}
study = paceline.run(scenario)
print(study.frame.pivot(index="nodes", columns="algorithm", values="speedup").round(2).to_string())

# %% [markdown]
# The figure. In a notebook, the last line of a cell shows it.

# %%
study.plot("speedup", save="speedup_of_my_net.svg")

# %% [markdown]
# Would a narrower net scale better? Its gradient is smaller, and so is the time to compute it: both go with the square of the
# width, so no. Only where latency begins to count, it gets worse.

# %%
for width in (256, 512, 1024, 2048, 4096):
    point = paceline.run(scenario, {"workload.profile": my_net(width), "cluster.nodes": 16}, pick={"algorithm": "dense"}).points[0]
    print(f"width {width}: efficiency {point.metrics['efficiency']:.2f}")

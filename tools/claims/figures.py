"""Draws the figures of docs/claims.md into docs/figures."""
import os

from .decentralized import SIZES, times_to_target
from .studies import ROOT


def draw(studies):
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "paceline"
    import matplotlib.pyplot as plt
    from matplotlib.ticker import StrMethodFormatter
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.8), sharex=True)
    study = studies.get("claims/decentralized-scalability")
    for panel, bandwidth in zip(panels, ("10Gbps", "1Gbps")):
        for algorithm, times in times_to_target(study, bandwidth).items():
            reached = [(n, t) for n, t in zip(SIZES, times) if t.sd < float("inf") and t.mean < float("inf")]
            panel.errorbar([n for n, _ in reached], [t.mean for _, t in reached], [t.sd for _, t in reached],
                           marker="o", markersize=4, capsize=3, label=algorithm)
        panel.set_xscale("log", base=2)
        panel.set_yscale("log")
        for axis_formatter in (panel.yaxis.set_major_formatter, panel.yaxis.set_minor_formatter):
            axis_formatter(StrMethodFormatter("{x:g}"))
        panel.set_xticks(SIZES, [str(n) for n in SIZES])
        panel.set_title(bandwidth.replace("G", " G"))
        panel.set_xlabel("nodes")
    panels[0].set_ylabel("simulated seconds to 70 % accuracy")
    panels[0].legend(fontsize=8, frameon=False)
    figure.tight_layout()
    path = os.path.join(ROOT, "docs", "figures", "decentralized-scalability.svg")
    figure.savefig(path + ".new", format="svg", metadata={"Date": None})
    os.replace(path + ".new", path)
    print("wrote docs/figures/decentralized-scalability.svg")

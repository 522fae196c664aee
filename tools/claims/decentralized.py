"""DecentLaM (Yuan, Chen, Huang, Zhang, Pan, Xu, Yin, ICCV 2021) against decentralized and parallel momentum SGD."""
import math

from .claim import Paper, shown_if

PAPER = Paper("DecentLaM")

PMSGD, DMSGD, DECENTLAM = "PmSGD, ring all-reduce", "DmSGD, ring", "DecentLaM, ring"
ONE_PEER = "DmSGD, one-peer exponential"
SIZES = [4, 16, 64, 256]


@PAPER.claim("B1", "DmSGD communicates more cheaply than PmSGD", "abstract", "-",
             "decentralized-speedup")
def communication(study):
    """Speedup of a step, which the network alone parts."""
    def speedup(algorithm, link):
        return study.value("speedup", algorithm=algorithm, nodes=256, **{"cluster.fabric.link": link})
    cells, agrees = [], True
    for link in ("10 Gbps, 100 us", "1 Gbps, 100 us", "10 Gbps, 10 us"):
        all_reduce, ring, one = (speedup(a, link) for a in (PMSGD, DMSGD, ONE_PEER))
        cells.append(f"{link}: {all_reduce:.1f}, {ring:.1f}, {one:.1f}")
        agrees = agrees and one > 1.2 * all_reduce and ring >= 0.99 * all_reduce
    return shown_if(agrees,
                    "speedup at 256 nodes of PmSGD, DmSGD on a ring and on one-peer graphs: " + "; ".join(cells),
                    "a graph is slower than the all-reduce",
                    "a ring of two neighbors sends as many bytes as a ring all-reduce: it gains latency alone")


@PAPER.claim("B2", "Large batches shorten training", "introduction", "-", "claims/large-batch")
def run_time(study):
    """Hours of simulated time for 250 epochs of the stand-in."""
    cells, agrees = [], True
    for algorithm in ("PmSGD", "DecentLaM"):
        times = [study.tuned("sim_time_s", "test_accuracy", algorithm=algorithm, **{"workload.batch": batch})
                 for batch in (64, 256, 1024)]
        hours = [time.mean / 3600 for time in times]
        cells.append(f"{algorithm} {', '.join(f'{h:.3g}' for h in hours)} h")
        agrees = agrees and hours == sorted(hours, reverse=True)
    return shown_if(agrees, "250 epochs with batches of 64, 256, 1024 a worker: " + "; ".join(cells),
                    "a larger batch takes longer")


@PAPER.claim("B3", "Momentum amplifies the inconsistency bias, by 1/(1-beta)^2", "section 4",
             "4, 25, 100, 400 at beta 0.5, 0.8, 0.9, 0.95 (limit of small steps, derived)", "claims/momentum-law")
def law_of_momentum(study):
    cells, agrees = [], True
    for beta in (0.5, 0.8, 0.9, 0.95):
        at = {"optimizer.momentum": beta}
        ratio = study.spread("relative_error", algorithm="DmSGD", **at) / \
            study.spread("relative_error", algorithm="DSGD", **at)
        limit = 1 / (1 - beta) ** 2
        cells.append(ratio.text("{:.1f}" if ratio.mean > 10 else "{:.2f}"))
        agrees = agrees and all(0.75 * limit < r <= limit for r in ratio.values)
    return shown_if(agrees, "error of DmSGD over DSGD's: " + ", ".join(cells), "further than 25 % from the law",
                    "learning rate 0.001; from below as it falls")


@PAPER.claim("B4", "The bias shows with large batches", "section 4", "-", "momentum-bias-batch")
def bias_against_batch(study):
    ratios = [(batch, study.spread("relative_error", algorithm="DmSGD", **{"workload.batch": batch}) /
               study.spread("relative_error", algorithm="DecentLaM", **{"workload.batch": batch}))
              for batch in study.names("workload.batch")]
    means = [ratio.mean for _, ratio in ratios]
    text = "; ".join(f"{batch}: {ratio.text()}" for batch, ratio in ratios)
    return shown_if(means == sorted(means) and means[-1] > 5 * means[0],
                    "error of DmSGD over DecentLaM's, by batch: " + text, "the ratio does not grow")


def gap_by_batch(study, batches):
    """Text of the accuracies, and whether DecentLaM is ahead of DmSGD and its lead grows, beyond the noise."""
    cells, gaps = [], []
    for batch in batches:
        accuracy = {a: study.tuned("test_accuracy", "test_accuracy", algorithm=a, **{"workload.batch": batch})
                    for a in ("PmSGD", "DecentLaM", "DmSGD")}
        gap = accuracy["DecentLaM"] - accuracy["DmSGD"]
        gaps.append(gap)
        cells.append(f"{batch}: {', '.join(accuracy[a].percent() for a in accuracy)}, "
                     f"lead {gap.percent()}")
    return ("PmSGD, DecentLaM, DmSGD by batch: " + "; ".join(cells),
            gaps[-1].above_zero() and (gaps[-1] - gaps[0]).above_zero())


@PAPER.claim("B5", "In deep training, DmSGD degrades with the batch", "section 6", "-", "claims/large-batch")
def degradation(study):
    text, agrees = gap_by_batch(study, (64, 256, 1024))
    return shown_if(agrees, text, "DecentLaM's lead does not grow", "MLP, label-sorted shards, a ring of 16")


@PAPER.claim("B6", "DecentLaM removes the bias that momentum adds", "abstract, theorem", "-", "claims/momentum-law")
def no_bias(study):
    cells, agrees = [], True
    for beta in (0.5, 0.8, 0.9, 0.95):
        at = {"optimizer.momentum": beta}
        ratio = study.spread("relative_error", algorithm="DecentLaM", **at) / \
            study.spread("relative_error", algorithm="DSGD", **at)
        cells.append(ratio.text("{:.4f}"))
        agrees = agrees and all(abs(r - 1) < 0.01 for r in ratio.values)
    return shown_if(agrees, "error over DSGD's at beta 0.5, 0.8, 0.9, 0.95: " + ", ".join(cells), "more than 1 % apart")


def slope(xs, ys):
    """Returns the slope of the least-squares line through the logarithms."""
    a, b = [math.log(x) for x in xs], [math.log(y) for y in ys]
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    return sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b)) / sum((x - mean_a) ** 2 for x in a)


# rho = max(|lambda_2|, |lambda_n|) of 16 workers (`paceline check` prints them)
GAPS = {"ring": 1 - 0.949253, "grid": 1 - 0.868641, "torus": 1 - 0.6}


@PAPER.claim("B7", "Strongly convex: the bias is of the order of (gamma / (1 - rho))^2; the error falls as 1/(n T)",
             "theorem", "slopes 2, at most 2, at most -1, -1 (orders from memory)", "claims/spectral-gap",
             "claims/convergence")
def strongly_convex(gap, convergence):
    rates = gap.names("optimizer")
    cells, agrees = [], True
    for name in GAPS:
        errors = [gap.spread("relative_error", algorithm=f"DecentLaM, {name}", optimizer=rate).mean for rate in rates]
        power = slope([float(rate) for rate in rates], errors)
        cells.append(f"{name} {power:.2f}")
        agrees = agrees and abs(power - 2) < 0.2
    by_gap = [gap.spread("relative_error", algorithm=f"DecentLaM, {name}", optimizer=rates[0]).mean for name in GAPS]
    in_gap = slope([1 / GAPS[name] for name in GAPS], by_gap)
    agrees = agrees and by_gap == sorted(by_gap, reverse=True) and in_gap <= 2.1
    text = f"bias against gamma: {', '.join(cells)}; against 1/(1 - rho): {in_gap:.2f}"
    steps, sizes = [1600, 3200, 6400], [4, 8, 16]

    def error(nodes, iterations):
        return convergence.tuned("relative_error", "relative_error", min, algorithm="DecentLaM", nodes=nodes,
                                 **{"stop.iterations": iterations}).mean
    in_steps = slope(steps, [error(16, t) for t in steps])
    in_nodes = slope(sizes, [error(n, 6400) for n in sizes])
    agrees = agrees and in_steps < -0.75 and -1.25 < in_nodes < -0.75
    return shown_if(agrees, f"{text}; error with noise against T: {in_steps:.2f}; against n: {in_nodes:.2f}",
                    "a slope is elsewhere",
                    "the bounds are orders; against T it falls faster while the start still counts")


@PAPER.claim("B8", "Not convex: linear speedup in the number of workers", "theorem", "slope -1",
             "claims/convergence-mlp")
def linear_speedup(study):
    sizes = [2, 4, 8, 16]
    cells, agrees = [], True
    for algorithm in ("PmSGD", "DecentLaM"):
        steps = [study.tuned("iterations", "iterations", min, algorithm=algorithm, nodes=n) for n in sizes]
        power = slope(sizes, [s.mean for s in steps])
        cells.append(f"{algorithm} {', '.join(s.text('{:.0f}') for s in steps)} (slope {power:.2f})")
        agrees = agrees and -1.3 < power < -0.7
    return shown_if(agrees, "steps to the loss with 2, 4, 8, 16 workers: " + "; ".join(cells), "the slope is elsewhere")


@PAPER.claim("B9", "It holds over vision tasks and models", "section 6", "-", "claims/large-batch-cnn")
def other_models(study):
    text, agrees = gap_by_batch(study, (16, 128))
    return shown_if(agrees, text, "DecentLaM's lead does not grow",
                    "a convolutional net on drawn digits, a ring of 8; ImageNet and detection are out of reach")


def times_to_target(study, bandwidth):
    """Spreads of seconds to the target, by algorithm and size."""
    return {algorithm: [study.tuned("time_to_target_s", "time_to_target_s", min, algorithm=algorithm, nodes=n,
                                    **{"cluster.fabric.link.bandwidth": bandwidth}) for n in SIZES]
            for algorithm in (PMSGD, DMSGD, DECENTLAM, ONE_PEER)}


@PAPER.claim("B10", "DecentLaM scales where DmSGD does not", "section 6", "-", "claims/decentralized-scalability")
def scalability(study):
    cells, agrees = [], True
    for bandwidth in ("10Gbps", "1Gbps"):
        times = times_to_target(study, bandwidth)
        cells.append(f"{bandwidth}: " + "; ".join(
            f"{algorithm} {', '.join(t.text('{:.1f}') for t in of)}" for algorithm, of in times.items()))
        for of in zip(times[DMSGD], times[DECENTLAM]):
            agrees = agrees and of[1].mean <= of[0].mean
        agrees = agrees and times[DMSGD][-1].mean > 1.1 * times[DECENTLAM][-1].mean
    return shown_if(agrees, "seconds to 70 % with 4, 16, 64, 256 nodes, " + "; ".join(cells),
                    "DmSGD is as fast",
                    "never: at no rate within 300 steps in all tuning seeds; on a ring both are slower than PmSGD")

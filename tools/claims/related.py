"""The related methods: SlowMo, momentum consensus, SwarmSGD, 1-bit LAMB, Overlap-Local-SGD, MuLoCo."""
import math

from .claim import Paper, shown_if
from .studies import RATE

PAPER = Paper("SlowMo, momentum consensus, SwarmSGD, 1-bit LAMB, Overlap-Local-SGD, MuLoCo")


def above(more, less):
    return (more - less).above_zero()


def accuracy(study, column="test_accuracy", **at):
    """Shares of correct predictions at the best rate, by seed."""
    return study.tuned(column, column, **at)


def loss(study, column="test_loss", **at):
    """Nats per sample or token at the best rate, by seed."""
    return study.tuned(column, column, best=min, **at)


def time_to_target(study, **at):
    """Simulated seconds at the best rate, by seed."""
    return study.tuned("time_to_target_s", "time_to_target_s", best=min, **at)


def pairs(study, bases, measure):
    """What a base gives without and with SlowMo: (base, without, with)."""
    return [(base, measure(study, algorithm=base), measure(study, algorithm=f"{base} + SlowMo")) for base in bases]


@PAPER.claim("C1", "SlowMo improves its base optimizers: image classification", "SlowMo, abstract, CIFAR-10",
             "local SGD 91.73 to 93.20 %, SGP 93.90 to 94.32 %, OSGP 93.17 to 93.74 %", "claims/slowmo-accuracy")
def slowmo_improves_images(study):
    found = pairs(study, ["local SGD", "SGP", "OSGP"], accuracy)
    cells = [f"{base} {before.percent()} to {after.percent()} %" for base, before, after in found]
    return shown_if(all(above(after, before) for _, before, after in found), "; ".join(cells),
                    "a gain is below the noise", "small digits and an MLP in place of CIFAR-10 and ResNet-18")


@PAPER.claim("C2", "SlowMo improves its base optimizers: machine translation", "SlowMo, abstract, WMT'16 En-De",
             "loss: local Adam 2.520 to 2.480, SGP 2.500 to 2.447; BLEU 26.62 to 27.14, 26.92 to 27.84",
             "claims/slowmo-language")
def slowmo_improves_language(study):
    found = pairs(study, ["local Adam", "SGP-Adam"], loss)
    cells = [f"{base} {before.text('{:.3f}')} to {after.text('{:.3f}')}" for base, before, after in found]
    low = [study.spread("test_loss", algorithm=name, **{RATE: "0.01"}).text("{:.3f}")
           for name in ("local Adam", "local Adam + SlowMo")]
    return shown_if(all(above(before, after) for _, before, after in found), "test loss: " + "; ".join(cells),
                    "no gain at the best rates; the shards of this language are alike, and local Adam comes close to "
                    f"Adam by itself. At a rate of 0.01 for both, local Adam goes from {low[0]} to {low[1]}")


@PAPER.claim("C3", "SlowMo's gain needs no more run time", "SlowMo, abstract, ImageNet",
             "ms per step: local SGD 294 to 282, SGP 304 to 302; accuracy 69.94 to 73.24 %, 75.15 to 75.73 %",
             "claims/slowmo-runtime")
def slowmo_same_runtime(study):
    def step(base):
        return study.tuned("step_time_s", "test_accuracy", algorithm=base).mean
    found = pairs(study, ["local SGD", "SGP"], accuracy)
    cells = [f"{base} {step(base) * 1e3:.1f} to {step(base + ' + SlowMo') * 1e3:.1f} ms, {before.percent()} to "
             f"{after.percent()} % in the same time" for base, before, after in found]
    on_par = all(step(base + " + SlowMo") < 1.02 * step(base) for base, _, _ in found)
    return shown_if(on_par and all(above(after, before) for _, before, after in found), "; ".join(cells),
                    "a gain is below the noise" if on_par else "its steps take over 2 % longer",
                    "computation of 271 ms a step is the published step of OSGP; a small net learns")


@PAPER.claim("C4", "BMUF is a special case of SlowMo", "SlowMo, section on special cases", "-", "claims/bmuf")
def bmuf_is_slowmo(study):
    names = [("SlowMo, alpha 1, beta 0.7", "BMUF, zeta 1, eta 0.7"),
             ("SlowMo, alpha 0.5, beta 0.7", "BMUF, zeta 0.5, eta 0.7")]
    losses = [[study.spread("train_loss", algorithm=name) for name in pair] for pair in names]
    gap = max(abs(a / b - 1) for slowmo, bmuf in losses for a, b in zip(slowmo.values, bmuf.values))
    cells = [f"{pair[0]} {both[0].text('{:.6f}')}, BMUF {both[1].text('{:.6f}')}" for pair, both in zip(names, losses)]
    return shown_if(gap == 0, "train loss: " + "; ".join(cells), f"they differ by {gap:.1e}",
                    "every digit is the same in each seed; at a constant rate")


def root_law(study, method):
    """Errors times sqrt(machines x steps), which a rate of O(1/sqrt(machines x steps)) bounds: by (machines, steps)."""
    return {(nodes, steps): study.spread("relative_error", algorithm=method, nodes=nodes, iterations=steps).mean
            * math.sqrt(nodes * steps) for nodes in (4, 16) for steps in (800, 3200, 12800)}


def converges(convex, net, method, theorem):
    """Outcome of a claim of convergence at O(1/sqrt(machines x steps))."""
    law = root_law(convex, method)
    bounded = all(law[nodes, 12800] < 1.5 * law[nodes, 800] for nodes in (4, 16))
    errors = [convex.spread("relative_error", algorithm=method, nodes=4, iterations=steps) for steps in (800, 12800)]
    losses = [net.spread("train_loss", algorithm=method, iterations=steps) for steps in (400, 1600, 6400)]
    falls = above(losses[0], losses[1]) and above(losses[1], losses[2]) and losses[2].mean < losses[0].mean / 4
    more = convex.spread("relative_error", algorithm=method, nodes=16, iterations=12800)
    product = " and ".join(f"{law[nodes, 12800] / law[nodes, 800]:.2f}" for nodes in (4, 16))
    here = (f"convex, 4 machines, 16 times the steps: error {errors[0].text('{:.1e}')} to {errors[1].text('{:.1e}')} "
            f"(with 16 machines {more.text('{:.1e}')}), error / ({theorem}) changes by {product} (4 and 16 machines); "
            "net, 400, 1600, 6400 steps: train loss " + " to ".join(spread.text("{:.3f}") for spread in losses))
    return shown_if(bounded and above(*errors) and falls, here, "the error falls more slowly than the theorem says",
                    "the squared gradient is at most a multiple of this error, and of this loss squared; the law in "
                    "steps holds within a factor of 1.5; the theorem's gain from more machines is not tested")


@PAPER.claim("C5", "SlowMo converges to a stationary point", "SlowMo, theorem", "O(1/sqrt(m tau T)) for smooth losses",
             "claims/local-convergence", "claims/local-convergence-net")
def slowmo_converges(convex, net):
    return converges(convex, net, "SlowMo", "1/sqrt(m tau T)")


@PAPER.claim("C6", "Methods that communicate less are less accurate without SlowMo", "SlowMo, abstract, CIFAR-10",
             "local SGD 91.73 %, all-reduce SGD 92.66 %", "claims/slowmo-accuracy")
def local_is_less_accurate(study):
    local, dense = (accuracy(study, algorithm=name) for name in ("local SGD", "AR-SGD"))
    return shown_if(above(dense, local), f"local SGD {local.percent()} %, all-reduce SGD {dense.percent()} %",
                    "the difference is below the noise", "the gap is larger here: shards hold few classes each")


GRAPHS = ["ring", "torus", "complete"]


@PAPER.claim("C7", "Neighbors that share momenta, too, train a net (not convex) well, by heavy-ball momentum",
             "momentum consensus, abstract", "- (its tables were not available)", "claims/consensus-training")
def consensus_trains(study):
    found = [(graph, accuracy(study, algorithm=f"DmSGD, {graph}"),
              accuracy(study, algorithm=f"momentum consensus, {graph}")) for graph in GRAPHS]
    cells = [f"{graph} {consensus.percent()} % (DmSGD {dmsgd.percent()} %)" for graph, dmsgd, consensus in found]
    return shown_if(all(above(consensus, dmsgd) for _, dmsgd, consensus in found), "; ".join(cells),
                    "a gain over DmSGD is below the noise", "the update is from memory (momentum of iterates)")


@PAPER.claim("C8", "It compares well under different topologies, strongly convex", "momentum consensus, abstract",
             "- (its tables were not available)", "claims/consensus-topologies")
def consensus_on_topologies(study):
    def error(method, graph):
        return study.tuned("relative_error", "relative_error", best=min, algorithm=f"{method}, {graph}")
    found = [(graph, *(error(method, graph) for method in ("momentum consensus", "DmSGD", "DSGD"))) for graph in GRAPHS]
    cells = [f"{graph} {ours.text('{:.1e}')} (DmSGD {dmsgd.text('{:.1e}')}, DSGD {dsgd.text('{:.1e}')})"
             for graph, ours, dmsgd, dsgd in found]
    return shown_if(all(above(dmsgd, ours) and above(dsgd, ours) for _, ours, dmsgd, dsgd in found),
                    "error after 400 steps: " + "; ".join(cells), "a gain is below the noise",
                    "the update is from memory (momentum of iterates)")


@PAPER.claim("C9", "Consensus suits ad-hoc mobile networks, field robotics and power networks, which have no center",
             "momentum consensus, introduction", "-", "claims/consensus-mesh")
def consensus_in_a_mesh(study):
    ours, dense, center = (time_to_target(study, algorithm=name)
                           for name in ("momentum consensus", "all-reduce", "central server"))
    return shown_if(above(dense, ours) and above(center, ours),
                    f"to 80 %: {ours.text('{:.1f}')} s, all-reduce {dense.text('{:.1f}')} s, "
                    f"a central server {center.text('{:.1f}')} s", "it is not faster than both",
                    "a 3 x 4 mesh of radios, 20 Mbps and 5 ms each, with outages: made up; the update is from memory")


def swarm(study, measure, name="swarm, H 2, 8 bits"):
    return measure(study, algorithm=name), measure(study, algorithm="all-reduce")


@PAPER.claim("C10", "SwarmSGD converges with local steps, without waiting and with quantized models, jointly",
             "SwarmSGD, abstract", "-", "claims/swarm-accuracy")
def swarm_jointly(study):
    ours, dense = swarm(study, accuracy)
    exact, _ = swarm(study, accuracy, "swarm, H 2")
    wrong = study.tuned("decode_failures", "test_accuracy", algorithm="swarm, H 2, 8 bits")
    return shown_if((dense - ours).mean < 0.01 and wrong.mean == 0,
                    f"{ours.percent()} %; in 32 bits {exact.percent()} %, all-reduce {dense.percent()} %",
                    "it loses a point or more" if wrong.mean == 0 else f"{wrong.mean:.0f} coordinates decoded wrongly",
                    "within a point, which is the spread of seeds; equal samples, 16 machines")


@PAPER.claim("C11", "SwarmSGD matches the accuracy of large-batch SGD at scale: images and translation",
             "SwarmSGD, abstract", "Transformer-XL 1.5 times as fast, slightly more accurate (secondary notes)",
             "claims/swarm-at-scale", "claims/swarm-language")
def swarm_matches(images, language):
    ours, dense = swarm(images, accuracy)
    words, dense_words = swarm(language, loss)
    return shown_if((dense - ours).mean < 0.01 and (words / dense_words).mean < 1.01,
                    f"64 machines, images: {ours.percent()} %, all-reduce {dense.percent()} %; 16 machines, language: "
                    f"test loss {words.text('{:.3f}')}, all-reduce {dense_words.text('{:.3f}')}",
                    "it loses a point of accuracy or 1 % of loss", "in the same time, which gives it "
                    "2.4 to 2.6 times the steps, and at equal samples it falls behind; within a point and 1 %, "
                    "the spread of seeds; small nets")


@PAPER.claim("C12", "The time of a step of SwarmSGD does not depend on the number of nodes", "SwarmSGD, abstract",
             "synchronization below 10 % of computation, constant (secondary notes)", "swarm-step-time")
def swarm_step_time(study):
    def step(name, nodes):
        return study.value("step_time_s", algorithm=name, nodes=nodes, **{"cluster.stragglers": "none"}) * 1e3
    names = ["SwarmSGD, non-blocking, H 2", "SwarmSGD, non-blocking, H 2, 8 bits", "dense, ring all-reduce"]
    times = {name: [step(name, nodes) for nodes in (8, 64)] for name in names}
    flat = all(max(times[name]) < 1.02 * min(times[name]) for name in names[:2])
    cells = [f"{name}: {times[name][0]:.1f} and {times[name][1]:.1f} ms" for name in names]
    return shown_if(flat and times[names[2]][1] > 1.1 * times[names[2]][0], "8 and 64 nodes, " + "; ".join(cells),
                    "it changes by 2 % or more")


@PAPER.claim("C13", "By analogy with load balancing the models stay together: it converges under these relaxations",
             "SwarmSGD, analysis", "the sum of squared distances is bounded, in proportion to the squared rate "
             "(form from memory)", "claims/swarm-convergence")
def swarm_balances(study):
    steps = (400, 1600, 6400)

    def all_of(column, nodes):
        return [study.spread(column, algorithm="16 bits", nodes=nodes, iterations=count) for count in steps]
    small, large = all_of("consensus_distance", 8), all_of("consensus_distance", 32)
    errors = all_of("relative_error", 32)
    halves = [ratio for there in (small, large) for a, b in zip(there, there[1:]) for ratio in (a / b).values]
    more = max((b / a).mean for a, b in zip(small, large))
    falls = all((a / b).mean > 2 for a, b in zip(errors, errors[1:]))
    return shown_if(min(halves) > 1.5 and max(halves) < 2.5 and more < 1.5 and falls,
                    f"distance {min(halves):.2f} to {max(halves):.2f} times less at half the rate; {more:.2f} times as "
                    "large with 32 nodes as with 8; error, 32 nodes: "
                    + " to ".join(error.text("{:.1e}") for error in errors) + " in 400, 1600, 6400 steps",
                    "distance or error does not follow the rate",
                    "a strongly convex objective; asynchronous, 2 local steps, 16 bits")


@PAPER.claim("C14", "1-bit LAMB sends up to 4.6 times less", "1-bit LAMB, abstract", "up to 4.6", "one-bit-lamb")
def lamb_volume(study):
    lamb, ours = (study.value("bytes_sent_per_node_per_step", algorithm=f"{name} fp16",
                              **{"cluster.fabric.link.bandwidth": "10Gbps"}) / 1e6 for name in ("LAMB", "1-bit LAMB"))
    return shown_if(abs(lamb / ours - 4.6) < 0.05, f"{lamb / ours:.3f} ({lamb:.1f} to {ours:.1f} MB a step)",
                    "it is not 4.6", "fp16, warm-up of 1000 steps of 5993 (the latter from memory)")


BATCHES = {1: "4K", 2: "8K", 4: "16K", 8: "32K", 16: "64K"}


@PAPER.claim("C15", "1-bit LAMB is up to 2.8 times as fast on up to 256 GPUs, batches of 8K to 64K",
             "1-bit LAMB, abstract", "up to 2.8", "claims/one-bit-lamb-256")
def lamb_speedup(study):
    def step(name, count):
        return study.value("step_time_s", algorithm=name, **{"workload.accumulation": count})
    gains = {batch: step("LAMB", count) / step("1-bit LAMB", count) for count, batch in BATCHES.items()}
    return shown_if(abs(gains["8K"] / 2.8 - 1) < 0.1 and min(gains.values()) > 1,
                    ", ".join(f"{batch}: {gain:.2f}" for batch, gain in gains.items()),
                    "the speedup at 8K is not within 10 % of 2.8",
                    "64 machines of 4 V100, 4.1 Gbps; 16 samples per GPU, and a sixth of the steps as warm-up: assumed")


NO_LOSS = 1.01  # of a test loss: seeds differ by about as much


@PAPER.claim("C16", "1-bit LAMB converges sample by sample as LAMB", "1-bit LAMB, abstract", "the same",
             "claims/one-bit-lamb-training")
def lamb_convergence(study):
    ours, lamb = loss(study, algorithm="1-bit LAMB"), loss(study, algorithm="LAMB")
    return shown_if((ours / lamb).mean < NO_LOSS, f"test loss {ours.text('{:.3f}')}, LAMB {lamb.text('{:.3f}')}",
                    "it loses 1 % or more", "within 1 %, at equal samples; a small LSTM in place of BERT-large")


@PAPER.claim("C17", "Compression cannot be applied to LAMB directly: what it does with one bit must change",
             "1-bit LAMB, introduction", "-", "claims/one-bit-lamb-training")
def lamb_directly(study):
    ours, direct, frozen = (loss(study, algorithm=name) for name in (
        "1-bit LAMB", "LAMB, gradients in one bit", "1-bit LAMB, frozen rates"))
    still = "" if above(frozen, ours) else "; that the frozen rates follow the variance has no effect beyond the noise"
    return shown_if(above(direct, ours), f"test loss {direct.text('{:.3f}')} of LAMB with gradients in one bit, "
                    f"{ours.text('{:.3f}')} of 1-bit LAMB, {frozen.text('{:.3f}')} of 1-bit LAMB with frozen rates",
                    "the difference is below the noise", "one bit with error feedback, tensor by tensor" + still)


@PAPER.claim("C18", "A backend by NCCL is faster than one by MPI", "1-bit LAMB, abstract", "-",
             "claims/one-bit-lamb-backend")
def lamb_backend(study):
    links = ["4.1Gbps", "100Gbps"]
    times = [[study.value("step_time_s", **{"cluster.library": library, "cluster.fabric.link.bandwidth": link}) * 1e3
              for library in ("nccl", "open-mpi-tcp")] for link in links]
    cells = [f"{link}: NCCL {nccl:.1f} ms, MPI {mpi:.1f} ms" for link, (nccl, mpi) in zip(links, times)]
    return shown_if(all(nccl < mpi for nccl, mpi in times), "; ".join(cells), "NCCL is not faster",
                    "of MPI's costs only start-up, other collectives and copies through the hosts are modeled")


@PAPER.claim("C19", "LAMB's large batches by themselves make communication rarer", "1-bit LAMB, introduction", "-",
             "claims/lamb-batch", "claims/one-bit-lamb-256")
def lamb_batch(training, timing):
    losses = [loss(training, **{"workload.batch": batch}) for batch in (8, 32)]
    volumes = [training.tuned("total_sent_gb", "test_loss", best=min, **{"workload.batch": batch}).mean
               for batch in (8, 32)]
    shares = [timing.value("exposed_comm_s", algorithm="LAMB", **{"workload.accumulation": count})
              / timing.value("step_time_s", algorithm="LAMB", **{"workload.accumulation": count}) for count in (1, 16)]
    return shown_if((losses[1] / losses[0]).mean < NO_LOSS and volumes[0] > 3.9 * volumes[1] and shares[1] < shares[0],
                    f"4 times the batch: {volumes[0] / volumes[1]:.2f} times less sent for the same samples, test loss "
                    f"{losses[0].text('{:.3f}')} and {losses[1].text('{:.3f}')}; 4K to 64K on 256 GPUs: communication "
                    f"{shares[0]:.0%} to {shares[1]:.0%} of a step", "the larger batch loses 1 % or more",
                    "within 1 % of loss; batches of 64 and 256 sequences train a small LSTM")


@PAPER.claim("C20", "Overlap-Local-SGD hides communication behind computation", "Overlap-Local-SGD, CIFAR-10",
             "34.6 % of computation to 1.5 % with tau 2 (secondary notes)", "claims/overlap-step-time")
def overlap_hides(study):
    def share(name, link="40Gbps"):
        at = {"algorithm": name, "cluster.fabric.link.bandwidth": link}
        return study.value("exposed_comm_s", **at) / study.value("compute_s", **at) * 100
    cells = [f"{name} {share(name):.1f} %" for name in ("synchronous", "local, tau 2", "overlap, tau 2")]
    slow = share("synchronous", "10Gbps"), share("overlap, tau 1", "10Gbps")
    return shown_if(share("overlap, tau 2") <= 1.5, "; ".join(cells)
                    + f"; on 10 Gbps synchronous {slow[0]:.1f} %, overlap with tau 1 {slow[1]:.1f} %",
                    "more than 1.5 % shows", "the 34.6 % are calibrated, the others predicted")


@PAPER.claim("C21", "Overlap-Local-SGD mitigates stragglers", "Overlap-Local-SGD, abstract", "- (plots not available)",
             "stragglers", "claims/overlap-stragglers")
def overlap_stragglers(timing, training):
    slow, methods = "1 in 20 takes 4 times as long", ["synchronous", "local, tau 8", "overlap, tau 2", "overlap, tau 8"]
    times = {name: [time_to_target(training, algorithm=name, **{"cluster.stragglers": label})
                    for label in ("none", slow)] for name in methods}
    ratios = {name: after / before for name, (before, after) in times.items()}
    speedups = {name: [timing.value("speedup", algorithm=name, nodes=64, **{"cluster.stragglers": label})
                       for label in ("none", "one node, half of the steps")]
                for name in ("all-reduce SGD, ring", "Overlap-Local-SGD, tau 4")}
    kept = {name: after / before for name, (before, after) in speedups.items()}
    better = (above(ratios["synchronous"], ratios["overlap, tau 2"])
              and above(ratios["local, tau 8"], ratios["overlap, tau 8"]))
    cells = [f"{name} {before.mean:.1f} s, {ratios[name].text()} times as long" for name, (before, _) in times.items()]
    first = min(methods, key=lambda name: times[name][1].mean)
    return shown_if(better and kept["Overlap-Local-SGD, tau 4"] > 1.5 * kept["all-reduce SGD, ring"],
                    "speedup of 64 nodes: "
                    + ", ".join(f"{name} {a:.1f} to {b:.1f}" for name, (a, b) in speedups.items())
                    + "; time to 85 %, and with stragglers: " + ", ".join(cells), "the difference is below the noise",
                    f"on these 40 Gbps the fastest with stragglers is: {first}")


@PAPER.claim("C22", "It suits high delay: wireless and sensor networks", "Overlap-Local-SGD, introduction", "-",
             "claims/overlap-wireless")
def overlap_wireless(study):
    ours, local, dense = (time_to_target(study, algorithm=name)
                          for name in ("overlap, tau 8", "local, tau 8", "synchronous"))
    return shown_if(above(local, ours) and above(dense, ours),
                    f"to 85 %: {ours.text('{:.0f}')} s, local SGD {local.text('{:.0f}')} s, "
                    f"synchronous {dense.text('{:.0f}')} s", "it is not faster than both beyond the noise",
                    "50 Mbps down, 20 up, 100 ms from node to node, one gradient in 20 slow: made up")


@PAPER.claim("C23", "A deep net on CIFAR-10: more accurate than CoCoD-SGD and EAMSGD for each tau; momentum of the "
             "anchor helps", "Overlap-Local-SGD, experiments",
             "tau 8, shards not alike: 91.45 %, CoCoD-SGD diverges (secondary notes)",
             "claims/overlap-accuracy")
def overlap_accuracy(study):
    cells, missed = [], []
    for tau in (2, 8, 24):
        ours, *others = (accuracy(study, "test_accuracy_local_mean", algorithm=f"{name}, tau {tau}")
                         for name in ("overlap", "overlap, no momentum", "CoCoD", "EAMSGD"))
        named = list(zip(("without momentum", "CoCoD", "EAMSGD"), others))
        cells.append(f"tau {tau}: {ours.percent()} %, " + ", ".join(f"{name} {at.percent()}" for name, at in named))
        missed += [f"{name} at tau {tau}" for name, other in named if not above(ours, other)]
    return shown_if(not missed, "workers' own models, " + "; ".join(cells),
                    "differences below the noise: " + ", ".join(missed) + "; the others are as claimed",
                    "small digits and an MLP")


@PAPER.claim("C24", "Overlap-Local-SGD converges for objectives that are not convex", "Overlap-Local-SGD, theorem",
             "O(1/sqrt(m K)) and a term of tau^2 (secondary notes)", "claims/local-convergence",
             "claims/local-convergence-net")
def overlap_converges(convex, net):
    return converges(convex, net, "Overlap-Local-SGD", "1/sqrt(m K)")


MULOCO = "MuLoCo (arXiv 2505.23725), table for one worker in its authors' repository, 150M parameters"
MULOCO_NET = ("a transformer of two blocks on an artificial language, eight blocks of 30 steps, 32 sequences a step; AdamW "
              "beside Muon has a quarter of its rate")


def muloco(study, better_than):
    names = list(dict.fromkeys(name for pair in better_than for name in pair))
    found = {name: loss(study, algorithm=name) for name in names}
    missed = [f"{better} against {worse}" for worse, better in better_than if not above(found[worse], found[better])]
    return shown_if(not missed, "test loss: " + ", ".join(f"{name} {found[name].text('{:.3f}')}" for name in names),
                    "not better beyond the noise: " + ", ".join(missed), MULOCO_NET)


@PAPER.claim("C25", "Muon is a better inner optimizer of DiLoCo than AdamW", MULOCO,
             "loss: DiLoCo 3.142, MuLoCo 3.120; AdamW 3.158, Muon 3.124", "claims/muloco-language")
def muloco_beats_diloco(study):
    return muloco(study, [("DiLoCo, one worker", "MuLoCo, one worker"),
                          ("DiLoCo, four workers", "MuLoCo, four workers"), ("AdamW", "Muon")])


@PAPER.claim("C26", "One worker with outer steps is better than its inner optimizer alone", MULOCO,
             "loss: AdamW 3.158, DiLoCo 3.142; Muon 3.124, MuLoCo 3.120", "claims/muloco-language")
def one_worker_beats_none(study):
    return muloco(study, [("AdamW", "DiLoCo, one worker"), ("Muon", "MuLoCo, one worker")])


SPARSELOCO = "SparseLoCo (arXiv 2508.15706), abstract"
SPARSELOCO_NET = ("a transformer of two blocks on an artificial language, four workers, sixteen blocks of 15 steps; the outer "
                  "momentum of DiLoCo is 0.8")


@PAPER.claim("C27", "SparseLoCo with 1 to 3 % of the entries in 2 bits is better than DiLoCo in full precision", SPARSELOCO,
             "- (no numbers in the abstract)", "claims/sparseloco-language")
def sparseloco_beats_diloco(study):
    names = ("DiLoCo", "SparseLoCo, 1 of 64 entries", "SparseLoCo, 1 of 16 entries", "SparseLoCo, 1 of 16 entries, mean of all")
    found = {name: loss(study, algorithm=name) for name in names}
    return shown_if(above(found["DiLoCo"], found["SparseLoCo, 1 of 64 entries"]),
                    "test loss: " + ", ".join(f"{name} {found[name].text('{:.3f}')}" for name in names),
                    "1 of 64 entries is not better beyond the noise", SPARSELOCO_NET)

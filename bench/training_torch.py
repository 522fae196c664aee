#!/usr/bin/python3
"""Simulates W workers of synchronous training in one process with PyTorch: bench/training.json is the same job.

Prints JSON: the samples per second of wall-clock, median of several runs of the steps. Dense SGD takes the gradient
of all W minibatches as one batch of W x 32, which is their mean: the fastest way there is. DGC needs the gradient of
each worker and so runs W batches of 32; each worker has its u and v, per tensor (Lin et al., ICLR 2018, and the released
code): momentum correction, the largest 0.1 % of |v| of weight tensors by a threshold from a sample of 1 %, masking, and
one sum that receives what is sent. A sampled threshold that misses the density is not corrected, which saves an
occasional pass. All arithmetic is in place on flat buffers; the updates are under no_grad.

With Debian's reference BLAS, PyTorch is a hundred times slower: install libopenblas0-openmp (tools/deps.sh --bench).
"""
import argparse
import json
import statistics
import time

import torch
import torch.nn.functional as F
from torch import nn

DENSITY, BETA, GAMMA, BATCH = 0.001, 0.9, 0.01, 32


class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(64, 128)
        self.lstm = nn.LSTM(128, 128)
        self.output = nn.Linear(128, 64)

    def forward(self, tokens):
        return self.output(self.lstm(self.embedding(tokens))[0]).flatten(0, 1)


def build(kind):
    if kind == "mlp":
        return nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
    if kind == "cnn":
        return nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                             nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                             nn.Flatten(), nn.Linear(32 * 7 * 7, 10))
    return Language()


class Data:
    """Random inputs: what they are does not change the time. A batch is drawn anew in every step."""

    def __init__(self, kind):
        self.kind = kind
        if kind == "lstm":
            self.tokens = torch.randint(64, (33, 8192))
        else:
            self.inputs = torch.randn((8192, 784) if kind == "mlp" else (8192, 1, 28, 28))
            self.labels = torch.randint(10, (8192,))

    def draw(self, samples):
        picks = torch.randint(8192, (samples,))
        if self.kind == "lstm":
            tokens = self.tokens[:, picks]
            return tokens[:-1], tokens[1:].flatten()
        return self.inputs[picks], self.labels[picks]


def dense(model, data, workers):
    optimizer = torch.optim.SGD(model.parameters(), lr=GAMMA, momentum=BETA, foreach=True)

    def step():
        inputs, labels = data.draw(workers * BATCH)
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(model(inputs), labels).backward()
        optimizer.step()

    return step


def send(v, u, total):
    """Moves about the largest DENSITY of v into the sum, and masks u."""
    n = v.numel()
    importance = v.abs()
    sampled = max(-(-n // 100), round(2 / DENSITY))
    sample = importance if sampled >= n else importance[int(torch.randint(n // sampled, ())):: n // sampled]
    kept = max(1, -(-sample.numel() // round(1 / DENSITY)))
    threshold = torch.topk(sample, kept, sorted=False).values.min()
    picks = (importance >= threshold).nonzero().view(-1)
    total.index_add_(0, picks, v[picks])
    v[picks] = 0
    u[picks] = 0


def dgc(model, data, workers):
    parameters = list(model.parameters())
    zeros = lambda: [torch.zeros(p.numel()) for p in parameters]
    memories = [(zeros(), zeros()) for _ in range(workers)]
    momentum = zeros()

    def step():
        totals = zeros()
        for us, vs in memories:
            inputs, labels = data.draw(BATCH)
            gradients = torch.autograd.grad(F.cross_entropy(model(inputs), labels), parameters)
            with torch.no_grad():
                for p, g, u, v, total in zip(parameters, gradients, us, vs, totals):
                    if p.dim() == 1:
                        total.add_(g)
                        continue
                    u.mul_(BETA).add_(g.reshape(-1))
                    v.add_(u)
                    send(v, u, total)
        with torch.no_grad():
            for p, total, m in zip(parameters, totals, momentum):
                if p.dim() == 1:
                    total = m.mul_(BETA).add_(total, alpha=1 / workers).mul(workers)
                p.view(-1).sub_(total, alpha=GAMMA / workers)

    return step


def measure(kind, algorithm, workers, seconds):
    torch.manual_seed(1)
    step = {"dense": dense, "dgc": dgc}[algorithm](build(kind), Data(kind), workers)
    begin = time.perf_counter()
    for _ in range(3):
        step()
    steps = max(1, int(seconds / 5 * 3 / (time.perf_counter() - begin)))
    rates = []
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(steps):
            step()
        rates.append(workers * BATCH * steps / (time.perf_counter() - begin))
    return statistics.median(rates)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=["mlp", "cnn", "lstm"])
    parser.add_argument("algorithm", choices=["dense", "dgc"])
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=5, help="of measuring, about")
    a = parser.parse_args()
    torch.set_num_threads(a.threads)
    rate = measure(a.model, a.algorithm, a.workers, a.seconds)
    print(json.dumps({**vars(a), "samples_per_s": round(rate), "torch": torch.__version__}))


if __name__ == "__main__":
    main()

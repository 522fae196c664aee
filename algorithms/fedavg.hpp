// FedAvg: in each round some workers train by themselves, and a server averages their models.
//
// Round r:
//   S    <-  max(floor(C n), 1) workers, drawn uniformly without replacement
//   server sends x to each i in S
//   each i in S:   x_i  <-  x,  m_i  <-  0,  then E times
//                  m_i  <-  beta m_i + g_i(x_i),   x_i  <-  x_i - gamma m_i
//   each i in S sends x_i
//   x    <-  sum over i in S of (n_i / sum over S of n_j) x_i
//
//   symbol   here                 meaning
//   x        x                    the server's model, which is measured: it changes at ends of rounds
//   x_i, m_i x, m                 of a worker, in one round
//   g_i      g                    stochastic gradient on one batch of the worker's shard
//   C        options.fraction     in (0, 1]
//   E        options.local_steps  batches, not epochs, of a round
//   n_i      self.samples(i)      samples of worker i; all alike where they are not known
//   gamma    learning rate of the worker's step;  beta = options.momentum, in [0, 1)
//
// Steps are counted alike on all workers: a round is E of them. Those who are not in S pass them at
// the round's beginning, compute nothing and send nothing. That they know when a round begins and
// ends takes no message (Worker::meet); those in S wait for the end as in the paper, since a round
// ends when the last model has come. Whoever is in S is drawn by all from one stream, which stands
// for the letter that a real server would send. A run that stops within a round ends that round
// with the steps it has.
//
// State: x on the server; nothing on a worker between rounds. Blocks: the round waits for its
// slowest worker. Nothing overlaps. Bytes of a round: one model down and one up for each of S.
//
// Limits: one server, on a node of its own behind the workers; its arithmetic takes no time; all
// that are drawn finish. Source: McMahan et al., AISTATS 2017 (arXiv 1602.05629), read in the
// abstract, and the Flower framework's weights; steps instead of epochs and momentum are options
// that the paper's basic algorithm does not have.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/worker.hpp"

namespace paceline {

struct FedavgOptions {
    double fraction = 1;           // C
    std::int64_t local_steps = 1;  // E
    double momentum = 0.9;         // beta
};

/// |S| = max(floor(C n), 1)
int clients_of_a_round(double fraction, int nodes);

/// So many of 0 .. nodes-1, uniformly without replacement, in increasing order. Requires 1 <= count
/// <= nodes.
std::vector<int> draw_clients(RandomStream& rng, int nodes, int count);

Task<> fedavg(Worker& self, FedavgOptions options);

/// Of the one server.
Task<> fedavg_server(Worker& self, FedavgOptions options);

}  // namespace paceline

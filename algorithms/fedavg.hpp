// FedAvg: in each round some workers train by themselves, and a server averages their models.
//
// Round r, with k = max(floor(C n), 1):
//   S    <-  min(ceil(o k), n) workers of those that are there, drawn uniformly, none twice
//   server sends x to each i in S
//   each i in S:   x_i  <-  x,  m_i  <-  0,  then E times
//                  m_i  <-  beta m_i + g_i(x_i),   x_i  <-  x_i - gamma m_i
//   each i in S sends x_i, or with a compressor C(x_i - x)
//   K    <-  the first k of them whose models have come, or fewer if no more can come
//   x    <-  sum over i in K of (n_i / sum over K of n_j) x_i,
//            or with a compressor  x + sum over i in K of (n_i / sum over K of n_j) C(x_i - x)
//
//   symbol   here                 meaning
//   x        x                    the server's model, which is measured: it changes at ends of rounds
//   x_i, m_i x, m                 of a worker, in one round
//   g_i      g                    stochastic gradient on one batch of the worker's shard
//   C        options.fraction     in (0, 1]
//   o        options.over_selection   1 or more; 1.3 is FedScale's
//   E        options.local_steps  batches, not epochs, of a round
//   n_i      self.samples(i)      samples of worker i; all alike where they are not known
//   gamma    learning rate of the worker's step;  beta = options.momentum, in [0, 1)
//
// Steps are counted alike on all workers: a round is E of them. Those who are not in S pass them at
// the round's beginning, compute nothing and send nothing; so do those whose model comes too late,
// with the steps that they have left: they stop when the round is over. That they know when a round begins and
// ends takes no message (Worker::meet); those in S wait for the end as in the paper, since a round
// ends when the last model has come. Whoever is in S is drawn by all from one stream, which stands
// for the letter that a real server would send. A run that stops within a round ends that round
// with the steps it has.
//
// A round that has a deadline ends then with what has come, and with none changes nothing. A client
// that is away is not drawn; one that dies or leaves within a round is not waited for. A worker that
// joins within a round passes it.
//
// State: x on the server; on a worker nothing between rounds but the error of its compressor. Blocks: the round waits for the
// k-th of its workers. Nothing overlaps. Bytes of a round: one model down and one up for each of S.
//
// Limits: one server, on a node of its own behind the workers, which does not fail and learns at once
// who comes and goes; its arithmetic takes no time. Source: McMahan et al., AISTATS 2017 (arXiv 1602.05629), read in the
// abstract, and the Flower framework's weights; steps instead of epochs and momentum are options
// that the paper's basic algorithm does not have.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/compression/compressor.hpp"
#include "algorithms/worker.hpp"

namespace paceline {

struct FedavgOptions {
    double fraction = 1;                 // C
    std::int64_t local_steps = 1;        // E
    double momentum = 0.9;               // beta
    double over_selection = 1;           // o
    std::optional<Duration> deadline{};  // of a round, from its beginning
    std::optional<Compressor> compressor{};
    bool error_feedback = false;
    CodingCost coding{};
};

/// |S| = max(floor(C n), 1)
int clients_of_a_round(double fraction, int nodes);

/// |S| if all are there.
int clients_asked(const FedavgOptions& options, int nodes);

/// Of a model that is handed in; none without a compressor.
Duration encoding_time(const FedavgOptions& options, const Layout& layout);

/// So many of 0 .. nodes-1, uniformly without replacement, in increasing order. Requires 1 <= count
/// <= nodes.
std::vector<int> draw_clients(RandomStream& rng, int nodes, int count);

Task<> fedavg(Worker& self, FedavgOptions options);

/// Of the one server.
Task<> fedavg_server(Worker& self, FedavgOptions options);

}  // namespace paceline

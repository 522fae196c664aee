// FedAvg: in each round some workers train on their own, and a server averages their models.
//
// Round r (client_rounds.hpp), with S the clients that are asked and K those whose models come in
// time:
//   server sends x to each i in S
//   each i in S:   x_i  <-  x,  m_i  <-  0,  then E times
//                  m_i  <-  beta m_i + g_i(x_i),   x_i  <-  x_i - gamma m_i
//   each i in S sends x_i, or with a compressor C(x_i - x)
//   x    <-  sum over i in K of (n_i / sum over K of n_j) x_i,
//            or with a compressor  x + sum over i in K of (n_i / sum over K of n_j) C(x_i - x)
//
//   symbol   here                 meaning
//   x_i, m_i x, m                 of a worker, within one round
//   g_i      g                    stochastic gradient on one batch of the worker's shard
//   gamma    learning rate of the worker's step;  beta = options.momentum, in [0, 1)
//
// State, what blocks and what is charged are those of all rounds. Bytes of a round: one model down
// and one up for each worker in S.
//
// Source: McMahan et al., AISTATS 2017 (arXiv 1602.05629; only the abstract was read), and the
// Flower framework's weights. Steps instead of epochs, and momentum, are options that the paper's
// basic algorithm does not have.
#pragma once

#include "algorithms/servers/client_rounds.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

using FedavgOptions = RoundOptions;

Task<> fedavg(Worker& self, FedavgOptions options);

/// Runs the one server.
Task<> fedavg_server(Worker& self, FedavgOptions options);

}  // namespace paceline

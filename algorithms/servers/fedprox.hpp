// FedProx: FedAvg whose clients are pulled back to the model they were sent.
//
// Round r (client_rounds.hpp), with S the clients that are asked and K those whose models come in
// time:
//   server sends x to each i in S
//   each i in S:   x_i  <-  x,  m_i  <-  0,  then E times
//                  m_i  <-  beta m_i + g_i(x_i) + mu (x_i - x),   x_i  <-  x_i - gamma m_i
//   x    <-  sum over i in K of (n_i / sum over K of n_j) x_i,   compressed as in FedAvg
//
// So each client minimizes f_i(w) + (mu / 2) |w - x|^2, approximately.
//
//   symbol   here                 meaning
//   mu       options.mu           0 or more; unit: that of a gradient by that of a parameter
//   the others are FedAvg's (fedavg.hpp)
//
// State, what blocks, messages and bytes are those of FedAvg; the pull takes no time of its own.
// Reduction: with mu = 0 it is FedAvg, to the bit.
//
// Source: Li, Sahu, Zaheer, Sanjabi, Talwalkar, Smith, "Federated Optimization in Heterogeneous
// Networks", MLSys 2020 (arXiv 1812.06127). The paper's text was not available. The step is that of
// the authors' released code (litian96/FedProx, flearn/optimizer/pgd.py @6be8d40: w - lr (grad + mu
// (w - w_t)), mu = 0.01 by default), and so is the mean weighted by samples
// (flearn/trainers/fedbase.py @3eed82e). Deviations: E counts steps, not epochs; momentum is an
// option of this project. In the released code a slow client trains for fewer epochs and its model
// counts; here all train for E steps, and a model that comes too late is dropped.
#pragma once

#include "algorithms/servers/client_rounds.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct FedproxOptions {
    RoundOptions rounds{};
    double mu = 0.01;
};

Task<> fedprox(Worker& self, FedproxOptions options);

/// Runs the one server, which is FedAvg's.
Task<> fedprox_server(Worker& self, FedproxOptions options);

}  // namespace paceline

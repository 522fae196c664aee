// signSGD with majority vote, and Signum: each worker votes on the direction of each entry.
//
//   m_i  <-  beta m_i + (1 - beta) g_i       beta = 0: signSGD; else Signum
//   s    <-  sign(sum over i of sign(m_i))   the vote; a bit is 1 where m_i >= 0, a tie is 0
//   x    <-  x - gamma s
//
//   symbol   here               meaning
//   g_i      g                  stochastic gradient of worker i at x
//   m_i      m                  momentum, the worker's own, 0 at first
//   beta     options.momentum   in [0, 1)
//   gamma    learning rate: how far each entry moves in a step, whatever the gradient's size
//
// Each worker sends one bit per entry. An all-gather distributes the votes and every worker counts
// them. It blocks as compressed SGD does, and nothing overlaps. x exists once. A lone worker (n =
// 1) runs sign descent, not SGD. Encoding makes one pass for the momentum and one for the signs;
// decoding makes one pass per vote.
//
// Sources: Bernstein, Wang, Azizzadenesheli, Anandkumar, ICML 2018; Bernstein, Zhao,
// Azizzadenesheli, Anandkumar, ICLR 2019; form: released code (sands-lab/grace). The second paper
// has a server that answers with one bit per entry (arXiv 1810.05291v3, introduction); here there
// is none. Ties: compression/signs.hpp.
#pragma once

#include <cstdint>

#include "algorithms/exchange/exchange_presets.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

/// Passes over the entries that the momentum takes.
inline constexpr std::int64_t sign_momentum_passes = 1;

struct SignSgdOptions {
    double momentum = 0.9;  // beta
    ExchangeOptions exchange = vote_exchange();
};

/// Requires the codec of signs with the majority's vote.
Task<> sign_sgd(Worker& self, SignSgdOptions options);

}  // namespace paceline

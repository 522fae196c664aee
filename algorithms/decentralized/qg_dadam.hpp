// QG-DAdam: decentralized Adam whose moments follow the movement of the whole step, averaging
// included, as an estimate of the direction of all.
//
//   m  =  beta1 m^_i + (1 - beta1) g_i;   v  =  beta2 v^_i + (1 - beta2) g_i^2
//   h_i   =  x_i - gamma m / (1 - beta1^k) / (sqrt(v / (1 - beta2^k)) + epsilon)
//   x_i'  =  sum over j of w_ij h_j
//   d_i   =  (x_i - x_i') / (|x_i - x_i'|_2 + 1e-8)
//   m^_i <-  beta1 m^_i + (1 - beta1) d_i;   v^_i <- beta2 v^_i + (1 - beta2) d_i^2;   x_i <- x_i'
//
//   symbol     here           meaning
//   x_i        x              model of worker i
//   g_i        g              its stochastic gradient at x_i, with lambda x_i in it
//   w_ij                      mixing weights (topologies/mixing), rows sum to 1
//   gamma      gamma          learning rate of the step
//   k          step           1, 2, ..., of this worker
//   m^, v^     mean, variance moments between steps, 0 at first
//   d_i        moved          what the step has moved, of length 1
//
// The gradient enters the moments of its own step alone. With Moments::second, the first moment is
// Adam's own, m_i <- beta1 m_i + (1 - beta1) g_i, and only v^ follows the movement.
//
// Source: Lin, Karimireddy, Stich, Jaggi. "Quasi-Global Momentum." ICML 2021; form: released code
// (epfml/quasi-global-momentum @d1d2f75): Moments::both is pcode/optim/decentralized_qg_adam_v1.py,
// which has the two quasi-global buffers of its README; Moments::second is
// decentralized_qg_adam_v2.py, which that code runs as "decentralized_qg_adam". A third file,
// decentralized_qg_adam.py, adds g without its factor 1 - beta1 and is not run by it. Weight decay
// is in the gradient, as there. Limits: averages are as with qg-dmsgd; the norm is that of the
// whole model.
#pragma once

#include <cstdint>

#include "algorithms/exchange/exchange_options.hpp"
#include "algorithms/optimizers/adam.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

/// The moments that follow the movement of the step.
enum class Moments : std::uint8_t { both, second };

struct QgDadamOptions {
    AdamRule rule{};
    Moments moments = Moments::second;
    ExchangeOptions exchange{};
};

/// Requires a job with a mixing.
Task<> qg_dadam(Worker& self, QgDadamOptions options);

}  // namespace paceline

// Elastic averaging SGD, synchronous: workers and a center pull one another every tau steps.
//
//   every step of a block     x_i  <-  momentum_step with g_i and m_i      (optimizers/momentum.hpp)
//   after its last            x_i  <-  (1 - alpha) x_i + alpha z           both from the old values
//                             z    <-  (1 - n alpha) z + alpha sum over j of x_j
//
//   symbol   here             meaning
//   x_i      self.model()     model of worker i
//   z        z                center, x(0) at first; equal on all workers, exists once
//   m_i      m                its momentum, 0 at first; goes on across pulls
//   alpha    options.alpha    elasticity, in [0, 1/n]
//   tau      options.period   steps of a block
//
// With a momentum in the optimizer this is EAMSGD (the paper's is Nesterov's form: "nesterov": true).
// A pull keeps z + sum over j of x_j as it is. With alpha = 1/n the center becomes the mean of the
// models; with alpha 0 workers are independent. Alone it is SGD with a center that trails it.
//
// The exchange is an all-reduce of the models, which blocks; nothing overlaps. A run that ends within
// a block ends there, without a pull. What is measured is the mean of the x_i and not z.
//
// Source: Zhang, Choromanska, LeCun, "Deep learning with Elastic Averaging SGD", NeurIPS 2015; the
// synchronous form: released code (JYWa/Overlap_Local_SGD). The default n alpha = 0.9: from memory,
// unverified.
#pragma once

#include <cstdint>

#include "algorithms/optimizers/momentum.hpp"
#include "algorithms/worker.hpp"

namespace paceline {

struct EasgdOptions {
    std::int64_t period = 4;  // tau, 1 or more
    double alpha = 0;
    AllReducePlan all_reduce{};
    MomentumRule rule{};
};

Task<> easgd(Worker& self, EasgdOptions options);

}  // namespace paceline

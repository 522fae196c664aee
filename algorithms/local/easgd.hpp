// Elastic averaging SGD, synchronous: workers and a center pull each other every tau steps.
//
//   every step of a block     x_i  <-  a step of the inner optimizer with g_i  (inner_steps.hpp)
//   after its last            x_i  <-  (1 - alpha) x_i + alpha z           both from the old values
//                             z    <-  (1 - n alpha) z + alpha sum over j of x_j, n the workers
//                                      there
//
//   symbol   here             meaning
//   x_i      self.model()     model of worker i
//   z        z                center, x(0) at first; equal on all workers, stored once
//   m_i      inner            its momentum, 0 at first; pulls do not change it
//   alpha    options.alpha    elasticity, in [0, 1/n]
//   tau      options.period   steps per block
//
// With momentum in the optimizer this is EAMSGD (the paper uses Nesterov's form: "nesterov": true).
// A pull conserves z + sum over j of x_j. With alpha = 1/n the center becomes the mean of the
// models; with alpha = 0 workers are independent. With n = 1 it is SGD with a trailing center.
//
// The exchange is an all-reduce of the models, which blocks; nothing overlaps. A run that ends
// within a block ends without a final pull. Measurements use the mean of the x_i, not z.
//
// Source: Zhang, Choromanska, LeCun, "Deep learning with Elastic Averaging SGD", NeurIPS 2015; the
// synchronous form: released code (JYWa/Overlap_Local_SGD). The default n alpha = 0.9 is from
// memory, unverified.
#pragma once

#include <cstdint>

#include "algorithms/exchange/exchange_options.hpp"
#include "algorithms/local/inner_steps.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct EasgdOptions {
    std::int64_t period = 4;  // tau, 1 or more
    double alpha = 0;
    ExchangeOptions exchange{};
    InnerRule inner = MomentumRule{};
};

Task<> easgd(Worker& self, EasgdOptions options);

}  // namespace paceline

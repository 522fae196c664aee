// Push-sum: averaging over a directed graph whose columns, not rows, sum to 1.
//
//   send p_i (x_i, w_i) to each listener, p_i = 1 / (listeners of i + 1), and keep as much
//   (x_i, w_i)  <-  what was kept + what has come
//   z_i  =  x_i / w_i
//
// The sums of all x_i and of all w_i never change, so every z_i tends to the mean of the first x_i
// (w_i = 1 at first), whatever the out-degrees. Where every node has as many listeners as it
// listens to, w_i stays 1. The weights of the mixing are not used, only who listens to whom.
//
// A message weighs the vector and one number more. Sources: Kempe, Dobra, Gehrke, FOCS 2003; Assran,
// Loizou, Ballas, Rabbat, ICML 2019 (Stochastic Gradient Push).
#pragma once

#include "algorithms/worker.hpp"

namespace paceline {

struct PushSum {
    Vector x;      // numerator
    double w = 1;  // weight

    /// x / w
    [[nodiscard]] Vector debiased() const { return w == 1 ? x : x / w; }
};

/// What debiased() makes z of: the numerator w z.
[[nodiscard]] inline PushSum biased(const Vector& z, double w) {
    return {w == 1 ? z : w * z, w};
}

/// Requires a job with a mixing, and that all workers make as many calls in a step.
Task<PushSum> push_sum(Worker& self, PushSum mine);

}  // namespace paceline

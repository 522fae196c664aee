// Push-sum: averages over a directed graph whose weight matrix has columns, not rows, that sum to
// 1.
//
//   send p_i (x_i, w_i) to each listener, p_i = 1 / (listeners of i + 1), and keep as much
//   (x_i, w_i)  <-  what was kept + what has come
//   z_i  =  x_i / w_i
//
// The sum of all x_i and the sum of all w_i never change, so every z_i tends to the mean of the
// first x_i (w_i = 1 at first), whatever the out-degrees are, if the graph is strongly connected.
// If all nodes have the same number of listeners and listen to as many, w_i stays 1. On a star of n
// nodes it becomes n^2 / (3n - 2) at the center and 2n / (3n - 2) elsewhere. Only the edges of the
// mixing are used, not its weights.
//
// A message weighs the vector plus one number. Sources: Kempe, Dobra, Gehrke, FOCS 2003; Assran,
// Loizou, Ballas, Rabbat, ICML 2019 (Stochastic Gradient Push).
#pragma once

#include "models/tensors/vector.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct PushSum {
    Vector x;      // numerator
    double w = 1;  // weight

    /// Returns z = x / w.
    [[nodiscard]] Vector debiased() const { return w == 1 ? x : x / w; }
};

/// Returns the state whose debiased() is z: numerator w z and weight w.
[[nodiscard]] inline PushSum biased(const Vector& z, double w) {
    return {w == 1 ? z : w * z, w};
}

/// Requires a job with a mixing, and that all workers make the same number of calls in a step.
Task<PushSum> push_sum(Worker& self, PushSum mine);

}  // namespace paceline

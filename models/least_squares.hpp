// The minimum of linear regression over shards, in closed form. Runs are checked against it.
//
//   f(x)  =  (1/n) sum over shards i of  w_i mean over samples (a, b) of i of (a . x - b)^2 / 2
//            +  (decay / 2) |x|^2
//   x*    =  H^-1 c,   H = decay I + (1/n) sum of w_i mean(a a^T),   c = (1/n) sum of w_i mean(a b)
//
// With a bias, a has a last entry 1. If H is singular (fewer samples than parameters, no decay), x*
// is the shortest of the minima, which is the one that descent from zero reaches. Computed in
// double by shortest_solution of models/tensors/algebra.hpp: O(samples d^2 + d^3).
#pragma once

#include <vector>

#include <Eigen/Core>

#include "models/data/samples.hpp"

namespace paceline {

/// Without weights, all w_i are 1. Requires targets, and at least one sample in every shard.
Eigen::VectorXd least_squares(const Samples& samples, const std::vector<std::vector<int>>& shards,
                              bool bias, double decay, const std::vector<double>& weights = {});

}  // namespace paceline

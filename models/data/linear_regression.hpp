// Linear regression in which each node has its own optimum.
//
//   x_i = x + spread * N(0, I_d),  x ~ N(0, I_d)            optimum of node i
//   a ~ N(0, I_d),  target = a . x_i + noise * N(0, 1)      a sample of node i
//
// Samples are stored node by node in blocks of `rows`, so that a contiguous partition over `nodes`
// nodes gives each node its own. The test set has blocks of `test_rows` in the same way. The spread
// is what biases decentralized methods; with 0 all nodes share one optimum.
//
// Papers minimize f_i(x) = 1/2 |A_i x - b_i|^2, a sum over the rows of node i. Nets take the mean
// over the batch, so f_i = rows * loss. A paper's step size gamma is therefore gamma * rows here
// (1e-3 of the DecentLaM experiment is 0.05 with its 50 rows). The same holds for minibatches.
#pragma once

#include "models/data/dataset.hpp"
#include "sim/engine/random.hpp"

namespace paceline {

struct LinearRegressionOptions {
    int nodes = 8;
    int rows = 50;  // training samples per node
    int test_rows = 50;
    int dimension = 30;
    double noise = 0.1;
    double spread = 0.5;
};

/// A node's samples do not depend on the number of nodes. Requires nodes, rows, dimension >= 1,
/// test_rows >= 0, noise and spread >= 0.
Dataset linear_regression(const LinearRegressionOptions& options, const RandomStreams& streams);

}  // namespace paceline

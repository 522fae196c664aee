// A Gaussian mixture: round clouds of points, some of the same label.
//
//   means    mu_k = scale * N(0, I_d)                    k = 0 .. components-1
//   sample   k uniform;  input = mu_k + N(0, I_d);  label = k mod classes
//
// With more components than classes no linear model is right: a class is several clouds. The
// defaults are the problem on which decentralized methods differ by their bias when shards are
// skewed (16 nodes of 1024 samples each, an MLP 20-32-10). The best accuracy is that of the nearest
// mean within about a point; of two components it is Phi(|mu_0 - mu_1| / 2) exactly.
#pragma once

#include <Eigen/Core>

#include "models/data/dataset.hpp"
#include "sim/engine/random.hpp"

namespace paceline {

struct GaussianMixtureOptions {
    int components = 30;
    int dimension = 20;
    int classes = 10;
    double scale = 0.75;  // of the means; the noise within a cloud has deviation 1
    int train = 16384;
    int test = 8192;
};

/// The means of the mixture that gaussian_mixture draws from, one column per component.
Eigen::MatrixXf gaussian_mixture_means(const GaussianMixtureOptions& options,
                                       const RandomStreams& streams);

/// Training and test samples are of one distribution; more of one does not change the other.
/// Requires components >= classes >= 1, dimension >= 1, scale >= 0, train >= 1 and test >= 0.
Dataset gaussian_mixture(const GaussianMixtureOptions& options, const RandomStreams& streams);

}  // namespace paceline

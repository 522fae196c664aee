// A Gaussian mixture: spherical clouds of points, several of which may share a label.
//
//   means    mu_k = scale * N(0, I_d)                    k = 0 .. components-1
//   sample   k uniform;  input = mu_k + N(0, I_d);  label = k mod classes
//
// With more components than classes, a class consists of several clouds, and no linear model is
// right. The defaults are a problem on which the bias of decentralized methods shows when shards
// are skewed (16 nodes of 1024 samples each, an MLP 20-32-10). The best accuracy is that of the
// nearest mean to within about a percentage point. For two components it is exactly Phi(|mu_0 -
// mu_1| / 2).
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

/// Returns the means of the mixture that gaussian_mixture draws from, one column per component.
Eigen::MatrixXf gaussian_mixture_means(const GaussianMixtureOptions& options,
                                       const RandomStreams& streams);

/// Training and test samples have the same distribution. The number of one does not affect the
/// other. Requires components >= classes >= 1, dimension >= 1, scale >= 0, train >= 1 and test >=
/// 0.
Dataset gaussian_mixture(const GaussianMixtureOptions& options, const RandomStreams& streams);

}  // namespace paceline

// Small nets of every kind, with batches, for tests of laws that all nets obey.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/nets/net.hpp"

namespace paceline {

struct NetCase {
    std::string name;
    std::function<std::unique_ptr<Net<double>>()> in_double;
    std::function<std::unique_ptr<Net<float>>()> in_float;
    std::function<Samples(RandomStream&, Eigen::Index samples)> draw;
};

std::vector<NetCase> net_cases();

/// Features of mean 0 and variance 1, with random labels and targets.
Samples draw_features(RandomStream& random, Eigen::Index samples, Eigen::Index features,
                      int classes);
/// Random tokens: `steps` of them per sample, and one more.
Samples draw_tokens(RandomStream& random, Eigen::Index samples, Eigen::Index steps, int vocabulary);

/// Every parameter is normal with this deviation, so that the point is not special.
Eigen::VectorXd random_point(RandomStream& random, Eigen::Index size, double deviation);

/// Returns the samples first, first + 1, ... first + count - 1.
Samples part_of(const Samples& all, Eigen::Index first, Eigen::Index count);

/// |gradient - central differences| / |gradient|, over all parameters.
double gradient_error(Net<double>& net, const Eigen::VectorXd& x, const Samples& batch);

}  // namespace paceline

#include "models/data/standardize.hpp"

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "sim/engine/check.hpp"
#include "sim/numeric/sums.hpp"

namespace paceline {

namespace {

/// Standardizes these features together to mean 0 and variance 1 in training.
void standardize_rows(Dataset& data, Eigen::Index from, Eigen::Index rows) {
    auto train = data.train.inputs.middleRows(from, rows);
    const auto size = static_cast<double>(train.size());
    // Each sample's features are contiguous: compute one sum per sample, then the sum of those.
    std::vector<double> sums(static_cast<std::size_t>(train.cols()));
    for (Eigen::Index j = 0; j < train.cols(); ++j)
        sums[static_cast<std::size_t>(j)] =
            sum(std::span<const float>(&train(0, j), static_cast<std::size_t>(rows)));
    const double mean = sum(sums) / size;
    std::vector<double> feature(static_cast<std::size_t>(rows));
    const std::vector<double> means(feature.size(), mean);
    for (Eigen::Index j = 0; j < train.cols(); ++j) {
        for (std::size_t i = 0; i < feature.size(); ++i)
            feature[i] = static_cast<double>(train(static_cast<Eigen::Index>(i), j));
        sums[static_cast<std::size_t>(j)] = squared_distance(feature, means);
    }
    const double variance = sum(sums) / size;
    const double deviation = variance > 0 ? std::sqrt(variance) : 1;
    const auto apply = [&](auto features) {
        features =
            ((features.template cast<double>().array() - mean) / deviation).template cast<float>();
    };
    apply(train);
    if (data.test.inputs.size() > 0) apply(data.test.inputs.middleRows(from, rows));
}

}  // namespace

void standardize(Dataset& data) {
    const Eigen::Index features = data.train.inputs.rows();
    if (data.train.inputs.size() == 0) return;
    PACELINE_CHECK(data.test.inputs.size() == 0 || data.test.inputs.rows() == features,
                   "training and test samples have the same features");
    const Eigen::Index groups = data.image.channels > 0 ? data.image.channels : features;
    PACELINE_CHECK(features % groups == 0, "every channel of an image has as many features");
    for (Eigen::Index group = 0; group < groups; ++group)
        standardize_rows(data, group * (features / groups), features / groups);
}

}  // namespace paceline

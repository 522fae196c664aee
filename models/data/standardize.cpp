#include "models/data/standardize.hpp"

#include <cmath>

#include "sim/engine/check.hpp"

namespace paceline {

namespace {

/// These features, as one, to mean 0 and variance 1 in training.
void standardize_rows(Dataset& data, Eigen::Index from, Eigen::Index rows) {
    auto train = data.train.inputs.middleRows(from, rows);
    const auto size = static_cast<double>(train.size());
    const double mean = train.cast<double>().sum() / size;
    const double variance = (train.cast<double>().array() - mean).square().sum() / size;
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

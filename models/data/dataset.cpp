#include "models/data/dataset.hpp"

#include <algorithm>

namespace paceline {

DataShape shape_of(const Dataset& data) {
    DataShape shape{.train = data.train.count(),
                    .test = data.test.count(),
                    .features = data.train.inputs.rows(),
                    .steps = std::max<std::int64_t>(data.train.tokens.rows() - 1, 0),
                    .predicts = data.predicts,
                    .classes = data.classes,
                    .image = data.image};
    const Eigen::VectorXi& labels = data.train.labels;
    shape.one_class = labels.size() > 0 && labels.minCoeff() == labels.maxCoeff();
    shape.bytes = size_of_samples(shape.train + shape.test, shape.features, shape.steps);
    return shape;
}

Bytes size_of_samples(std::int64_t samples, std::int64_t features, std::int64_t steps) {
    constexpr Bytes per_number{4};
    return samples * ((features + steps + 1) * per_number);
}

}  // namespace paceline

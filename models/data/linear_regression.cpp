#include "models/data/linear_regression.hpp"

#include <cstddef>
#include <span>

#include "models/data/normal.hpp"
#include "sim/engine/check.hpp"
#include "sim/numeric/sums.hpp"

namespace paceline {

namespace {

void resize(Samples& samples, int dimension, int count) {
    samples.inputs.resize(dimension, count);
    samples.targets.resize(count);
}

void fill_block(Samples& samples, Eigen::Index from, Eigen::Index rows,
                const Eigen::VectorXf& optimum, double noise, RandomStream& stream) {
    auto inputs = samples.inputs.middleCols(from, rows);
    Eigen::VectorXf errors(rows);
    fill_normal(inputs, stream);
    fill_normal(errors, stream);
    const auto features = static_cast<std::size_t>(optimum.size());
    for (Eigen::Index i = 0; i < rows; ++i) {
        const double exact =
            dot(std::span(&inputs(0, i), features), std::span(optimum.data(), features));
        samples.targets(from + i) =
            static_cast<float>(exact) + static_cast<float>(noise) * errors(i);
    }
}

}  // namespace

Dataset linear_regression(const LinearRegressionOptions& options, const RandomStreams& streams) {
    const auto [nodes, rows, test_rows, dimension, noise, spread] = options;
    PACELINE_CHECK(nodes >= 1 && rows >= 1 && test_rows >= 0, "every node has a sample or more");
    PACELINE_CHECK(dimension >= 1, "an input has a feature or more");
    PACELINE_CHECK(noise >= 0 && spread >= 0, "deviations are not negative");
    Eigen::VectorXf common(dimension);
    RandomStream common_stream = streams.stream("linear-regression.common");
    fill_normal(common, common_stream);

    Dataset data;
    data.predicts = Prediction::number;
    resize(data.train, dimension, nodes * rows);
    resize(data.test, dimension, nodes * test_rows);
    Eigen::VectorXf optimum(dimension);
    for (int i = 0; i < nodes; ++i) {
        const auto index = static_cast<std::uint64_t>(i);
        RandomStream optimum_stream = streams.stream("linear-regression.optimum", index);
        RandomStream train_stream = streams.stream("linear-regression.train", index);
        RandomStream test_stream = streams.stream("linear-regression.test", index);
        fill_normal(optimum, optimum_stream);
        optimum = common + static_cast<float>(spread) * optimum;
        fill_block(data.train, Eigen::Index{i} * rows, rows, optimum, noise, train_stream);
        fill_block(data.test, Eigen::Index{i} * test_rows, test_rows, optimum, noise, test_stream);
    }
    return data;
}

}  // namespace paceline

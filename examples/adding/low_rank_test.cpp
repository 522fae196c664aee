#include "examples/adding/low_rank.hpp"

#include <cmath>

#include <doctest/doctest.h>

namespace paceline::low_rank_test {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// Sizes that no vector width divides: 3 * 11 + 3 + 7 * 3 + 7 = 64 parameters.
constexpr LowRankShape shape{.features = 11, .rank = 3, .classes = 7};
constexpr Index samples = 19;

Samples some_samples() {
    Samples batch;
    batch.inputs.resize(shape.features, samples);
    for (Index i = 0; i < batch.inputs.size(); ++i)
        batch.inputs.data()[i] = std::sin(3.0F * static_cast<float>(i));
    batch.labels.resize(samples);
    for (Index s = 0; s < samples; ++s) batch.labels[s] = static_cast<int>(s % shape.classes);
    return batch;
}

VectorXd some_parameters() {
    return (Eigen::ArrayXd::LinSpaced(64, 1, 100)).sin().matrix();
}

// The formula of the header, sample by sample.
double mean_loss(const VectorXd& x, const Samples& batch) {
    const auto v = x.head(33).reshaped<Eigen::RowMajor>(3, 11);
    const auto w = x.segment(36, 21).reshaped<Eigen::RowMajor>(7, 3);
    double sum = 0;
    for (Index s = 0; s < samples; ++s) {
        const VectorXd in = batch.inputs.col(s).cast<double>();
        const VectorXd logits = w * (v * in + x.segment(33, 3)) + x.tail(7);
        sum += std::log(logits.array().exp().sum()) - logits[batch.labels[s]];
    }
    return sum / samples;
}

TEST_CASE("low rank: the loss is that of the formula") {
    const Samples batch = some_samples();
    VectorXd g;

    CHECK(make_low_rank<double>(shape)->gradient(some_parameters(), batch, g) ==
          doctest::Approx(mean_loss(some_parameters(), batch)).epsilon(1e-12));
}

TEST_CASE("low rank: the gradient is that of differences of the formula") {
    constexpr double step = 1e-6;
    const Samples batch = some_samples();
    const VectorXd x = some_parameters();
    VectorXd differences(x.size());
    for (Index i = 0; i < x.size(); ++i) {
        const VectorXd move = step * VectorXd::Unit(x.size(), i);
        differences[i] = (mean_loss(x + move, batch) - mean_loss(x - move, batch)) / (2 * step);
    }

    VectorXd g;
    make_low_rank<double>(shape)->gradient(x, batch, g);

    CHECK((g - differences).norm() < 1e-8 * g.norm());
}

TEST_CASE("low rank: its tensors and their work are those of its header") {
    const auto net = make_low_rank<float>(shape);
    const auto& tensors = net->layout()->tensors();

    REQUIRE(tensors.size() == 4);
    CHECK(tensors[0].name == "down.weight");
    CHECK(tensors[0].shape == std::vector<std::int64_t>{3, 11});
    CHECK(tensors[2].name == "up.weight");
    CHECK(tensors[2].shape == std::vector<std::int64_t>{7, 3});
    CHECK(net->tensor_macs() == std::vector<double>{33, 0, 21, 0});
}

}  // namespace
}  // namespace paceline::low_rank_test

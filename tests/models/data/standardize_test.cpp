#include "models/data/standardize.hpp"

#include <doctest/doctest.h>

#include "models/data/gaussian_mixture.hpp"

namespace paceline::standardize_test {
namespace {

TEST_CASE("standardize: every training feature has mean 0 and variance 1, and the test follows") {
    Dataset data = gaussian_mixture({.train = 1000, .test = 1000}, RandomStreams(1));
    data.train.inputs.row(3) *= 40;
    data.test.inputs.row(3) *= 40;
    data.train.inputs.row(5).array() += 1000;
    data.test.inputs.row(5).array() += 1000;
    const Dataset raw = data;

    standardize(data);

    const Eigen::MatrixXd x = data.train.inputs.cast<double>();
    CHECK(x.rowwise().mean().cwiseAbs().maxCoeff() < 1e-4);
    CHECK((x.array().square().rowwise().mean() - 1).abs().maxCoeff() < 1e-3);
    // There is one affine map per feature: training and test data are transformed alike.
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
        const double scale =
            static_cast<double>(data.train.inputs(i, 0) - data.train.inputs(i, 1)) /
            static_cast<double>(raw.train.inputs(i, 0) - raw.train.inputs(i, 1));
        const double expected =
            static_cast<double>(data.train.inputs(i, 0)) +
            scale * static_cast<double>(raw.test.inputs(i, 7) - raw.train.inputs(i, 0));
        CHECK(static_cast<double>(data.test.inputs(i, 7)) ==
              doctest::Approx(expected).epsilon(1e-3));
    }
}

TEST_CASE("standardize: a feature that never varies becomes 0") {
    Dataset data;
    data.train.inputs = Eigen::MatrixXf::Constant(2, 4, 0.3f);
    data.train.inputs.row(1) << 1, 3, 1, 3;
    data.test.inputs = Eigen::MatrixXf::Constant(2, 1, 4.3f);

    standardize(data);

    CHECK(data.train.inputs.row(0).cwiseAbs().maxCoeff() < 1e-6f);
    CHECK(data.train.inputs(1, 0) == -1.0f);
    CHECK(data.test.inputs(0, 0) == doctest::Approx(4));
}

TEST_CASE("standardize: an image's features go by channel") {
    Dataset data;
    data.image = {.channels = 2, .height = 1, .width = 2};
    data.train.inputs.resize(4, 2);
    data.train.inputs << 0, 0, 2, 2, 10, 30, 30, 10;

    standardize(data);

    Eigen::MatrixXf expected(4, 2);
    expected << -1, -1, 1, 1, -1, 1, 1, -1;
    CHECK(data.train.inputs.isApprox(expected, 1e-6f));
}

TEST_CASE("standardize: text stays as it is") {
    Dataset data;
    data.train.tokens = Eigen::MatrixXi::Constant(3, 2, 4);
    standardize(data);
    CHECK(data.train.tokens == Eigen::MatrixXi::Constant(3, 2, 4));
}

}  // namespace
}  // namespace paceline::standardize_test

#include "models/nets/layers/token_layers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "tests/models/nets/net_cases.hpp"

namespace paceline::token_layers_test {
namespace {

using Eigen::Index;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Rows random_rows(RandomStream& random, Index features, Index tokens, double deviation = 1) {
    return random_point(random, features * tokens, deviation)
        .reshaped<Eigen::RowMajor>(features, tokens);
}

TokenMatrix<double> matrix_of(const Rows& rows) {
    TokenMatrix<double> matrix(rows.rows());
    matrix.reserve(rows.cols() / lanes);
    for (Index f = 0; f < rows.rows(); ++f)
        std::copy_n(rows.row(f).data(), rows.cols(), matrix.feature(f));
    return matrix;
}

Rows rows_of(const TokenMatrix<double>& matrix, Index tokens) {
    Rows rows(matrix.features(), tokens);
    for (Index f = 0; f < rows.rows(); ++f)
        std::copy_n(matrix.feature(f), tokens, rows.row(f).data());
    return rows;
}

TEST_CASE("token layers: a dense layer is W in + b, alone or onto a base, and so is its gradient") {
    for (const auto& [in, out, panels] : std::vector<std::array<Index, 3>>{
             {1, 1, 1}, {5, 3, 1}, {32, 9, 2}, {33, 40, 3}, {70, 6, 2}}) {
        CAPTURE(in);
        CAPTURE(out);
        const Index tokens = panels * lanes;
        constexpr Index offset = 4;
        RandomStream random = RandomStreams(1).stream("dense");
        const TokenDense<double> layer(in, out, offset);
        REQUIRE(layer.end() == offset + out * in + out);
        const Eigen::VectorXd x = random_point(random, layer.end(), 1);
        const Rows w = x.segment(offset, out * in).reshaped<Eigen::RowMajor>(out, in);
        const Eigen::VectorXd b = x.tail(out);
        const Rows input = random_rows(random, in, tokens);
        const Rows base = random_rows(random, out, tokens);
        const Rows d = random_rows(random, out, tokens);
        const TokenMatrix<double> of_input = matrix_of(input);
        TokenMatrix<double> of_out = matrix_of(Rows::Zero(out, tokens));
        TokenMatrix<double> d_out = matrix_of(d);
        TokenMatrix<double> d_in = matrix_of(Rows::Zero(in, tokens));
        TokenMatrix<double> strip(lanes);
        strip.reserve(panels);
        const Rows expected = (w * input).colwise() + b;

        layer.forward(x.data(), panels, of_input, of_out);
        CHECK((rows_of(of_out, tokens) - expected).norm() < 1e-13 * expected.norm());
        layer.forward_onto(x.data(), panels, of_input, matrix_of(base), of_out);
        CHECK((rows_of(of_out, tokens) - expected - base).norm() < 1e-13 * expected.norm());

        Eigen::VectorXd g = Eigen::VectorXd::Ones(x.size());  // what is found there is added to
        layer.backward(x.data(), panels, of_input, d_out, d_in, strip, g.data());
        const Rows d_w = d * input.transpose();
        CHECK(g.head(offset).isOnes(0));
        CHECK((g.segment(offset, out * in).reshaped<Eigen::RowMajor>(out, in).array() - 1 -
               d_w.array())
                  .matrix()
                  .norm() < 1e-12 * d_w.norm());
        CHECK((g.tail(out).array() - 1 - d.rowwise().sum().array()).matrix().norm() <
              1e-12 * d.norm());
        CHECK((rows_of(d_in, tokens) - w.transpose() * d).norm() <
              1e-13 * (w.transpose() * d).norm());
    }
}

TEST_CASE("token layers: a layer norm leaves mean 0 and variance v / (v + 1e-5) in each token") {
    constexpr Index features = 13;
    constexpr Index panels = 2;
    constexpr Index tokens = panels * lanes;
    RandomStream random = RandomStreams(2).stream("norm");
    Eigen::VectorXd x(2 * features);
    x << Eigen::VectorXd::Ones(features), Eigen::VectorXd::Zero(features);
    Rows in = random_rows(random, features, tokens, 0.01);
    in.col(5).setConstant(7);  // without a variance: it becomes zeros
    TokenNorm<double> norm(features, 0);
    norm.reserve(panels);
    TokenMatrix<double> out = matrix_of(in);
    norm.forward(x.data(), panels, matrix_of(in), out);

    const Rows normed = rows_of(out, tokens);
    CHECK(normed.col(5).isZero(0));
    for (Index t = 0; t < tokens; ++t) {
        const double v = (in.col(t).array() - in.col(t).mean()).square().mean();
        CHECK(std::abs(normed.col(t).mean()) < 1e-14);
        CHECK(normed.col(t).array().square().mean() ==
              doctest::Approx(v / (v + 1e-5)).epsilon(1e-12));
    }
}

TEST_CASE("token layers: a layer norm's derivatives are those of finite differences") {
    constexpr double step = 1e-6;
    for (const Index features : {1, 2, 5, 40})
        for (const Index panels : {1, 3}) {
            CAPTURE(features);
            CAPTURE(panels);
            const Index tokens = panels * lanes;
            RandomStream random = RandomStreams(3).stream("norm");
            const Eigen::VectorXd x = random_point(random, 2 * features, 1);
            const Rows in = random_rows(random, features, tokens);
            const Rows weights = random_rows(random, features, tokens);  // f = weights . out
            TokenNorm<double> norm(features, 0);
            norm.reserve(panels);
            TokenMatrix<double> out = matrix_of(in);
            const auto f = [&](const Eigen::VectorXd& parameters, const Rows& input) {
                norm.forward(parameters.data(), panels, matrix_of(input), out);
                return rows_of(out, tokens).cwiseProduct(weights).sum();
            };
            const Rows around = random_rows(random, features, tokens);
            TokenMatrix<double> d_in = matrix_of(around);
            Eigen::VectorXd g = Eigen::VectorXd::Zero(x.size());
            f(x, in);
            norm.backward(x.data(), panels, matrix_of(in), matrix_of(weights), d_in, g.data());
            const Rows d = rows_of(d_in, tokens) - around;

            const Rows direction = random_rows(random, features, tokens);
            const double slope =
                (f(x, in + step * direction) - f(x, in - step * direction)) / (2 * step);
            CHECK(std::abs(slope - d.cwiseProduct(direction).sum()) <
                  1e-7 * (d.norm() + weights.norm()));
            for (Index i = 0; i < x.size(); ++i) {
                Eigen::VectorXd above = x;
                Eigen::VectorXd below = x;
                above[i] += step;
                below[i] -= step;
                CHECK(std::abs((f(above, in) - f(below, in)) / (2 * step) - g[i]) <
                      1e-7 * (std::abs(g[i]) + weights.norm()));
            }
        }
}

TEST_CASE("token layers: gelu has its tanh form, and its derivative is that of differences") {
    std::vector<double> x;
    for (int k = -600; k <= 600; ++k) x.push_back(k / 50.0);
    const auto n = std::ssize(x);
    const auto gelu = [](double z) {
        constexpr double pi = 3.14159265358979323846;
        return z / 2 * (1 + std::tanh(std::sqrt(2 / pi) * (z + 0.044715 * z * z * z)));
    };
    std::vector<double> share(x.size());
    std::vector<double> out(x.size());
    std::vector<double> d(x.size(), 3);  // of the loss by out
    kernels<double>().gelu_forward(n, x.data(), share.data(), out.data());
    kernels<double>().gelu_backward(n, x.data(), share.data(), d.data());
    constexpr double step = 1e-5;
    for (std::size_t k = 0; k < x.size(); ++k) {
        CAPTURE(x[k]);
        CHECK(std::abs(out[k] - gelu(x[k])) < 1e-15 * (1 + std::abs(x[k])));
        const double slope = (gelu(x[k] + step) - gelu(x[k] - step)) / (2 * step);
        CHECK(std::abs(d[k] - 3 * slope) < 1e-8);
    }
}

}  // namespace
}  // namespace paceline::token_layers_test

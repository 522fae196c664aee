#include "algorithms/optimizers/lamb.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>

#include <doctest/doctest.h>

namespace paceline::lamb_test {
namespace {

using doctest::Approx;

LayoutPtr two_tensors() {
    return std::make_shared<const Layout>(std::vector<Tensor>{{"a", {2}}, {"b", {1, 3}}});
}

Vector with(const Eigen::VectorXd& values) {
    return {two_tensors(), values};
}

// Steps from m = v = 0 at x with gradient g, tensor by tensor and entry by entry.
Eigen::VectorXd serial_lamb(const LambRule& rule, double gamma, std::int64_t steps,
                            Eigen::VectorXd x, const Eigen::VectorXd& g) {
    Eigen::VectorXd m = Eigen::VectorXd::Zero(5);
    Eigen::VectorXd v = Eigen::VectorXd::Zero(5);
    for (std::int64_t k = 1; k <= steps; ++k) {
        Eigen::VectorXd r(5);
        for (int e = 0; e < 5; ++e) {
            m(e) = rule.adam.beta1 * m(e) + (1 - rule.adam.beta1) * g(e);
            v(e) = rule.adam.beta2 * v(e) + (1 - rule.adam.beta2) * g(e) * g(e);
            double m_hat = m(e);
            double v_hat = v(e);
            if (rule.adam.bias_correction) {
                m_hat /= 1 - std::pow(rule.adam.beta1, static_cast<double>(k));
                v_hat /= 1 - std::pow(rule.adam.beta2, static_cast<double>(k));
            }
            r(e) = m_hat / (std::sqrt(v_hat) + rule.adam.epsilon) + rule.adam.weight_decay * x(e);
        }
        for (const auto& [first, count] : {std::pair{0, 2}, std::pair{2, 3}}) {
            double xx = 0;
            double rr = 0;
            for (int e = first; e < first + count; ++e) {
                xx += x(e) * x(e);
                rr += r(e) * r(e);
            }
            double t = 1;
            if (xx > 0 && rr > 0)
                t = std::min(std::max(std::sqrt(xx / rr), rule.min_trust), rule.max_trust);
            for (int e = first; e < first + count; ++e) x(e) -= gamma * t * r(e);
        }
    }
    return x;
}

const Eigen::VectorXd start = (Eigen::VectorXd(5) << 3, 4, -1, 2, 2).finished();
const Eigen::VectorXd slope = (Eigen::VectorXd(5) << 1, -2, 0.5, 0, 3).finished();

TEST_CASE("LAMB: it is the paper's rule, tensor by tensor") {
    for (const bool correction : {true, false})
        for (const double decay : {0.0, 0.1})
            for (const double most : {std::numeric_limits<double>::infinity(), 0.8}) {
                CAPTURE(correction);
                CAPTURE(decay);
                CAPTURE(most);
                const LambRule rule{{0.7, 0.9, 1e-4, decay, correction}, 0.5, most};
                Vector x = with(start);
                Vector m = Vector::zero_like(x);
                Vector v = Vector::zero_like(x);

                for (std::int64_t k = 1; k <= 12; ++k)
                    lamb_step(rule, 0.05, k, with(slope), m, v, x);

                const Eigen::VectorXd expected = serial_lamb(rule, 0.05, 12, start, slope);
                CHECK((x.values() - expected).cwiseAbs().maxCoeff() < 1e-13);
            }
}

TEST_CASE("LAMB: unclipped, a tensor moves by gamma times its own norm") {
    Vector x = with(start);
    Vector m = Vector::zero_like(x);
    Vector v = Vector::zero_like(x);

    lamb_step({}, 0.01, 1, with(slope), m, v, x);

    const Eigen::VectorXd moved = x.values() - start;
    CHECK(moved.head(2).norm() == Approx(0.01 * 5).epsilon(1e-12));
    CHECK(moved.tail(3).norm() == Approx(0.01 * 3).epsilon(1e-12));
}

TEST_CASE("LAMB: where the model or the direction of a tensor is zero its trust ratio is 1") {
    Eigen::VectorXd x0 = start;
    x0.head(2).setZero();
    Eigen::VectorXd g = slope;
    g.tail(3).setZero();
    Vector x = with(x0);
    Vector m = Vector::zero_like(x);
    Vector v = Vector::zero_like(x);

    const Eigen::VectorXd trust =
        lamb_step({.min_trust = 2, .max_trust = 3}, 0.01, 1, with(g), m, v, x);

    CHECK(trust == Eigen::Vector2d(1, 1));
    CHECK(x.values().head(2).norm() == Approx(0.01 * std::sqrt(2.0)).epsilon(1e-5));
    CHECK(x.values().tail(3) == x0.tail(3));
}

TEST_CASE("LAMB: trust ratios are returned, clipped") {
    Vector x = with(start);
    Vector m = Vector::zero_like(x);
    Vector v = Vector::zero_like(x);

    const Eigen::VectorXd trust =
        lamb_step({.min_trust = 0.01, .max_trust = 2}, 0.01, 1, with(slope), m, v, x);

    CHECK(trust(0) == 2);                          // 5 / sqrt(2), clipped
    CHECK(trust(1) == Approx(2.0).epsilon(1e-5));  // 3 / sqrt(2) exceeds the bound, too
    CHECK(lamb_step({}, 0.01, 1, Vector(two_tensors()), m, v, x).size() == 0);
}

TEST_CASE("LAMB: with every ratio clipped to 1 it is Adam") {
    const LambRule rule{{.epsilon = 1e-6}, 1, 1};
    Vector x = with(start);
    Vector m = Vector::zero_like(x);
    Vector v = Vector::zero_like(x);
    Vector y = x;
    Vector my = m;
    Vector vy = v;

    for (std::int64_t k = 1; k <= 10; ++k) {
        lamb_step(rule, 0.1, k, with(slope), m, v, x);
        adam_step(rule.adam, 0.1, k, with(slope), my, vy, y);
    }

    CHECK((x.values() - y.values()).cwiseAbs().maxCoeff() < 1e-14);
}

}  // namespace
}  // namespace paceline::lamb_test

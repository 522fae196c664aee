#include "algorithms/optimizers/adam.hpp"

#include <cmath>
#include <cstdint>
#include <memory>

#include <doctest/doctest.h>

namespace paceline::adam_test {
namespace {

using doctest::Approx;

LayoutPtr of(std::int64_t entries) {
    return std::make_shared<const Layout>(std::vector<Tensor>{{"w", {entries}}});
}

// One entry, exactly as in the paper, with decoupled decay.
struct ScalarAdam {
    double x;
    double m = 0;
    double v = 0;

    void step(const AdamRule& rule, double gamma, std::int64_t k, double g) {
        m = rule.beta1 * m + (1 - rule.beta1) * g;
        v = rule.beta2 * v + (1 - rule.beta2) * g * g;
        double m_hat = m;
        double v_hat = v;
        if (rule.bias_correction) {
            m_hat /= 1 - std::pow(rule.beta1, static_cast<double>(k));
            v_hat /= 1 - std::pow(rule.beta2, static_cast<double>(k));
        }
        x -= gamma * (m_hat / (std::sqrt(v_hat) + rule.epsilon) + rule.weight_decay * x);
    }
};

double gradient_of(double x, std::int64_t k) {
    return x - 0.3 + 0.5 * std::sin(3.0 * static_cast<double>(k));
}

TEST_CASE("Adam: it is the paper's rule, entry by entry, with and without bias correction") {
    for (const bool correction : {true, false})
        for (const double decay : {0.0, 0.02}) {
            CAPTURE(correction);
            CAPTURE(decay);
            const AdamRule rule{0.8, 0.95, 1e-3, decay, correction};
            const LayoutPtr layout = of(3);
            Vector x(layout, Eigen::Vector3d(-1, 0, 2));
            Vector m = Vector::zero_like(x);
            Vector v = Vector::zero_like(x);
            std::vector<ScalarAdam> scalars{{-1}, {0}, {2}};

            for (std::int64_t k = 1; k <= 40; ++k) {
                const double gamma = 0.1 / std::sqrt(static_cast<double>(k));
                Eigen::Vector3d g;
                for (int e = 0; e < 3; ++e) g(e) = gradient_of(x.values()(e), k + e);
                adam_step(rule, gamma, k, Vector(layout, g), m, v, x);
                for (int e = 0; e < 3; ++e)
                    scalars[static_cast<std::size_t>(e)].step(rule, gamma, k, g(e));
            }

            for (int e = 0; e < 3; ++e) {
                CHECK(std::abs(x.values()(e) - scalars[static_cast<std::size_t>(e)].x) < 1e-13);
                CHECK(std::abs(v.values()(e) - scalars[static_cast<std::size_t>(e)].v) < 1e-13);
            }
        }
}

TEST_CASE("Adam: with bias correction the first step has length gamma, whatever the gradient") {
    for (const double size : {1e-3, 1.0, 1e6}) {
        Vector x(of(1), Eigen::VectorXd::Zero(1));
        Vector m = Vector::zero_like(x);
        Vector v = Vector::zero_like(x);

        adam_step({.epsilon = 1e-12}, 0.01, 1, Vector(of(1), Eigen::VectorXd::Constant(1, size)), m,
                  v, x);

        CHECK(x.values()(0) == Approx(-0.01).epsilon(1e-8));
    }
}

TEST_CASE("Adam: without bias correction it is (1 - beta1) / sqrt(1 - beta2) times as long") {
    Vector x(of(1), Eigen::VectorXd::Zero(1));
    Vector m = Vector::zero_like(x);
    Vector v = Vector::zero_like(x);

    adam_step({.epsilon = 1e-14, .bias_correction = false}, 0.01, 1,
              Vector(of(1), Eigen::VectorXd::Constant(1, 5)), m, v, x);

    CHECK(x.values()(0) == Approx(-0.01 * 0.1 / std::sqrt(0.001)).epsilon(1e-10));
}

TEST_CASE("Adam: a masked momentum is 0 where the variance is exactly 0, and nowhere else") {
    const LayoutPtr layout = of(3);

    const Vector kept = masked(Vector(layout, Eigen::Vector3d(1, 2, 3)),
                               Vector(layout, Eigen::Vector3d(0, 1e-300, 4)));

    CHECK(kept.values() == Eigen::Vector3d(0, 2, 3));
}

TEST_CASE("Adam: vectors without values are left alone") {
    Vector x(of(3));
    Vector m(of(3));
    Vector v(of(3));

    adam_step({}, 0.1, 1, Vector(of(3)), m, v, x);

    CHECK_FALSE(x.has_values());
    CHECK_FALSE(masked(m, v).has_values());
}

}  // namespace
}  // namespace paceline::adam_test

#include "algorithms/optimizers/momentum.hpp"

#include <initializer_list>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

namespace paceline::momentum_test {
namespace {

using doctest::Approx;

// Two tensors, so that a norm per tensor would differ from the norm of the whole.
LayoutPtr two_tensors() {
    static const auto layout =
        std::make_shared<const Layout>(std::vector<Tensor>{{"a", {1}}, {"b", {1}}});
    return layout;
}

Vector with(double a, double b) {
    return {two_tensors(), Eigen::Vector2d(a, b)};
}

void check_is(const Vector& found, double a, double b) {
    CHECK(found.values()(0) == Approx(a).epsilon(1e-14));
    CHECK(found.values()(1) == Approx(b).epsilon(1e-14));
}

TEST_CASE("momentum: without any it is plain SGD") {
    Vector m = with(0, 0);
    Vector x = with(1, 2);

    momentum_step({}, 0.5, with(4, -2), m, x);
    check_is(x, -1, 3);
    momentum_step({}, 0.25, with(4, 8), m, x);
    check_is(x, -2, 1);
}

TEST_CASE("momentum: a heavy ball keeps a share of its last step") {
    const MomentumRule rule{.momentum = 0.5};
    Vector m = with(0, 0);
    Vector x = with(1, 0);

    momentum_step(rule, 0.25, with(4, 8), m, x);
    check_is(m, 4, 8);
    check_is(x, 0, -2);
    momentum_step(rule, 0.25, with(2, 0), m, x);  // m = 2 + 2, 4 + 0
    check_is(m, 4, 4);
    check_is(x, -1, -3);
    momentum_step(rule, 0.5, with(0, 0), m, x);
    check_is(m, 2, 2);
    check_is(x, -2, -4);
}

TEST_CASE("momentum: Nesterov's steps by the gradient and the momentum that holds it already") {
    const MomentumRule rule{.momentum = 0.5, .nesterov = true};
    Vector m = with(0, 0);
    Vector x = with(1, 0);

    momentum_step(rule, 0.25, with(4, 8), m, x);  // step 4 + 0.5 * 4, 8 + 0.5 * 8
    check_is(m, 4, 8);
    check_is(x, -0.5, -3);
    momentum_step(rule, 0.25, with(2, 0), m, x);  // m = 4, 4; step 2 + 2, 0 + 2
    check_is(m, 4, 4);
    check_is(x, -1.5, -3.5);
}

TEST_CASE("momentum: weight decay joins the gradient, and momentum gathers it") {
    const MomentumRule rule{.momentum = 0.5, .weight_decay = 0.1};
    Vector m = with(0, 0);
    Vector x = with(10, -20);

    momentum_step(rule, 1, with(1, 1), m, x);
    check_is(m, 2, -1);
    check_is(x, 8, -19);
    momentum_step(rule, 1, with(0, 0), m, x);
    check_is(m, 1 + 0.8, -0.5 - 1.9);
}

TEST_CASE(
    "momentum: a long gradient is clipped by the norm over all tensors, a short one is left") {
    Vector g = with(6, 8);
    clip_norm(g, 5);
    check_is(g, 3, 4);

    for (const double clip : {10.0, 11.0, 0.0}) {
        CAPTURE(clip);
        Vector kept = with(6, 8);
        clip_norm(kept, clip);
        CHECK(kept.values() == Eigen::Vector2d(6, 8));
    }
    Vector zero = with(0, 0);
    clip_norm(zero, 1);
    CHECK(zero.values() == Eigen::Vector2d(0, 0));
}

TEST_CASE("momentum: decay is added after clipping and never clipped") {
    const MomentumRule rule{.weight_decay = 1, .clip = 5};
    Vector m = with(0, 0);
    Vector x = with(100, 0);

    momentum_step(rule, 1, with(6, 8), m, x);

    check_is(m, 3 + 100, 4);
    check_is(x, 100 - 103, -4);
}

TEST_CASE("momentum: the caller's gradient keeps its values") {
    const Vector g = with(6, 8);
    Vector m = with(0, 0);
    Vector x = with(1, 1);

    momentum_step({.momentum = 0.9, .nesterov = true, .weight_decay = 1, .clip = 1}, 1, g, m, x);

    CHECK(g.values() == Eigen::Vector2d(6, 8));
}

TEST_CASE("momentum: nothing is done to vectors without values") {
    Vector g(two_tensors());
    Vector m(two_tensors());
    Vector x(two_tensors());

    clip_norm(g, 1);
    momentum_step({.momentum = 0.9, .nesterov = true, .weight_decay = 1, .clip = 1}, 1, g, m, x);

    CHECK_FALSE(g.has_values());
    CHECK_FALSE(m.has_values());
    CHECK_FALSE(x.has_values());
}

TEST_CASE(
    "momentum, property: on a quadratic it is the recursion of its characteristic polynomial") {
    // f = h x^2 / 2: x_(k+1) = (1 + beta - gamma h) x_k - beta x_(k-1).
    for (const double h : {0.1, 1.0, 5.0}) {
        constexpr double beta = 0.9;
        constexpr double gamma = 0.1;
        Vector m = with(0, 0);
        Vector x = with(1, -2);
        double before = 1;
        double now = 1 - gamma * h;
        for (int k = 0; k < 50; ++k) {
            momentum_step({.momentum = beta}, gamma, h * x, m, x);

            CHECK(x.values()(0) == Approx(now).epsilon(1e-9));
            CHECK(x.values()(1) == Approx(-2 * now).epsilon(1e-9));
            const double next = (1 + beta - gamma * h) * now - beta * before;
            before = now;
            now = next;
        }
    }
}

}  // namespace
}  // namespace paceline::momentum_test

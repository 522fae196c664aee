#include "algorithms/coders/dgc_memory.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <boost/random/normal_distribution.hpp>
#include <doctest/doctest.h>

namespace paceline::dgc_memory_test {
namespace {

using Positions = std::vector<std::int64_t>;
using Values = std::vector<double>;

LayoutPtr layout_of(std::vector<Tensor> tensors) {
    return std::make_shared<const Layout>(std::move(tensors));
}

RandomStream some_stream(std::uint64_t seed = 1) {
    return RandomStreams(seed).stream("selection");
}

Eigen::VectorXd normal(Eigen::Index n, RandomStream& random) {
    boost::random::normal_distribution<double> any;
    return Eigen::VectorXd::NullaryExpr(n, [&] { return any(random); });
}

DgcOptions exact(double density, double momentum) {
    DgcOptions options;
    options.density = density;
    options.momentum = momentum;
    options.selection.method = Selection::exact;
    return options;
}

/// A worker that compresses a sequence of gradients.
struct Compressing {
    DgcOptions options;
    LayoutPtr layout;
    DgcMemory memory;
    Eigen::VectorXd sent;  // the sum so far

    Compressing(DgcOptions of, LayoutPtr of_layout)
        : options(std::move(of)),
          layout(std::move(of_layout)),
          memory(make_dgc_memory(layout->entries(), some_stream())),
          sent(Eigen::VectorXd::Zero(layout->entries())) {}

    SparseVector step(const Eigen::VectorXd& g) {
        SparseVector one = compress(options, layout, options.density, false, g, memory);
        add(one, sent);
        return one;
    }
};

const LayoutPtr four = layout_of({{"w", {2, 2}}});

TEST_CASE("dgc memory: three steps by hand, with momentum correction and masking") {
    // beta = 1/2, and one entry of four is sent.
    Compressing at(exact(0.25, 0.5), four);

    // u = v = (4, 1, -2, 0): the first entry is sent.
    const SparseVector first = at.step(Eigen::VectorXd{{4, 1, -2, 0}});
    CHECK(first.positions == Positions{0});
    CHECK(first.values == Values{4});
    CHECK(at.memory.velocity == Eigen::VectorXd{{0, 1, -2, 0}});
    CHECK(at.memory.accumulated == Eigen::VectorXd{{0, 1, -2, 0}});

    // u = (1, 1.5, -1, 2), v = (1, 2.5, -3, 2): the third entry is sent.
    const SparseVector second = at.step(Eigen::VectorXd{{1, 1, 0, 2}});
    CHECK(second.positions == Positions{2});
    CHECK(second.values == Values{-3});
    CHECK(at.memory.velocity == Eigen::VectorXd{{1, 1.5, 0, 2}});
    CHECK(at.memory.accumulated == Eigen::VectorXd{{1, 2.5, 0, 2}});

    // u = (0.5, 0.75, 1, 1), v = (1.5, 3.25, 1, 3): the second entry is sent.
    const SparseVector third = at.step(Eigen::VectorXd{{0, 0, 1, 0}});
    CHECK(third.positions == Positions{1});
    CHECK(third.values == Values{3.25});
    CHECK(at.memory.velocity == Eigen::VectorXd{{0.5, 0, 1, 1}});
    CHECK(at.memory.accumulated == Eigen::VectorXd{{1.5, 0, 1, 3}});
}

TEST_CASE("dgc memory: two steps of the Nesterov variant by hand") {
    DgcOptions options = exact(0.25, 0.5);
    options.nesterov = true;
    Compressing at(options, four);

    // u = g, v = u/2 + g.
    CHECK(at.step(Eigen::VectorXd{{4, 2, -2, 0}}).values == Values{6});
    CHECK(at.memory.accumulated == Eigen::VectorXd{{0, 3, -3, 0}});
    // u = (0, 1, -1, 4), v += (0, 0.5, -0.5, 6).
    CHECK(at.step(Eigen::VectorXd{{0, 0, 0, 4}}).values == Values{6});
    CHECK(at.memory.velocity == Eigen::VectorXd{{0, 1, -1, 0}});
    CHECK(at.memory.accumulated == Eigen::VectorXd{{0, 3.5, -3.5, 0}});
}

TEST_CASE("dgc memory: without masking the velocity of what was sent stays") {
    DgcOptions options = exact(0.25, 0.5);
    options.masking = false;
    Compressing at(options, four);

    at.step(Eigen::VectorXd{{4, 1, -2, 0}});

    CHECK(at.memory.velocity == Eigen::VectorXd{{4, 1, -2, 0}});
    CHECK(at.memory.accumulated == Eigen::VectorXd{{0, 1, -2, 0}});
}

TEST_CASE("dgc memory: without momentum correction plain gradients accumulate") {
    DgcOptions options = exact(0.25, 0.5);
    options.momentum_correction = false;
    options.nesterov = true;  // applies to the momentum after aggregation
    Compressing at(options, four);

    at.step(Eigen::VectorXd{{4, 1, -2, 0}});
    at.step(Eigen::VectorXd{{0, 1, -1, 0}});

    CHECK(at.memory.accumulated == Eigen::VectorXd{{0, 2, 0, 0}});
    CHECK(at.sent == Eigen::VectorXd{{4, 0, -3, 0}});
}

TEST_CASE("dgc memory: without accumulation what is not sent is lost") {
    DgcOptions options = exact(0.25, 0);
    options.accumulation = false;
    Compressing at(options, four);

    at.step(Eigen::VectorXd{{4, 3, -3, 0}});
    const SparseVector second = at.step(Eigen::VectorXd{{0, 0, 0, 1}});

    CHECK(second.positions == Positions{3});
    CHECK(second.values == Values{1});
}

TEST_CASE("dgc memory, property: without momentum, sent and residual are all gradients") {
    const LayoutPtr layout = layout_of({{"a", {20, 30}}, {"c", {7, 11}}});
    for (std::uint64_t seed = 0; seed < 20; ++seed)
        for (const Selection method : {Selection::exact, Selection::sampled}) {
            CAPTURE(seed);
            RandomStream random = some_stream(seed);
            DgcOptions options = exact(0.02, 0);
            options.selection.method = method;
            Compressing at(options, layout);
            Eigen::VectorXd gradients = Eigen::VectorXd::Zero(layout->entries());
            for (int step = 0; step < 100; ++step) {
                const Eigen::VectorXd g = normal(layout->entries(), random);
                gradients += g;
                at.step(g);
            }

            const Eigen::VectorXd all = at.sent + at.memory.accumulated;
            REQUIRE((all - gradients).cwiseAbs().maxCoeff() < 1e-12);
            REQUIRE(at.sent.norm() > 1);
        }
}

TEST_CASE("dgc memory, property: without masking, sent and v are all velocities") {
    const LayoutPtr layout = layout_of({{"a", {20, 30}}, {"c", {7, 11}}});
    for (std::uint64_t seed = 0; seed < 20; ++seed)
        for (const bool nesterov : {false, true}) {
            CAPTURE(seed);
            CAPTURE(nesterov);
            RandomStream random = some_stream(seed);
            DgcOptions options = exact(0.02, 0.9);
            options.masking = false;
            options.nesterov = nesterov;
            Compressing at(options, layout);
            Eigen::VectorXd u = Eigen::VectorXd::Zero(layout->entries());
            Eigen::VectorXd steps = u;
            for (int step = 0; step < 100; ++step) {
                const Eigen::VectorXd g = normal(layout->entries(), random);
                u = 0.9 * u + g;
                steps += nesterov ? Eigen::VectorXd(0.9 * u + g) : u;
                at.step(g);
            }

            REQUIRE((at.sent + at.memory.accumulated - steps).cwiseAbs().maxCoeff() < 1e-10);
        }
}

TEST_CASE("dgc memory, property: masking zeroes exactly what was sent") {
    const LayoutPtr layout = layout_of({{"a", {20, 30}}, {"b", {5}}, {"c", {7, 11}}});
    RandomStream random = some_stream(7);
    Compressing at(exact(0.05, 0.9), layout);
    for (int step = 0; step < 50; ++step) {
        const Eigen::VectorXd before_u = at.memory.velocity;
        const Eigen::VectorXd before_v = at.memory.accumulated;
        const Eigen::VectorXd g = normal(layout->entries(), random);

        const SparseVector sent = at.step(g);

        REQUIRE(sent.positions.size() == 30 + 4);
        Eigen::VectorXd u = 0.9 * before_u + g;
        Eigen::VectorXd v = before_v + u;
        u.segment(600, 5).setZero();  // a bias has no memory
        v.segment(600, 5).setZero();
        for (std::size_t i = 0; i < sent.positions.size(); ++i) {
            REQUIRE(sent.values[i] == v(sent.positions[i]));
            u(sent.positions[i]) = 0;
            v(sent.positions[i]) = 0;
        }
        REQUIRE(at.memory.velocity == u);
        REQUIRE(at.memory.accumulated == v);
    }
}

TEST_CASE("dgc memory: biases are sent whole if they travel along, as plain gradients") {
    const LayoutPtr layout = layout_of({{"b", {2}}, {"w", {2, 2}}, {"d", {1}}});
    DgcMemory memory = make_dgc_memory(7, some_stream());
    const Eigen::VectorXd g{{0.5, 0, 1, 4, 2, 3, -0.25}};

    const SparseVector with = compress(exact(0.25, 0.9), layout, 0.25, true, g, memory);
    const SparseVector without = compress(exact(0.25, 0.9), layout, 0.25, false, g, memory);

    CHECK(with.positions == Positions{0, 1, 3, 6});
    CHECK(with.values == Values{0.5, 0, 4, -0.25});
    CHECK(without.positions == Positions{5});
}

TEST_CASE("dgc memory: the density is per tensor, and the one asked for") {
    const LayoutPtr layout = layout_of({{"a", {100, 1}}, {"c", {10, 3}}});
    RandomStream random = some_stream(3);
    DgcMemory memory = make_dgc_memory(130, some_stream());
    Eigen::VectorXd g = normal(130, random);
    g.tail(30) *= 1e-6;

    const auto sent = [&](double density) {
        const SparseVector v = compress(exact(0.9, 0), layout, density, false, g, memory);
        const auto in_a = std::ranges::count_if(v.positions, [](auto p) { return p < 100; });
        return std::pair{in_a, std::ssize(v.positions) - in_a};
    };

    CHECK(sent(0.25) == std::pair{25L, 8L});
    CHECK(sent(0.01) == std::pair{1L, 1L});
    CHECK(sent(1) == std::pair{100L, 30L});
}

TEST_CASE("dgc memory: a tensor that is not finite is sent as NaN, the others as ever") {
    const LayoutPtr layout = layout_of({{"a", {10, 10}}, {"c", {2, 2}}});
    for (const Selection method : {Selection::exact, Selection::sampled, Selection::free}) {
        DgcOptions options = exact(0.25, 0.9);
        options.selection.method = method;
        Compressing at(options, layout);
        Eigen::VectorXd g = Eigen::VectorXd::LinSpaced(104, 1, 104);
        g(70) = -std::numeric_limits<double>::infinity();

        const SparseVector sent = at.step(g);

        REQUIRE(sent.positions.size() == 26);
        CHECK(std::isnan(sent.values.front()));
        CHECK(std::isnan(sent.values[24]));
        CHECK(sent.values.back() == 104);
    }
}

TEST_CASE("clipping: a gradient beyond c sqrt(N) is scaled to it, a shorter one is left") {
    Eigen::VectorXd g{{3, 4}};
    clip_locally(1, 16, g);  // |g| = 5 exceeds 4
    CHECK((g - Eigen::VectorXd{{2.4, 3.2}}).norm() < 1e-15);

    Eigen::VectorXd shorter{{3, 4}};
    clip_locally(2.5, 4, shorter);
    CHECK(shorter == Eigen::VectorXd{{3, 4}});
    clip_locally(0, 4, shorter);
    CHECK(shorter == Eigen::VectorXd{{3, 4}});
}

TEST_CASE("clipping: of N noisy gradients, the mean of clipped ones is as long as a clipped mean") {
    // The gradients are pure noise: |g_k| is about sqrt(n), and the mean's norm about sqrt(n/N). c
    // is half of that, so both ways of clipping must halve the mean.
    constexpr int n = 4000;
    for (const int workers : {1, 4, 16, 64}) {
        CAPTURE(workers);
        RandomStream random = some_stream(11);
        const double c = 0.5 * std::sqrt(static_cast<double>(n) / workers);
        Eigen::VectorXd dense = Eigen::VectorXd::Zero(n);
        Eigen::VectorXd local = Eigen::VectorXd::Zero(n);
        for (int i = 0; i < workers; ++i) {
            Eigen::VectorXd g = normal(n, random);
            dense += g / workers;
            clip_locally(c, workers, g);
            local += g / workers;
        }
        clip_locally(c, 1, dense);

        CHECK(local.norm() == doctest::Approx(dense.norm()).epsilon(0.05));
        CHECK((local - dense).norm() < 0.05 * dense.norm());
    }
}

}  // namespace
}  // namespace paceline::dgc_memory_test

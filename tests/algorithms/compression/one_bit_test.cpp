#include "algorithms/compression/one_bit.hpp"

#include <cmath>
#include <cstdint>
#include <memory>
#include <random>

#include <doctest/doctest.h>

#include "tests/algorithms/compression/one_bit_oracle.hpp"

namespace paceline::one_bit_test {
namespace {

using doctest::Approx;

LayoutPtr of(std::int64_t entries) {
    return std::make_shared<const Layout>(std::vector<Tensor>{{"w", {entries}}});
}

// All workers and owners of one partition.
struct Compressed {
    OneBitBuffers cut;
    std::vector<Eigen::VectorXd> errors;
    Eigen::VectorXd owners;

    explicit Compressed(OneBitBuffers buffers)
        : cut(std::move(buffers)),
          errors(static_cast<std::size_t>(cut.workers),
                 Eigen::VectorXd::Zero(cut.padded->entries())),
          owners(Eigen::VectorXd::Zero(cut.padded->entries())) {}

    Eigen::VectorXd mean_of(const std::vector<Eigen::VectorXd>& x) {
        Eigen::VectorXd mean = Eigen::VectorXd::Zero(owners.size());
        for (std::size_t i = 0; i < x.size(); ++i)
            mean += one_bit_encode(cut, x[i], errors[i]) / static_cast<double>(x.size());
        return one_bit_reduce(cut, mean, owners);
    }
};

std::vector<Eigen::VectorXd> gaussians(std::mt19937& random, int workers, Eigen::Index entries) {
    std::normal_distribution<double> normal;
    std::vector<Eigen::VectorXd> all;
    for (int i = 0; i < workers; ++i)
        all.emplace_back(Eigen::VectorXd::NullaryExpr(entries, [&] { return normal(random); }));
    return all;
}

TEST_CASE("one bit: buffers are padded to whole bytes for every owner") {
    CHECK(one_bit_padded(1, 4) == 32);
    CHECK(one_bit_padded(32, 4) == 32);
    CHECK(one_bit_padded(33, 4) == 64);
    CHECK(one_bit_padded(1, 16) == 256);
    CHECK(one_bit_padded(1, 3) == 72);
    CHECK(one_bit_padded(1, 1) == 8);
    CHECK(one_bit_padded(16, 2) == 16);
    for (int n = 1; n <= 40; ++n)
        for (const std::int64_t d : {1, 7, 100, 1001}) {
            const std::int64_t p = one_bit_padded(d, n);
            CHECK(p >= d);
            CHECK(p % (std::int64_t{8} * n) == 0);
        }
}

// The reference's vectors have 8 entries on two workers, which the rule would pad to 16. The
// expected figures assume no padding, so every value appears twice: the scales stay the same, and
// each copy fills half a chunk.
Eigen::VectorXd first() {
    Eigen::VectorXd x(16);
    x << .5, -1, 0, 2, .5, -1, 0, 2, 1, -.5, .25, -.25, 1, -.5, .25, -.25;
    return x;
}
Eigen::VectorXd second() {
    Eigen::VectorXd x(16);
    x << -.5, -1, 1, 1, -.5, -1, 1, 1, 0, .5, .75, -1.25, 0, .5, .75, -1.25;
    return x;
}

void check_close(const Eigen::VectorXd& found, std::initializer_list<double> four,
                 Eigen::Index first) {
    Eigen::Index e = first;
    for (const double value : four) {
        CHECK(std::abs(found(e) - value) < 1e-6);
        CHECK(std::abs(found(e + 4) - value) < 1e-6);
        ++e;
    }
}

TEST_CASE("one bit: two calls give the reference's scales, results and errors") {
    Compressed run(fused_buffer(of(16), 2));

    Eigen::VectorXd error = Eigen::VectorXd::Zero(16);
    CHECK(one_bit_encode(run.cut, first(), error)(0) == Approx(.910014).epsilon(1e-6));
    error.setZero();
    CHECK(one_bit_encode(run.cut, second(), error)(0) == Approx(-.838525).epsilon(1e-6));

    const Eigen::VectorXd once = run.mean_of({first(), second()});
    check_close(once, {.757351, -.757351, .757351, .757351}, 0);
    check_close(once, {.757351, -.757351, .757351, -.757351}, 8);
    check_close(run.errors[0], {-.410014, -.089986, -.910014, 1.089986}, 0);
    check_close(run.errors[0], {.089986, .410014, -.660014, .660014}, 8);

    const Eigen::VectorXd twice = run.mean_of({first(), second()});
    check_close(twice, {-.935191, -.935191, -.935191, .935191}, 0);
    check_close(twice, {.318347, .318347, -.318347, .318347}, 8);
}

TEST_CASE("one bit, property: it is the rule written down entry by entry, padding included") {
    for (unsigned seed = 0; seed < 30; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const int n = 1 + static_cast<int>(random() % 9);
        const auto d = static_cast<Eigen::Index>(1 + random() % 150);
        Compressed run(fused_buffer(of(d), n));
        OneBitOracle oracle(n, d);

        for (int call = 0; call < 5; ++call) {
            const std::vector<Eigen::VectorXd> x = gaussians(random, n, d);
            CHECK((run.mean_of(x) - oracle(x)).cwiseAbs().maxCoeff() < 1e-12);
        }
        for (std::size_t i = 0; i < run.errors.size(); ++i)
            for (Eigen::Index e = 0; e < run.owners.size(); ++e)
                REQUIRE(std::abs(run.errors[i](e) -
                                 oracle.worker_errors[i][static_cast<std::size_t>(e)]) < 1e-12);
    }
}

TEST_CASE("one bit, property: nothing is lost over 50 calls, whatever is sent") {
    for (unsigned seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const int n = 1 + static_cast<int>(seed % 6);
        const LayoutPtr layout = std::make_shared<const Layout>(
            std::vector<Tensor>{{"a", {7, 5}}, {"b", {3}}, {"c", {40}}});
        const bool fused = seed % 2 == 0;
        Compressed run(fused ? fused_buffer(layout, n) : buffer_per_tensor(layout, n));
        Eigen::VectorXd balance = Eigen::VectorXd::Zero(layout->entries());

        for (int call = 0; call < 50; ++call) {
            const std::vector<Eigen::VectorXd> x = gaussians(random, n, layout->entries());
            for (const Eigen::VectorXd& one : x) balance += one / n;
            balance -= run.mean_of(x);
        }

        for (const OneBitBuffer& buffer : run.cut.buffers) {
            Eigen::VectorXd kept = run.owners.segment(buffer.padded_offset, buffer.entries);
            for (const Eigen::VectorXd& error : run.errors)
                kept += error.segment(buffer.padded_offset, buffer.entries) / n;
            CHECK((balance.segment(buffer.offset, buffer.entries) - kept).cwiseAbs().maxCoeff() <
                  1e-12);
        }
    }
}

double relative_error(const Eigen::VectorXd& x) {
    Eigen::VectorXd error = Eigen::VectorXd::Zero(x.size());
    (void)one_bit_encode(fused_buffer(of(x.size()), 1), x, error);
    return error.squaredNorm() / x.squaredNorm();
}

TEST_CASE("one bit: the error is 0.404 of the square for Gaussian entries, more for a spike") {
    std::mt19937 random(1);
    const Eigen::VectorXd x = gaussians(random, 1, 1'000'000).front();
    Eigen::VectorXd spike = Eigen::VectorXd::Constant(8000, 1e-6);
    spike(0) = 1;

    CHECK(std::abs(relative_error(x) - 2 * (1 - std::sqrt(2 / std::numbers::pi))) < 3e-3);
    CHECK(std::abs(relative_error(x) - .404) < 3e-3);
    CHECK(relative_error(spike) > 1.9);  // not a contraction
    const double law = 2 * (1 - spike.lpNorm<1>() / (std::sqrt(8000.0) * spike.norm()));
    CHECK(relative_error(spike) == Approx(law).epsilon(1e-10));
}

TEST_CASE("one bit: zero is sent as +1 with a scale of zero") {
    Compressed run(fused_buffer(of(8), 1));

    CHECK(run.mean_of({Eigen::VectorXd::Zero(8)}) == Eigen::VectorXd::Zero(8));
    Eigen::VectorXd x = Eigen::VectorXd::Zero(8);
    x(3) = -4;
    const Eigen::VectorXd said = run.mean_of({x});
    CHECK(said(0) > 0);
    CHECK(said(3) < 0);
}

TEST_CASE("one bit: a contribution is a bit per padded entry and a scale per buffer") {
    const LayoutPtr layout =
        std::make_shared<const Layout>(std::vector<Tensor>{{"a", {100}}, {"b", {3}}});

    CHECK(one_bit_bytes(fused_buffer(layout, 4)) == Bytes{128 / 8 + 4});
    CHECK(one_bit_bytes(buffer_per_tensor(layout, 4)) == Bytes{128 / 8 + 4 + 32 / 8 + 4});
}

}  // namespace
}  // namespace paceline::one_bit_test

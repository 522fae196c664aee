#include "algorithms/compression/chunked_dct.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <doctest/doctest.h>

#include "algorithms/compression/tensor_chunks.hpp"
#include "models/tensors/layout.hpp"
#include "tests/algorithms/compression/reference_compressors.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::chunked_dct_test {
namespace {

using Values = Eigen::VectorXd;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Random = std::mt19937_64;

std::int64_t between(Random& random, std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
}

/// One to four tensors of one to four dimensions, among them sides of 1, primes and composite
/// numbers.
LayoutPtr random_layout(Random& random) {
    std::vector<Tensor> tensors(static_cast<std::size_t>(between(random, 1, 4)));
    for (Tensor& tensor : tensors) {
        tensor.name = "x";
        tensor.shape.resize(static_cast<std::size_t>(between(random, 1, 4)));
        for (std::int64_t& side : tensor.shape) side = between(random, 1, 13);
    }
    return make_layout(tensors);
}

std::int64_t divisor_by_search(std::int64_t n, std::int64_t most) {
    std::int64_t largest = 1;
    for (std::int64_t d = 1; d <= std::min(n, most); ++d)
        if (n % d == 0) largest = d;
    return largest;
}

/// A chunk's entries, as positions in the vector, row by row.
struct Places {
    std::int64_t height, width;
    std::vector<Eigen::Index> at;

    [[nodiscard]] Matrix of(const Values& v) const {
        Matrix chunk(height, width);
        for (std::size_t e = 0; e < at.size(); ++e) chunk.data()[e] = v(at[e]);
        return chunk;
    }
};

std::vector<Places> all_chunks(const Layout& layout, std::int64_t side) {
    std::vector<Places> chunks;
    for (std::size_t t = 0; t < layout.tensors().size(); ++t) {
        const Tensor& tensor = layout.tensors()[t];
        const std::int64_t rows = tensor.shape.size() == 1 ? 1 : tensor.shape.front();
        const std::int64_t columns = tensor.entries() / rows;
        const std::int64_t h = divisor_by_search(rows, side);
        const std::int64_t w = divisor_by_search(columns, side);
        for (std::int64_t i = 0; i < rows; i += h)
            for (std::int64_t j = 0; j < columns; j += w) {
                chunks.push_back({h, w, {}});
                for (std::int64_t a = 0; a < h; ++a)
                    for (std::int64_t b = 0; b < w; ++b)
                        chunks.back().at.push_back(layout.offset(t) + (i + a) * columns + j + b);
            }
    }
    return chunks;
}

/// The components of a chunk, each summed up on its own by the definition of the two-dimensional
/// DCT-II.
Matrix components_by_definition(const Matrix& x) {
    const auto factor = [](Eigen::Index b, Eigen::Index j, Eigen::Index n) {
        const auto size = static_cast<double>(n);
        return std::sqrt((b == 0 ? 1 : 2) / size) *
               std::cos(std::numbers::pi * static_cast<double>((2 * j + 1) * b) / (2 * size));
    };
    Matrix y = Matrix::Zero(x.rows(), x.cols());
    for (Eigen::Index a = 0; a < x.rows(); ++a)
        for (Eigen::Index b = 0; b < x.cols(); ++b)
            for (Eigen::Index i = 0; i < x.rows(); ++i)
                for (Eigen::Index j = 0; j < x.cols(); ++j)
                    y(a, b) += x(i, j) * factor(a, i, x.rows()) * factor(b, j, x.cols());
    return y;
}

double difference(const Values& a, const Values& b) {
    return (a - b).cwiseAbs().maxCoeff();
}

TEST_CASE("chunked DCT: a divisor is the largest one up to a bound, found by trying all") {
    for (std::int64_t n = 1; n <= 130; ++n)
        for (std::int64_t most = 1; most <= 140; ++most) {
            CAPTURE(n);
            CAPTURE(most);
            REQUIRE(divisor_up_to(n, most) == divisor_by_search(n, most));
        }
    CHECK(divisor_up_to(1'000'003, 4096) == 1);
    CHECK(divisor_up_to(50'304, 64) == 64);
}

TEST_CASE("chunked DCT: a tensor is a matrix of its first dimension by the others, or one row") {
    const auto sides = [](const std::vector<std::int64_t>& shape, std::int64_t side) {
        const TensorChunks chunks = chunks_of({"x", shape}, side);
        return std::vector{chunks.rows, chunks.columns, chunks.height, chunks.width,
                           chunks.count()};
    };

    CHECK(sides({12}, 8) == std::vector<std::int64_t>{1, 12, 1, 6, 2});
    CHECK(sides({13}, 8) == std::vector<std::int64_t>{1, 13, 1, 1, 13});
    CHECK(sides({6, 10}, 4) == std::vector<std::int64_t>{6, 10, 3, 2, 10});
    CHECK(sides({8, 3, 2, 5}, 16) == std::vector<std::int64_t>{8, 30, 8, 15, 2});
    CHECK(sides({1, 7}, 64) == std::vector<std::int64_t>{1, 7, 1, 7, 1});
}

TEST_CASE(
    "chunked DCT, property: it keeps the norm of every chunk, and the inverse gives the tensors "
    "back") {
    for (unsigned seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        Random random(seed);
        const LayoutPtr layout = random_layout(random);
        const std::int64_t side = between(random, 1, 16);
        const ChunkedDct dct(layout, side);
        const Values x = normal_vector(seed, layout->entries());

        Values y = x;
        dct.transform(y);

        for (const Places& chunk : all_chunks(*layout, side))
            REQUIRE(std::abs(chunk.of(y).norm() - chunk.of(x).norm()) < 1e-12 * (1 + x.norm()));
        dct.inverse(y);
        REQUIRE(difference(y, x) < 1e-12);
        dct.inverse(y);
        dct.transform(y);
        REQUIRE(difference(y, x) < 1e-12);
    }
}

TEST_CASE(
    "chunked DCT, property: each component is its definition's sum of cosines, at the place of its "
    "entry") {
    for (unsigned seed = 1; seed <= 60; ++seed) {
        CAPTURE(seed);
        Random random(seed);
        const LayoutPtr layout = random_layout(random);
        const std::int64_t side = between(random, 1, 9);
        const Values x = normal_vector(seed, layout->entries());
        Values y = x;

        ChunkedDct(layout, side).transform(y);

        for (const Places& chunk : all_chunks(*layout, side))
            REQUIRE((chunk.of(y) - components_by_definition(chunk.of(x))).cwiseAbs().maxCoeff() <
                    1e-12);
    }
}

// cos(pi/2) is 0, but std::cos returns 6e-17, and DeMo steps along signs.
TEST_CASE("chunked DCT: where the cosine of a component is zero, so is its inverse, exactly") {
    for (std::int64_t n = 1; n <= 64; ++n)
        for (std::int64_t b = 0; b < n; ++b) {
            CAPTURE(n);
            CAPTURE(b);
            Values v = Values::Unit(n, b);

            ChunkedDct(make_layout({{"x", {n}}}), 64).inverse(v);

            for (std::int64_t j = 0; j < n; ++j)
                REQUIRE((v(j) == 0) == ((2 * j + 1) * b % (2 * n) == n));
        }
}

TEST_CASE(
    "chunked DCT: a constant has one component, its value times the root of the chunk's size") {
    Values v = Values::Constant(24, 3);

    ChunkedDct(make_layout({{"x", {4, 6}}}), 64).transform(v);

    CHECK(v(0) == doctest::Approx(3 * std::sqrt(24.0)).epsilon(1e-14));
    CHECK(v.tail(23).cwiseAbs().maxCoeff() < 1e-14);
}

TEST_CASE(
    "chunked DCT, property: the largest components of each chunk are those that sorting finds") {
    for (unsigned seed = 1; seed <= 300; ++seed) {
        CAPTURE(seed);
        Random random(seed);
        const LayoutPtr layout = random_layout(random);
        const std::int64_t side = between(random, 1, 9);
        const std::int64_t k = between(random, 1, 12);
        Values v(layout->entries());
        for (double& entry : v) entry = static_cast<double>(between(random, -4, 4));  // many ties
        Values kept = v;

        ChunkedDct(layout, side).keep_largest(kept, k);

        for (const Places& chunk : all_chunks(*layout, side)) {
            const Matrix before = chunk.of(v);
            const Matrix after = chunk.of(kept);
            const Values flat = Eigen::Map<const Values>(before.data(), before.size());
            REQUIRE(Eigen::Map<const Values>(after.data(), after.size()) ==
                    largest(flat, std::min<Eigen::Index>(k, flat.size())));
        }
    }
}

TEST_CASE("chunked DCT: a chunk that is not finite stays as it is, and the others do not") {
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
        Values v(6);
        v << 3, -4, 1, 2, bad, 5;

        ChunkedDct(make_layout({{"x", {2, 3}}}), 1).keep_largest(v, 1);
        ChunkedDct(make_layout({{"x", {6}}}), 3).keep_largest(v, 1);

        CHECK(v.head(3) == Eigen::Vector3d(0, -4, 0));
        CHECK(v(3) == 2);
        CHECK(!std::isfinite(v(4)));
        CHECK(v(5) == 5);
    }
}

TEST_CASE("chunked DCT, property: of each chunk k components are sent, or all of a smaller one") {
    for (unsigned seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        Random random(seed);
        const LayoutPtr layout = random_layout(random);
        const std::int64_t side = between(random, 1, 9);
        const std::int64_t k = between(random, 1, 20);
        std::int64_t expected = 0;
        for (const Places& chunk : all_chunks(*layout, side))
            expected += std::min(k, chunk.height * chunk.width);

        std::int64_t kept = 0;
        for (const Tensor& tensor : layout->tensors()) kept += kept_of_chunks(tensor, side, k);

        REQUIRE(kept == expected);
    }
}

TEST_CASE(
    "chunked DCT: 32 components of 64 x 64 entries are sent, and more of sides that 64 does not "
    "divide") {
    CHECK(kept_of_chunks({"x", {128, 64}}, 64, 32) == 2 * 32);
    CHECK(kept_of_chunks({"x", {64, 32, 2}}, 64, 32) == 32);
    CHECK(kept_of_chunks({"x", {640}}, 64, 32) == 10 * 32);
    CHECK(kept_of_chunks({"x", {65, 64}}, 64, 32) == 5 * 32);     // chunks of 13 x 64
    CHECK(kept_of_chunks({"x", {127, 64}}, 64, 32) == 127 * 32);  // of 1 x 64
    CHECK(kept_of_chunks({"x", {127}}, 64, 32) == 127);
    CHECK(kept_of_chunks({"x", {3}}, 64, 32) == 3);
}

}  // namespace
}  // namespace paceline::chunked_dct_test

#include "algorithms/compression/chunked_top_k.hpp"

#include <cmath>
#include <limits>
#include <set>

#include <Eigen/Core>
#include <doctest/doctest.h>

#include "tests/algorithms/compression/reference_compressors.hpp"

namespace paceline::chunked_top_k_test {
namespace {

using Values = Eigen::VectorXd;

Values sent(const ChunkedTopKOptions& options, Values x, const Tensor& tensor) {
    RandomStream random = RandomStreams(1).stream("test");
    make_chunked_top_k(options).apply({x.data(), static_cast<std::size_t>(x.size())}, tensor,
                                      random);
    return x;
}

// Two chunks of 2 x 2. The four values are -6, 2, 4 and 4: mean 1, deviation sqrt(68 / 3) = 4.76.
// Four bins of 1.5 deviations: -7 is in the first, 1 and 3 in the third.
TEST_CASE("chunked top-k: values of two bits are means of their bins") {
    const Values x{{-6, 1, 0, 4, 2, 0.5, 3, 4}};
    const ChunkedTopKOptions options{.chunk = 2, .kept = 2, .value_bits = 2};

    // Rows of a tensor of 2 x 4: chunk -6, 1 / 2, 0.5 and chunk 0, 4 / 3, 4.
    const Values wanted{{-6, 0, 0, 10.0 / 3, 10.0 / 3, 0, 0, 10.0 / 3}};
    CHECK((sent(options, x, {"x", {2, 4}}) - wanted).cwiseAbs().maxCoeff() < 1e-14);
    // As one row it has chunks of 2 entries, all of which are sent.
    ChunkedTopKOptions whole = options;
    whole.value_bits = 32;
    CHECK(sent(whole, x, {"x", {8}}) == x);
}

TEST_CASE("chunked top-k, property: sums of a tensor stay, values are few, and it is scale-free") {
    for (unsigned seed = 1; seed <= 60; ++seed) {
        CAPTURE(seed);
        const Tensor tensor{"x", {6, 4 + seed % 9}};
        const Values x = normal_vector(seed, tensor.entries());
        ChunkedTopKOptions options{.chunk = 3 + seed % 4, .kept = 1 + seed % 5};
        options.value_bits = 2 + static_cast<int>(seed % 7);
        ChunkedTopKOptions exact = options;
        exact.value_bits = 32;

        const Values q = sent(options, x, tensor);
        const Values kept = sent(exact, x, tensor);

        CHECK(std::abs(q.sum() - kept.sum()) < 1e-12);
        CHECK((kept.array() == 0 || kept.array() == x.array()).all());
        CHECK(std::set<double>(q.begin(), q.end()).size() <= (1U << options.value_bits) + 1U);
        const double scale = std::ldexp(1.0, static_cast<int>(seed % 60) - 30);
        CHECK(sent(options, scale * x, tensor) == scale * q);
        CHECK((x - kept).squaredNorm() <= (1 - static_cast<double>((kept.array() != 0).count()) /
                                                   static_cast<double>(x.size())) *
                                              x.squaredNorm());
    }
}

TEST_CASE("chunked top-k: equal values, one value and none are sent as they are") {
    const ChunkedTopKOptions options{.chunk = 2, .kept = 1};
    CHECK(sent(options, Values{{3, 3, 3, 3}}, {"x", {2, 2}}) == Values{{3, 0, 0, 0}});
    CHECK(sent(options, Values{{3, 3, 3, 3}}, {"x", {4}}) == Values{{3, 0, 3, 0}});
    CHECK(sent(options, Values::Zero(4), {"x", {4}}) == Values::Zero(4));
    CHECK(sent(options, Values{}, {"x", {0}}).size() == 0);
    const double infinity = std::numeric_limits<double>::infinity();
    CHECK(sent(options, Values{{1, 2, infinity, 3}}, {"x", {4}}) == Values{{1, 2, infinity, 3}});
}

TEST_CASE("chunked top-k: 64 of 4096 entries in 2 + 12 bits are 1/146 of fp32, as published") {
    const Compressor sparse = make_chunked_top_k();
    const Tensor matrix{"x", {8192, 8192}};
    const std::int64_t table = 32 * 5;
    CHECK(sparse.bits(matrix) == 16384 * 64 * (2 + 12) + table);
    CHECK(sparse.bits({"x", {0, 64}}) == 0);
    CHECK(32.0 * 8192 * 8192 / static_cast<double>(sparse.bits(matrix)) ==
          doctest::Approx(146.27).epsilon(1e-4));
}

TEST_CASE("chunked top-k: CCLoco sends 32 bytes and 32 positions of 8 bytes of a chunk, a table") {
    const Compressor ccloco = make_chunked_top_k({.kept = 32, .value_bits = 8, .index_bits = 64});
    CHECK(ccloco.bits({"x", {128, 64}}) == 8 * (2 * 32 * 9 + 4 * 257));
    const Compressor whole = make_chunked_top_k({.kept = 32, .value_bits = 32});
    CHECK(whole.bits({"x", {128, 64}}) == 2 * 32 * (32 + 12));
}

TEST_CASE("chunked top-k: positions take the bits that tell the entries of a chunk apart") {
    CHECK(least_index_bits(1) == 1);
    CHECK(least_index_bits(2) == 2);
    CHECK(least_index_bits(3) == 4);
    CHECK(least_index_bits(64) == 12);
    CHECK(least_index_bits(65) == 13);
    CHECK(least_index_bits(65'536) == 32);
}

}  // namespace
}  // namespace paceline::chunked_top_k_test

#include "models/nets/layers/causal_attention.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "models/nets/layers/lanes.hpp"
#include "sim/engine/check.hpp"
#include "tests/models/nets/net_cases.hpp"

namespace paceline::causal_attention_test {
namespace {

using Eigen::Index;
// Rows of features, as attention takes them.
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Rows random_rows(RandomStream& random, Index features, Index tokens) {
    return random_point(random, features * tokens, 1).reshaped<Eigen::RowMajor>(features, tokens);
}

struct Attention {
    Attention(Index width, Index heads, Index count, Index panels)
        : attention(width, heads), sequences{count, panels, count * panels * lanes} {
        attention.reserve(count, panels);
        out.resize(width, sequences.row);
        d_qkv.resize(3 * width, sequences.row);
    }

    const Rows& forward(const Rows& qkv) {
        attention.forward(sequences, qkv.data(), out.data());
        return out;
    }
    const Rows& backward(const Rows& qkv, const Rows& d_out) {
        attention.backward(sequences, qkv.data(), d_out.data(), d_qkv.data());
        return d_qkv;
    }

    CausalAttention<double> attention;
    Sequences sequences;
    Rows out;
    Rows d_qkv;
};

TEST_CASE("attention: with equal scores a token takes the mean of the values up to itself") {
    constexpr Index width = 3;
    for (const Index panels : {1, 3}) {
        CAPTURE(panels);
        const Index tokens = panels * lanes;
        RandomStream random = RandomStreams(1).stream("attention");
        Rows qkv = random_rows(random, 3 * width, tokens);
        qkv.topRows(width).setZero();
        const Rows d_out = random_rows(random, width, tokens);
        Attention attention(width, 1, 1, panels);
        attention.forward(qkv);
        attention.backward(qkv, d_out);

        for (Index f = 0; f < width; ++f) {
            double sum = 0;
            for (Index t = 0; t < tokens; ++t) {
                sum += qkv(2 * width + f, t);
                CHECK(attention.out(f, t) ==
                      doctest::Approx(sum / static_cast<double>(t + 1)).epsilon(1e-13));
            }
            double later = 0;
            for (Index s = tokens; s-- > 0;) {
                later += d_out(f, s) / static_cast<double>(s + 1);
                CHECK(attention.d_qkv(2 * width + f, s) == doctest::Approx(later).epsilon(1e-12));
            }
        }
        CHECK(attention.d_qkv.middleRows(width, width).isZero(0));  // q = 0: scores ignore k
    }
}

TEST_CASE("attention: the second token's share of itself is a logistic function of the scores") {
    RandomStream random = RandomStreams(2).stream("attention");
    const Rows qkv = random_rows(random, 3 * 4, lanes);
    Attention attention(4, 2, 1, 1);
    attention.forward(qkv);
    for (Index h = 0; h < 2; ++h) {
        const auto q = qkv.block(2 * h, 1, 2, 1);
        const auto k = qkv.block(4 + 2 * h, 0, 2, 2);
        const double score = (q.transpose() * (k.col(1) - k.col(0)))(0) / std::sqrt(2.0);
        const double share = 1 / (1 + std::exp(-score));
        for (Index f = 2 * h; f < 2 * h + 2; ++f)
            CHECK(attention.out(f, 1) ==
                  doctest::Approx((1 - share) * qkv(8 + f, 0) + share * qkv(8 + f, 1))
                      .epsilon(1e-13));
    }
}

TEST_CASE("attention: its gradient is that of finite differences, in any direction") {
    struct Case {
        Index width;
        Index heads;
        Index count;
        Index panels;
    };
    constexpr double step = 1e-6;
    for (const Case& c : {Case{4, 1, 1, 1}, {6, 3, 2, 1}, {5, 1, 1, 2}, {8, 2, 3, 3}})
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
            CAPTURE(c.width);
            CAPTURE(seed);
            RandomStream random = RandomStreams(seed).stream("attention");
            Attention attention(c.width, c.heads, c.count, c.panels);
            const Index tokens = attention.sequences.row;
            const Rows qkv = random_rows(random, 3 * c.width, tokens);
            const Rows weights = random_rows(random, c.width, tokens);  // f = weights . out
            attention.forward(qkv);
            const Rows g = attention.backward(qkv, weights);
            for (Index part = 0; part < 3; ++part) {  // q, k, v
                Rows direction = Rows::Zero(3 * c.width, tokens);
                direction.middleRows(part * c.width, c.width) =
                    random_rows(random, c.width, tokens);
                const double above =
                    attention.forward(qkv + step * direction).cwiseProduct(weights).sum();
                const double below =
                    attention.forward(qkv - step * direction).cwiseProduct(weights).sum();
                const double exact = g.cwiseProduct(direction).sum();
                CHECK(std::abs((above - below) / (2 * step) - exact) < 1e-7 * g.norm());
            }
        }
}

TEST_CASE("attention: what a token takes depends neither on later tokens nor on other sequences") {
    constexpr Index width = 4;
    constexpr Index panels = 2;
    constexpr Index tokens = panels * lanes;
    RandomStream random = RandomStreams(3).stream("attention");
    const Rows qkv = random_rows(random, 3 * width, 3 * tokens);
    Attention attention(width, 2, 3, panels);
    const Rows out = attention.forward(qkv);
    for (const Index t : {0, 1, 30, 31, 32, 50, 63}) {
        CAPTURE(t);
        const Index at = tokens + t;  // in the second of three sequences
        Rows other = random_rows(random, 3 * width, 3 * tokens);
        other.middleCols(tokens, t + 1) = qkv.middleCols(tokens, t + 1);
        CHECK(attention.forward(other).col(at) == out.col(at));

        Rows d_out = Rows::Zero(width, 3 * tokens);
        d_out.col(at).setOnes();
        attention.forward(qkv);
        Rows d = attention.backward(qkv, d_out);
        CHECK(d.rightCols(3 * tokens - at - 1).isZero(0));
        CHECK(d.leftCols(tokens).isZero(0));
        CHECK_FALSE(d.middleCols(tokens, t + 1).bottomRows(width).cwiseEqual(0).any());
        d.col(at).setZero();
        CHECK(d.topRows(width).isZero(0));  // no other query is used
    }
}

TEST_CASE("attention: heads that do not divide the width are refused") {
    CHECK_THROWS_AS((CausalAttention<float>{6, 4}), LogicError);
    CHECK_THROWS_AS((CausalAttention<float>{6, 0}), LogicError);
}

}  // namespace
}  // namespace paceline::causal_attention_test

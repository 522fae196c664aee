#include "models/nets/layers/transformer_block.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "tests/models/nets/net_cases.hpp"

namespace paceline::transformer_block_test {
namespace {

using Eigen::Index;

constexpr TransformerBlockShape shape{.width = 6, .heads = 2, .inner = 7};
constexpr Index panels = 2;
constexpr Index tokens = panels * lanes;

void fill(RandomStream& random, TokenMatrix<double>& matrix, Index from = 0) {
    for (Index f = 0; f < matrix.features(); ++f) {
        const Eigen::VectorXd drawn = random_point(random, tokens - from, 1);
        std::copy_n(drawn.data(), drawn.size(), matrix.feature(f) + from);
    }
}

// A net is as causal as its blocks: nothing else lets tokens meet.
TEST_CASE("transformer block: outputs and errors never pass from a token to an earlier one") {
    RandomStream random = RandomStreams(1).stream("block");
    TransformerBlock<double> block(shape, 0);
    block.reserve(1, panels);
    TransformerScratch<double> scratch(shape);
    scratch.reserve(panels);
    const Eigen::VectorXd x = random_point(random, block.end(), 0.5);
    Eigen::VectorXd g = Eigen::VectorXd::Zero(block.end());
    TokenMatrix<double> in(shape.width);
    TokenMatrix<double> out(shape.width);
    TokenMatrix<double> other_out(shape.width);
    TokenMatrix<double> d(shape.width);
    for (TokenMatrix<double>* matrix : {&in, &out, &other_out, &d}) matrix->reserve(panels);
    fill(random, in);
    const Sequences sequences{.count = 1, .panels = panels, .row = in.row()};
    block.forward(x.data(), sequences, in, out);

    for (const Index t : {0, 7, 31, 32, 63}) {
        CAPTURE(t);
        TokenMatrix<double> other = in;
        fill(random, other, t + 1);
        block.forward(x.data(), sequences, other, other_out);
        for (Index f = 0; f < shape.width; ++f)
            for (Index s = 0; s <= t; ++s) REQUIRE(out.feature(f)[s] == other_out.feature(f)[s]);

        d.set_zero();
        for (Index f = 0; f < shape.width; ++f) d.feature(f)[t] = 1 + static_cast<double>(f);
        block.forward(x.data(), sequences, in, out);
        block.backward(x.data(), sequences, in, d, scratch, g.data());
        for (Index f = 0; f < shape.width; ++f)
            for (Index s = 0; s < tokens; ++s) REQUIRE((d.feature(f)[s] != 0) == (s <= t));
    }
}

}  // namespace
}  // namespace paceline::transformer_block_test

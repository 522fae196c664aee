#include "models/data/tokens.hpp"

#include <numeric>
#include <vector>

#include <doctest/doctest.h>

namespace paceline::tokens_test {
namespace {

TEST_CASE("tokens: every token but the first is predicted once, and the remainder is dropped") {
    for (int length = 0; length < 40; ++length)
        for (int steps = 1; steps < 8; ++steps) {
            CAPTURE(length);
            CAPTURE(steps);
            std::vector<int> stream(static_cast<std::size_t>(length));
            std::iota(stream.begin(), stream.end(), 0);

            const Eigen::MatrixXi tokens = cut_tokens(stream, steps);

            CHECK(tokens.rows() == steps + 1);
            CHECK(tokens.cols() == (length > 0 ? (length - 1) / steps : 0));
            int next = 1;
            for (Eigen::Index j = 0; j < tokens.cols(); ++j)
                for (int t = 0; t < steps; ++t) {
                    CHECK(tokens(t, j) == next - 1);
                    CHECK(tokens(t + 1, j) == next++);
                }
        }
}

}  // namespace
}  // namespace paceline::tokens_test

#include "algorithms/coders/majority_vote.hpp"

#include <vector>

#include <Eigen/Core>
#include <doctest/doctest.h>

#include "algorithms/compression/signs.hpp"
#include "tests/algorithms/compression/reference_compressors.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::majority_vote_test {
namespace {

TEST_CASE("majority vote, property: the vote is what counting by hand says, and a tie is 0") {
    for (unsigned seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        const auto n = static_cast<std::size_t>(1 + seed % 6);
        const LayoutPtr layout = make_layout({{"x", {9}}});
        Round<Vector> round(n);
        std::vector<int> positive(9, 0);
        for (std::size_t i = 0; i < n; ++i) {
            Vector v(layout, normal_vector(seed * 10 + static_cast<unsigned>(i), 9));
            RandomStream random = RandomStreams(1).stream("test");
            for (Eigen::Index j = 0; j < 9; ++j)
                if (v.values()(j) >= 0) ++positive[static_cast<std::size_t>(j)];
            compress(make_sign(), v, random);
            round.enter(i, v);
        }

        const Vector vote = majority_vote(round);

        for (Eigen::Index j = 0; j < 9; ++j) {
            const int ayes = positive[static_cast<std::size_t>(j)];
            const int nays = static_cast<int>(n) - ayes;
            CHECK(vote.values()(j) == (ayes > nays ? 1 : (ayes < nays ? -1 : 0)));
        }
    }
}

}  // namespace
}  // namespace paceline::majority_vote_test

#include "topologies/fabrics/equal_cost.hpp"

#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "tests/topologies/fabrics/wiring.hpp"

namespace paceline::equal_cost_test {
namespace {

TEST_CASE("equal cost: the hash depends on the seed, the sender and the receiver, in order") {
    std::set<std::uint64_t> seen;
    for (const std::uint64_t seed : {0U, 1U, 2U})
        for (int from = 0; from < 50; ++from)
            for (int to = 0; to < 50; ++to) seen.insert(equal_cost_hash(seed, from, to));

    CHECK(seen.size() == 3 * 50 * 50);
    CHECK(equal_cost_hash(1, 2, 3) == equal_cost_hash(1, 2, 3));
}

TEST_CASE("equal cost, property: pairs are spread evenly over the choices, for every seed") {
    for (const int choices : {2, 3, 4, 7, 16, 100})
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
            CAPTURE(choices);
            CAPTURE(seed);
            std::vector<int> counts(static_cast<std::size_t>(choices));
            for (int from = 0; from < 200; ++from)
                for (int to = 0; to < 200; ++to)
                    ++counts[static_cast<std::size_t>(
                        choose(equal_cost_hash(seed, from, to), choices))];

            CHECK(is_even(counts));
        }
}

TEST_CASE("equal cost, property: the pairs of one sender, and of one receiver, are spread evenly") {
    for (int fixed = 0; fixed < 20; ++fixed) {
        CAPTURE(fixed);
        std::vector<int> of_sender(8);
        std::vector<int> of_receiver(8);
        for (int other = 0; other < 4000; ++other) {
            ++of_sender[static_cast<std::size_t>(choose(equal_cost_hash(1, fixed, other), 8))];
            ++of_receiver[static_cast<std::size_t>(choose(equal_cost_hash(1, other, fixed), 8))];
        }

        CHECK(is_even(of_sender));
        CHECK(is_even(of_receiver));
    }
}

TEST_CASE("equal cost: a single choice is taken") {
    CHECK(choose(equal_cost_hash(7, 1, 2), 1) == 0);
}

}  // namespace
}  // namespace paceline::equal_cost_test

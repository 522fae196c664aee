#include "topologies/mixing/parts.hpp"

#include <vector>

#include <doctest/doctest.h>

#include "tests/topologies/mixing/matrix.hpp"
#include "topologies/mixing/graphs.hpp"

namespace paceline::parts_test {
namespace {

using Numbers = std::vector<std::size_t>;

TEST_CASE("parts: who exchanges through others is in one part, numbered by its first node") {
    const MixingParts parts = parts_of(metropolis_hastings({{2}, {}, {0, 4}, {}, {2}}));
    CHECK(parts.count == 3);
    CHECK(parts.of == Numbers{0, 1, 0, 2, 0});
}

TEST_CASE("parts: a directed edge joins as well") {
    const Mixing listens({{{0, 1.0}}, {{0, 0.5}, {1, 0.5}}, {{2, 1.0}}});
    CHECK(parts_of(listens).of == Numbers{0, 0, 1});
}

TEST_CASE("parts: any step of a period joins") {
    const Mixing first = metropolis_hastings({{1}, {0}, {}, {}});
    const Mixing second = metropolis_hastings({{}, {2}, {1}, {}});
    CHECK(parts_of(MixingSchedule::periodic({first, second})).of == Numbers{0, 0, 0, 1});
}

TEST_CASE("parts: every graph by name is in one part, of one node too") {
    for (const int n : {1, 2, 4, 16})
        for (const MixingSchedule& schedule :
             {MixingSchedule(make_ring_mixing(n)), MixingSchedule(make_complete_mixing(n)),
              MixingSchedule(make_star_mixing(n)), MixingSchedule(make_hypercube_mixing(n)),
              make_one_peer_exponential(n), make_one_peer_hypercube(n)})
            CHECK(parts_of(schedule).count == 1);
}

TEST_CASE("parts: split keeps the weights inside of each part") {
    const Mixing mixing = metropolis_hastings({{2}, {3}, {0, 4}, {1}, {2}});
    const std::vector<Mixing> split_up = split(mixing, parts_of(mixing));
    REQUIRE(split_up.size() == 2);
    CHECK(matrix(split_up[0]) == matrix(metropolis_hastings({{1}, {0, 2}, {1}})));
    CHECK(matrix(split_up[1]) == matrix(metropolis_hastings({{1}, {0}})));
}

}  // namespace
}  // namespace paceline::parts_test

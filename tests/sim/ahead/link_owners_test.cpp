#include "sim/ahead/link_owners.hpp"

#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/units.hpp"
#include "topologies/fabrics/torus.hpp"

namespace paceline::link_owners_test {
namespace {

using namespace literals;

// Place p sends to place p + distance.
MessageRounds one_round(int members, int distance, Partners partners) {
    MessageRounds rounds{.members = members, .count = 1, .partners = partners};
    rounds.who = [members, distance](int place, int) {
        return RoundOfMember{(place + distance) % members, (place + members - distance) % members};
    };
    rounds.size = [](int, int) { return 1000_B; };
    return rounds;
}

struct OnARing {
    Fabric ring = make_torus({5}, {1_Gbps}, 1);
    std::vector<int> owned_by;
    LinkOwners owners{5, ring.links.size(), owned_by};

    LinkOwners::Routes claim(const MessageRounds& rounds, const std::vector<int>& members) {
        return owners.claim(rounds, members, ring.find_route, [](LinkId) { return false; });
    }
};

TEST_CASE("link owners: on routes of one hop the sender has the only half") {
    OnARing on;

    CHECK(on.claim(one_round(5, 1, Partners::ring), {0, 1, 2, 3, 4}).have_halves);
    CHECK(on.owners.up(0).size() == 1);
    CHECK(on.owners.down(0).empty());
}

TEST_CASE("link owners: routes of two hops have other halves, and leave those of one hop alone") {
    OnARing on;
    REQUIRE(on.claim(one_round(5, 1, Partners::ring), {0, 1, 2, 3, 4}).have_halves);

    CHECK_FALSE(on.claim(one_round(5, 2, Partners::doubling), {0, 1, 2, 3, 4}).have_halves);
    CHECK(on.owners.down(0).empty());
}

TEST_CASE("link owners: whoever comes first says what a host's halves are") {
    OnARing on;
    REQUIRE(on.claim(one_round(5, 2, Partners::doubling), {0, 1, 2, 3, 4}).have_halves);

    CHECK(on.owners.down(2).size() == 1);
    CHECK_FALSE(on.claim(one_round(5, 1, Partners::ring), {0, 1, 2, 3, 4}).have_halves);
    CHECK(on.claim(one_round(5, 2, Partners::doubling), {0, 1, 2, 3, 4}).have_halves);
}

}  // namespace
}  // namespace paceline::link_owners_test

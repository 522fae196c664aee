#include "topologies/fabrics/placed.hpp"

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "tests/topologies/fabrics/wiring.hpp"
#include "topologies/fabrics/star.hpp"

namespace paceline::placed_test {
namespace {

using namespace literals;

const Link gigabit{1_Gbps};

TEST_CASE("placed: a host takes the routes of its place") {
    const Fabric star = make_star(5, gigabit, gigabit);
    const Fabric placed = make_placed({4, 1, 0}, make_star(5, gigabit, gigabit));

    CHECK(placed.hosts == 3);
    CHECK(placed.links.size() == star.links.size());
    CHECK(placed.back == star.back);
    CHECK(route(placed, 0, 1) == route(star, 4, 1));
    CHECK(route(placed, 2, 0) == route(star, 0, 4));
}

TEST_CASE("placed: two hosts at one place share its links and cannot send to one another") {
    const Fabric placed = make_placed({3, 1, 3}, make_star(4, gigabit, gigabit));

    CHECK(route(placed, 0, 1) == route(placed, 2, 1));
    CHECK(route(placed, 1, 0) == route(placed, 1, 2));
    Route any;
    CHECK_THROWS_AS(placed.find_route(0, 2, any), LogicError);
}

TEST_CASE("placed: a place that is none of the fabric's is a programming error") {
    CHECK_THROWS_AS(make_placed({0, 4}, make_star(4, gigabit, gigabit)), LogicError);
    CHECK_THROWS_AS(make_placed({-1}, make_star(4, gigabit, gigabit)), LogicError);
}

}  // namespace
}  // namespace paceline::placed_test

#include "topologies/fabrics/dumbbell.hpp"

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "tests/topologies/fabrics/wiring.hpp"

namespace paceline::dumbbell_test {
namespace {

using namespace literals;

const Link access{10_Gbps};
const Link narrow{1_Gbps};

TEST_CASE("dumbbell: half of the hosts are on each side of one bottleneck") {
    const Fabric fabric = make_dumbbell(5, access, narrow);  // 0, 1 | 2, 3, 4

    CHECK(fabric.hosts == 5);
    REQUIRE(fabric.links.size() == 12);
    for (LinkId link = 0; link < 10; ++link) CHECK(fabric.links[link].bandwidth == 10_Gbps);
    CHECK(fabric.links[10].bandwidth == 1_Gbps);
    CHECK(fabric.links[11].bandwidth == 1_Gbps);
}

TEST_CASE("dumbbell: only what goes from side to side crosses the bottleneck") {
    const Fabric fabric = make_dumbbell(5, access, narrow);

    CHECK(route(fabric, 0, 1) == Route{0, 3});
    CHECK(route(fabric, 4, 2) == Route{8, 5});
    CHECK(route(fabric, 0, 2) == Route{0, 10, 5});
    CHECK(route(fabric, 1, 4) == Route{2, 10, 9});
    CHECK(route(fabric, 2, 1) == Route{4, 11, 3});
}

TEST_CASE("dumbbell: without hosts it is a programming error") {
    CHECK_THROWS_AS(make_dumbbell(0, access, narrow), LogicError);
    CHECK(make_dumbbell(1, access, narrow).links.size() == 4);
}

}  // namespace
}  // namespace paceline::dumbbell_test

#include "topologies/fabrics/torus.hpp"

#include <set>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "tests/topologies/fabrics/wiring.hpp"

namespace paceline::torus_test {
namespace {

using namespace literals;

const Link link{10_Gbps};

TEST_CASE("torus: of one dimension it is a ring, and routes go the shorter way round") {
    const Fabric ring = make_torus({5}, link, 1);

    CHECK(ring.hosts == 5);
    CHECK(ring.links.size() == 10);
    CHECK(route(ring, 0, 1) == Route{0});
    CHECK(route(ring, 0, 2) == Route{0, 2});
    CHECK(route(ring, 0, 3) == Route{9, 7});
    CHECK(route(ring, 0, 4) == Route{9});
    CHECK(route(ring, 4, 0) == Route{8});
    CHECK(route(ring, 3, 0) == Route{6, 8});
}

TEST_CASE("torus: exactly half way round, the seed draws the way") {
    std::set<Route> seen;
    for (std::uint64_t seed = 0; seed < 30; ++seed)
        seen.insert(route(make_torus({4}, link, seed), 1, 3));

    CHECK(seen == std::set<Route>{{2, 4}, {1, 7}});
}

TEST_CASE("torus: each dimension that is a tie is drawn apart") {
    std::set<Route> seen;
    for (std::uint64_t seed = 0; seed < 100; ++seed)
        seen.insert(route(make_torus({4, 4}, link, seed), 0, 10));  // (0, 0) to (2, 2)

    CHECK(seen.size() == 4);
}

TEST_CASE("torus: a route goes dimension by dimension") {
    // Host = x + 3 y + 12 z. Cables in x: 0-23; in y: 24-47; in z (two hosts, one cable): 48-59.
    const Fabric torus = make_torus({3, 4, 2}, link, 1);

    CHECK(torus.hosts == 24);
    CHECK(torus.links.size() == 2 * 60);
    // (0, 0, 0) to (1, 1, 1) = 16: x at 0, y at 1, z at 4.
    CHECK(route(torus, 0, 16) == Route{2 * 0, 2 * (24 + 1), 2 * (48 + 4)});
    // (1, 1, 1) to (0, 0, 0): x back from 16 over cable 15, y back from 15 over the cable of 12, z
    // back.
    CHECK(route(torus, 16, 0) == Route{2 * 15 + 1, 2 * (24 + 12) + 1, 2 * 48 + 1});
    // (0, 3, 0) = 9 to (2, 0, 0) = 2: x back over cable 11, y on from (2, 3, 0) = 11 to (2, 0, 0).
    CHECK(route(torus, 9, 2) == Route{2 * 11 + 1, 2 * (24 + 11)});
}

TEST_CASE("torus: a dimension of two hosts has one cable, used both ways, whatever the seed") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        const Fabric cube = make_torus({2, 2, 2}, link, seed);  // 4 cables in each dimension

        CHECK(cube.links.size() == 24);
        CHECK(route(cube, 0, 1) == Route{0});
        CHECK(route(cube, 1, 0) == Route{1});
        CHECK(route(cube, 0, 7) == Route{0, 2 * (4 + 1), 2 * (8 + 3)});
        CHECK(route(cube, 7, 0) == Route{2 * 3 + 1, 2 * (4 + 2) + 1, 2 * 8 + 1});
    }
}

TEST_CASE("torus: a dimension of one host changes nothing but the numbers of dimensions") {
    const Fabric torus = make_torus({1, 5, 1}, link, 1);

    CHECK(torus.links.size() == 10);
    CHECK(route(torus, 0, 3) == Route{9, 7});
    CHECK(make_torus({1}, link, 1).links.empty());
    CHECK(make_torus({1}, link, 1).hosts == 1);
}

TEST_CASE("torus: extents that make no torus are programming errors") {
    CHECK_THROWS_AS(make_torus({}, link, 1), LogicError);
    CHECK_THROWS_AS(make_torus({3, 0}, link, 1), LogicError);
    CHECK_THROWS_AS(make_torus({3, -2}, link, 1), LogicError);
    CHECK_THROWS_AS(make_torus({65'536, 65'536}, link, 1), LogicError);
    CHECK_THROWS_AS(make_torus(std::vector<int>(17, 1), link, 1), LogicError);
}

}  // namespace
}  // namespace paceline::torus_test

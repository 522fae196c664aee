#include "topologies/fabrics/mesh.hpp"

#include <set>

#include <doctest/doctest.h>

namespace paceline {
namespace {

using namespace literals;

TEST_CASE("mesh: every ordered pair of hosts has a link that no other pair has") {
    for (int hosts = 1; hosts <= 9; ++hosts) {
        CAPTURE(hosts);
        const Fabric mesh = make_mesh(hosts, {1_Gbps});
        std::set<LinkId> used;
        Route route;
        for (int from = 0; from < hosts; ++from)
            for (int to = 0; to < hosts; ++to) {
                if (from == to) continue;
                mesh.find_route(from, to, route);
                REQUIRE(route.size() == 1);
                CHECK(used.insert(route[0]).second);
            }
        CHECK(used.size() == mesh.links.size());
    }
}

TEST_CASE("mesh: the two ways between a pair are the two links of one cable") {
    const Fabric mesh = make_mesh(5, {1_Gbps});
    Route there;
    Route back;
    mesh.find_route(1, 3, there);
    mesh.find_route(3, 1, back);

    CHECK(mesh.back[there[0]] == back[0]);
}

}  // namespace
}  // namespace paceline

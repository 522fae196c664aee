#include "topologies/fabrics/fat_tree.hpp"

#include <chrono>
#include <set>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "tests/topologies/fabrics/wiring.hpp"

namespace paceline::fat_tree_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link access{10_Gbps, 1us, 1.0};
const Link trunk{20_Gbps, 3us, 1.0};

// Cables 0-15 belong to the hosts. 16-31 lead from edge switch e to aggregation (16 + 2 e + a), and
// 32-47 from aggregation (pod, a) to core (32 + 4 pod + 2 a + c).
const FatTree sixteen{.hosts = 16, .k = 4, .link = access, .uplink = trunk};

TEST_CASE("fat tree: of arity 4 it has places for 16 hosts, and as many cables on each level") {
    const Fabric fabric = make_fat_tree(sixteen, 1);

    CHECK(sixteen.places() == 16);
    CHECK(fabric.hosts == 16);
    REQUIRE(fabric.links.size() == 96);
    for (LinkId link = 0; link < 32; ++link) CHECK(fabric.links[link].bandwidth == 10_Gbps);
    for (LinkId link = 32; link < 96; ++link) CHECK(fabric.links[link].bandwidth == 20_Gbps);
}

TEST_CASE("fat tree: two hosts on an edge switch are two links apart") {
    CHECK(route(make_fat_tree(sixteen, 1), 0, 1) == Route{0, 3});
    CHECK(route(make_fat_tree(sixteen, 1), 15, 14) == Route{30, 29});
}

TEST_CASE("fat tree: within a pod a route climbs to one of the aggregation switches") {
    std::set<LinkId> seen;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Route links = route(make_fat_tree(sixteen, seed), 0, 2);  // edge 0 to edge 1

        CHECK((links == Route{0, 32, 37, 5} || links == Route{0, 34, 39, 5}));
        seen.insert(links[1]);
    }
    CHECK(seen.size() == 2);
}

TEST_CASE("fat tree: between pods a route climbs to a core and descends the corresponding way") {
    // Host 1 (edge 0, pod 0) to host 12 (edge 6, pod 3).
    const std::set<Route> all{{2, 32, 64, 89, 57, 25},   // core (0, 0)
                              {2, 32, 66, 91, 57, 25},   // core (0, 1)
                              {2, 34, 68, 93, 59, 25},   // core (1, 0)
                              {2, 34, 70, 95, 59, 25}};  // core (1, 1)
    std::set<Route> seen;
    for (std::uint64_t seed = 0; seed < 60; ++seed)
        seen.insert(route(make_fat_tree(sixteen, seed), 1, 12));

    CHECK(seen == all);
}

TEST_CASE("fat tree: of arity 2 it is a line of switches") {
    const FatTree two{.hosts = 2, .k = 2, .link = access, .uplink = access};
    const Fabric fabric = make_fat_tree(two, 1);

    // Hosts 0, 1; edge to aggregation 2, 3; aggregation to core 4, 5.
    CHECK(route(fabric, 0, 1) == Route{0, 4, 8, 11, 7, 3});
    CHECK(route(fabric, 1, 0) == Route{2, 6, 10, 9, 5, 1});
}

TEST_CASE("fat tree: places that no host takes have switches and no cable") {
    const FatTree five{.hosts = 5, .k = 4, .link = access, .uplink = trunk};
    const Fabric fabric = make_fat_tree(five, 1);

    CHECK(fabric.hosts == 5);
    CHECK(fabric.links.size() == 2 * (5 + 16 + 16));
    CHECK(route(fabric, 0, 4).size() == 6);
    CHECK(route(fabric, 0, 3).size() == 4);
}

TEST_CASE("fat tree: the arity for a number of hosts is the smallest even one with k^3/4 places") {
    CHECK(fat_tree_ports_for(1) == 2);
    CHECK(fat_tree_ports_for(2) == 2);
    CHECK(fat_tree_ports_for(3) == 4);
    CHECK(fat_tree_ports_for(16) == 4);
    CHECK(fat_tree_ports_for(17) == 6);
    CHECK(fat_tree_ports_for(54) == 6);
    CHECK(fat_tree_ports_for(55) == 8);
    CHECK(fat_tree_ports_for(1024) == 16);
    CHECK(fat_tree_ports_for(27'648) == 48);
    CHECK(fat_tree_ports_for(100'000'000) == 738);
}

TEST_CASE("fat tree: an odd arity, or more hosts than places, is a programming error") {
    CHECK_THROWS_AS(make_fat_tree({.hosts = 1, .k = 3}, 1), LogicError);
    CHECK_THROWS_AS(make_fat_tree({.hosts = 1, .k = 0}, 1), LogicError);
    CHECK_THROWS_AS(make_fat_tree({.hosts = 1, .k = 1026}, 1), LogicError);
    CHECK_THROWS_AS(make_fat_tree({.hosts = 17, .k = 4}, 1), LogicError);
    CHECK_THROWS_AS(make_fat_tree({.hosts = 0, .k = 4}, 1), LogicError);
    CHECK_THROWS_AS(fat_tree_ports_for(0), LogicError);
}

}  // namespace
}  // namespace paceline::fat_tree_test

#include "topologies/fabrics/uneven_machines.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "topologies/fabrics/star.hpp"

namespace paceline::uneven_machines_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link wire{10_Gbps, 20us};
const Link lane{100_Gbps, 3us};
const Link fast_lane{400_Gbps, 1us};

Fabric star_of(int cards) {
    return make_star(cards, wire, wire);
}

// Returns the names of the links on the way.
std::vector<std::string> way(const Fabric& fabric, int from, int to) {
    Route route;
    fabric.find_route(from, to, route);
    std::vector<std::string> names;
    for (const LinkId link : route) names.push_back(fabric.label(link).name);
    return names;
}

TEST_CASE("uneven machines: alike ones have the links and ways of machines of several devices") {
    for (const BusKind kind : {BusKind::switched, BusKind::bridged, BusKind::direct})
        for (const int cards : {1, 2}) {
            CAPTURE(cards);
            const Bus bus{kind, lane, cards};
            const Fabric even = make_machines(12, 4, bus, star_of(3 * cards));
            const std::vector<MachineShape> shapes(3, {4, bus});
            const Fabric uneven = make_uneven_machines(shapes, star_of(3 * cards));

            REQUIRE(uneven.hosts == even.hosts);
            CHECK(uneven.links.size() == even.links.size());
            for (int from = 0; from < even.hosts; ++from)
                for (int to = 0; to < even.hosts; ++to) {
                    CHECK(uneven.machines.machine_of(from) == even.machines.machine_of(from));
                    if (from != to) CHECK(way(uneven, from, to) == way(even, from, to));
                }
        }
}

TEST_CASE("uneven machines: a lone device, a switched pair on two cards, and three in a mesh") {
    const std::vector<MachineShape> shapes{
        {1, {}}, {2, Bus{BusKind::switched, lane, 2}}, {3, Bus{BusKind::direct, fast_lane, 1}}};

    const Fabric fabric = make_uneven_machines(shapes, star_of(4));

    CHECK(fabric.hosts == 6);
    CHECK(fabric.links.size() == 2 * 4 + 2 * 2 + 3 * 3);
    CHECK(way(fabric, 0, 2) ==
          std::vector<std::string>{"node 0 up", "node 1 card 1 down", "bus -> device 2"});
    CHECK(way(fabric, 1, 2) == std::vector<std::string>{"device 1 -> bus", "bus -> device 2"});
    CHECK(way(fabric, 1, 5) ==
          std::vector<std::string>{"device 1 -> bus", "node 1 card 0 up", "node 2 down"});
    CHECK(way(fabric, 5, 3) == std::vector<std::string>{"device 5 -> device 3"});
    CHECK(way(fabric, 4, 0) == std::vector<std::string>{"node 2 up", "node 0 down"});
    Route route;
    fabric.find_route(5, 3, route);
    CHECK(fabric.links[route.front()] == fast_lane);
    CHECK(fabric.machines.machine_of(2) == 1);
    CHECK(fabric.machines.place_of(5) == 2);
}

TEST_CASE("uneven machines: several devices without a bus, or cards without a device, are a bug") {
    const std::vector<MachineShape> no_bus{{2, {}}};
    const std::vector<MachineShape> idle_card{{2, Bus{BusKind::switched, lane, 3}}};

    CHECK_THROWS_AS(make_uneven_machines(no_bus, star_of(1)), LogicError);
    CHECK_THROWS_AS(make_uneven_machines(idle_card, star_of(3)), LogicError);
}

}  // namespace
}  // namespace paceline::uneven_machines_test

#include "topologies/fabrics/placed.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "sim/engine/check.hpp"

namespace paceline {

Fabric make_placed(std::vector<int> places, Fabric inside) {
    PACELINE_CHECK(inside.machines.one_each(), "devices are placed with their machine");
    PACELINE_CHECK(
        std::ranges::all_of(places, [&](int place) { return place >= 0 && place < inside.hosts; }),
        "a host stands at a place of the fabric");
    Fabric fabric;
    fabric.hosts = static_cast<int>(places.size());
    fabric.links = std::move(inside.links);
    fabric.back = std::move(inside.back);
    fabric.label = std::move(inside.label);
    fabric.find_route = [places = std::move(places), route_inside = std::move(inside.find_route)](
                            int from, int to, Route& route) {
        const int here = places[static_cast<std::size_t>(from)];
        const int there = places[static_cast<std::size_t>(to)];
        PACELINE_CHECK(here != there, "hosts that send to one another stand at different places");
        route_inside(here, there, route);
    };
    return fabric;
}

}  // namespace paceline

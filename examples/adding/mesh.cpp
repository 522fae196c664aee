#include "examples/adding/mesh.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "sim/engine/check.hpp"
#include "topologies/fabrics/cables.hpp"

namespace paceline {

namespace {

std::int64_t cable_of(std::int64_t hosts, std::int64_t low, std::int64_t high) {
    return low * (2 * hosts - low - 1) / 2 + (high - low - 1);
}

// Returns the hosts that a cable joins, the lower one first.
std::pair<int, int> ends_of(int hosts, std::int64_t cable) {
    int low = 0;
    while (cable_of(hosts, low + 1, low + 2) <= cable) ++low;
    return {low, low + 1 + static_cast<int>(cable - cable_of(hosts, low, low + 1))};
}

}  // namespace

Fabric make_mesh(int hosts, const Link& link) {
    PACELINE_CHECK(hosts >= 1, "a mesh has a host or more");
    const std::int64_t cables = std::int64_t{hosts} * (hosts - 1) / 2;
    PACELINE_CHECK(cables <= most_cables, "cables have a number");
    Fabric mesh;
    mesh.hosts = hosts;
    add_cables(mesh, cables, link);
    mesh.find_route = [hosts](int from, int to, Route& route) {
        const std::int64_t cable = cable_of(hosts, std::min(from, to), std::max(from, to));
        route.assign({from < to ? forth(cable) : back(cable)});
    };
    mesh.label = [hosts](LinkId link) -> LinkLabel {
        auto [from, to] = ends_of(hosts, link / 2);
        if (link % 2 == 1) std::swap(from, to);
        return {LinkRole::node, "node -> node", fmt::format("node {} -> node {}", from, to), from};
    };
    return mesh;
}

}  // namespace paceline

#include "topologies/fabrics/regions.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "sim/engine/check.hpp"
#include "topologies/fabrics/cables.hpp"
#include "topologies/fabrics/link_labels.hpp"

namespace paceline {

namespace {

// Returns the number of a pair of regions, among those of all pairs.
constexpr std::int64_t pair_of(std::int64_t regions, std::int64_t low, std::int64_t high) {
    return low * (2 * regions - low - 1) / 2 + (high - low - 1);
}

void add_cable(Fabric& fabric, const Link& there, const Link& back) {
    add_cables(fabric, 1, there);
    fabric.links.back() = back;
}

}  // namespace

int Regions::hosts() const {
    int all = 0;
    for (const Region& region : regions) all += region.hosts;
    return all;
}

Fabric make_regions(const Regions& shape) {
    const int count = static_cast<int>(shape.regions.size());
    PACELINE_CHECK(count >= 1 && count <= most_regions, "there is a region or more");
    PACELINE_CHECK(shape.pipes.size() == shape.regions.size(), "regions have pipes");
    Fabric fabric;
    std::vector<int> region_of;  // [host]
    for (int i = 0; i < count; ++i) {
        const Region& region = shape.regions[static_cast<std::size_t>(i)];
        PACELINE_CHECK(region.hosts >= 1, "a region has a host or more");
        for (int host = 0; host < region.hosts; ++host) {
            add_cable(fabric, region.up, region.down);
            region_of.push_back(i);
        }
    }
    const int hosts = fabric.hosts = static_cast<int>(region_of.size());
    std::vector<std::string> names;
    for (std::size_t i = 0; i < shape.regions.size(); ++i) {
        PACELINE_CHECK(shape.pipes[i].size() == shape.regions.size(), "regions have pipes");
        for (std::size_t j = i + 1; j < shape.regions.size(); ++j) {
            add_cable(fabric, shape.pipes[i][j], shape.pipes[j][i]);
            names.push_back(fmt::format("{} -> {}", shape.regions[i].name, shape.regions[j].name));
            names.push_back(fmt::format("{} -> {}", shape.regions[j].name, shape.regions[i].name));
        }
    }
    fabric.find_route = [hosts, count, region_of](int from, int to, Route& route) {
        const int here = region_of[static_cast<std::size_t>(from)];
        const int there = region_of[static_cast<std::size_t>(to)];
        const std::int64_t pair =
            hosts + pair_of(count, std::min(here, there), std::max(here, there));
        route.assign({forth(from)});
        if (here != there) route.push_back(here < there ? forth(pair) : back(pair));
        route.push_back(back(to));
    };
    fabric.label = [hosts, names](LinkId link) -> LinkLabel {
        const std::int64_t pipe = std::int64_t{link} - std::int64_t{2} * hosts;
        if (pipe < 0)
            return node_link(static_cast<int>(link / 2), link % 2 == 0 ? Way::up : Way::down);
        return {LinkRole::core, "region -> region", names[static_cast<std::size_t>(pipe)]};
    };
    return fabric;
}

}  // namespace paceline

#include "topologies/fabrics/torus.hpp"

#include <cstddef>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "sim/engine/check.hpp"
#include "topologies/fabrics/cables.hpp"
#include "topologies/fabrics/equal_cost.hpp"

namespace paceline {

namespace {

struct Dimension {
    int extent;
    int stride;  // between neighboring hosts in this dimension
    std::int64_t first_cable;

    [[nodiscard]] int coordinate(int host) const { return host / stride % extent; }
    [[nodiscard]] int next(int host) const {
        return coordinate(host) + 1 < extent ? host + stride : host - (extent - 1) * stride;
    }
    [[nodiscard]] int previous(int host) const {
        return coordinate(host) > 0 ? host - stride : host + (extent - 1) * stride;
    }
    // Returns the cable from a host to the next one.
    [[nodiscard]] std::int64_t cable(int host) const {
        if (extent > 2) return first_cable + host;
        return first_cable + std::int64_t{host / (2 * stride)} * stride + host % stride;
    }
    // Returns the host at the first end of a cable.
    [[nodiscard]] int begin_of(std::int64_t cable) const {
        const auto place = static_cast<int>(cable - first_cable);
        return extent > 2 ? place : place / stride * 2 * stride + place % stride;
    }
};

std::int64_t cables_of(int extent, int hosts) {
    if (extent == 1) return 0;
    return extent == 2 ? hosts / 2 : hosts;
}

// Walks from `at` to the coordinate of `to`, and returns the host reached.
int walk(const Dimension& dimension, int at, int to, bool tie_goes_forth, Route& route) {
    const int extent = dimension.extent;
    int ahead = dimension.coordinate(to) - dimension.coordinate(at);
    if (ahead < 0) ahead += extent;
    const int behind = extent - ahead;
    bool goes_forth = ahead < behind;
    if (ahead == behind) goes_forth = extent == 2 ? dimension.coordinate(at) == 0 : tie_goes_forth;
    for (int left = goes_forth ? ahead : behind; left > 0; --left) {
        const int reached = goes_forth ? dimension.next(at) : dimension.previous(at);
        route.push_back(goes_forth ? forth(dimension.cable(at)) : back(dimension.cable(reached)));
        at = reached;
    }
    return at;
}

}  // namespace

Fabric make_torus(const std::vector<int>& dims, const Link& link, std::uint64_t seed) {
    PACELINE_CHECK(!dims.empty() && dims.size() <= most_torus_dims,
                   "a torus has from 1 to 16 dimensions");
    std::int64_t hosts = 1;
    for (const int extent : dims) {
        PACELINE_CHECK(extent >= 1, "a dimension has an extent of 1 or more");
        hosts *= extent;
        PACELINE_CHECK(hosts <= std::numeric_limits<int>::max(), "hosts are counted by an int");
    }
    Fabric fabric;
    fabric.hosts = static_cast<int>(hosts);
    std::vector<Dimension> dimensions;
    std::int64_t cables = 0;
    int stride = 1;
    for (const int extent : dims) {
        dimensions.push_back({extent, stride, cables});
        cables += cables_of(extent, fabric.hosts);
        stride *= extent;
    }
    PACELINE_CHECK(cables <= most_cables, "links have 32-bit numbers");
    add_cables(fabric, cables, link);
    fabric.find_route = [dimensions, seed](int from, int to, Route& route) {
        route.clear();
        std::uint64_t ties = equal_cost_hash(seed, from, to);
        int at = from;
        for (const Dimension& dimension : dimensions) {
            at = walk(dimension, at, to, ties % 2 == 0, route);
            ties /= 2;
        }
    };
    fabric.label = [dimensions](LinkId link) -> LinkLabel {
        const std::int64_t cable = link / 2;
        std::size_t d = dimensions.size() - 1;
        while (dimensions[d].first_cable > cable) --d;
        int from = dimensions[d].begin_of(cable);
        int to = dimensions[d].next(from);
        if (link % 2 == 1) std::swap(from, to);
        return {LinkRole::node, "node -> node", fmt::format("node {} -> node {}", from, to), from};
    };
    return fabric;
}

}  // namespace paceline

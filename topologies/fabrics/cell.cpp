#include "topologies/fabrics/cell.hpp"

#include <utility>

#include <fmt/format.h>

#include "sim/engine/check.hpp"
#include "topologies/fabrics/link_labels.hpp"
#include "topologies/fabrics/star.hpp"

namespace paceline {

namespace {

// Adds a cable whose two links have consecutive numbers.
void add_cable(Fabric& fabric, const UpAndDown& cable) {
    const auto up = static_cast<LinkId>(fabric.links.size());
    fabric.links.insert(fabric.links.end(), {cable.up, cable.down});
    fabric.back.insert(fabric.back.end(), {up + 1, up});
}

// Returns the cell of a node; a server has none.
std::optional<int> cell_of(int host, int nodes, int per_cell) {
    return host < nodes ? std::optional(host / per_cell) : std::nullopt;
}

}  // namespace

Fabric make_cells(const CellShape& shape) {
    PACELINE_CHECK(shape.nodes >= 1, "cells have a node or more");
    PACELINE_CHECK(shape.servers >= 0, "a number of servers is not negative");
    PACELINE_CHECK(shape.nodes_per_cell >= 1, "a cell has a node or more");
    const int hosts = shape.hosts();
    const int cells = shape.cells();
    Fabric fabric = make_star(hosts, shape.own.up, shape.own.down);
    for (int server = shape.nodes; server < hosts; ++server) {
        fabric.links[star_up(server)] = shape.server.up;
        fabric.links[star_down(server, hosts)] = shape.server.down;
    }
    for (int cell = 0; cell < cells; ++cell) add_cable(fabric, shape.air);
    if (shape.backhaul)
        for (int cell = 0; cell < cells; ++cell) add_cable(fabric, *shape.backhaul);

    fabric.find_route = [hosts, cells, nodes = shape.nodes, per_cell = shape.nodes_per_cell,
                         backhaul = shape.backhaul.has_value()](int from, int to, Route& route) {
        const auto air = [hosts](int cell) { return static_cast<LinkId>(2 * (hosts + cell)); };
        const std::optional<int> here = cell_of(from, nodes, per_cell);
        const std::optional<int> there = cell_of(to, nodes, per_cell);
        const bool by_backhaul = backhaul && here != there;
        route.assign({star_up(from)});
        if (here) route.push_back(air(*here));
        if (by_backhaul && here) route.push_back(air(cells + *here));
        if (by_backhaul && there) route.push_back(air(cells + *there) + 1);
        if (there) route.push_back(air(*there) + 1);
        route.push_back(star_down(to, hosts));
    };
    fabric.label = [hosts, cells, own = std::move(fabric.label)](LinkId link) -> LinkLabel {
        const int beyond = static_cast<int>(link) - 2 * hosts;
        if (beyond < 0) return own(link);
        const bool is_air = beyond < 2 * cells;
        const std::string kind =
            fmt::format("{} {}", is_air ? "air" : "backhaul", beyond % 2 == 0 ? "up" : "down");
        return {LinkRole::core, kind, fmt::format("cell {} {}", beyond / 2 % cells, kind)};
    };
    return fabric;
}

}  // namespace paceline

// Radio cells: nodes that share the capacity of their cell, with servers on the core network
// behind.
//
//   node i --own--.                        own       each node's link, up and down
//   node j --own-- air --[backhaul]-- core air       shared by the members of a cell, up and down
//                                     |    backhaul  from a cell to the core, optional
//                          server s --'    the core never blocks
//
// Nodes 0 .. nodes-1 fill cells of `nodes_per_cell` in order; the last cell may have fewer. The
// hosts after them are servers. Links, with h = hosts and cell c = i / nodes_per_cell:
//     i, h + i               up and down of host i (as on a star)
//     2h + 2c, 2h + 2c + 1   air of cell c, up and down
//     then as many again     backhaul of cell c, up and down, if present
//
// Route: own up, air up; [backhaul up, backhaul down]; air down, own down. Traffic within a cell
// does not use the backhaul. At a server's end, the route is the server's own link alone.
//
// Shares: m nodes of one cell that download at once have min(own, air/m) each. Memory O(hosts +
// cells); a route is O(1) arithmetic. Limits: a cell's capacity is one number, independent of its
// members; there is no radio scheduler, no handover and no interference between cells.
#pragma once

#include <optional>

#include "sim/network/fabric.hpp"

namespace paceline {

/// A full-duplex cable, as seen from its lower end.
struct UpAndDown {
    Link up;
    Link down;
};

struct CellShape {
    int nodes = 1;
    int servers = 0;
    int nodes_per_cell = 1;
    UpAndDown own;
    UpAndDown air;
    std::optional<UpAndDown> backhaul;
    UpAndDown server;

    [[nodiscard]] constexpr int hosts() const { return nodes + servers; }
    [[nodiscard]] constexpr int cells() const { return (nodes - 1) / nodes_per_cell + 1; }
};

/// Requires at least one node and at least one node per cell.
Fabric make_cells(const CellShape& shape);

}  // namespace paceline

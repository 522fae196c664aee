// Radio cells: nodes that share the capacity of their cell, and servers on the core behind them.
//
//   node i --own--.                        own       each node's link, up and down
//   node j --own-- air --[backhaul]-- core air       what the members of a cell share, up and down
//                                     |    backhaul  of a cell to the core, if it has one
//                          server s --'    the core never blocks
//
// Nodes 0 .. nodes-1 fill cells of `nodes_per_cell`, in order; the last may have fewer. Hosts behind
// them are servers. Links, with h = hosts and c the cell i / nodes_per_cell:
//     i, h + i               up and down of host i (as on a star)
//     2h + 2c, 2h + 2c + 1   air of cell c, up and down
//     then as many again     backhaul of cell c, up and down, if there is one
//
// Route: own up, air up; [backhaul up, backhaul down]; air down, own down. Within a cell the
// backhaul is not passed. A server's half of a way is its own link alone.
//
// Shares: m nodes of one cell that download at once have min(own, air/m) each. Memory O(hosts +
// cells); a route is O(1) arithmetic. Limits: a cell's capacity is one number, whoever the members
// are; no scheduler of the radio, no handover, no interference of cells.
#pragma once

#include <optional>

#include "sim/network/fabric.hpp"

namespace paceline {

/// A full-duplex cable as seen from its lower end.
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

/// Requires a node and a node per cell at least.
Fabric make_cells(const CellShape& shape);

}  // namespace paceline

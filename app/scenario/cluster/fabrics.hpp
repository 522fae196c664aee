// The table of fabrics by name: the values that a scenario's "cluster.fabric" can take.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/forms/closed_forms.hpp"
#include "app/json/object_reader.hpp"
#include "app/scenario/cluster/links.hpp"
#include "app/scenario/nodes/node_list.hpp"
#include "sim/engine/levels.hpp"
#include "sim/network/fabric.hpp"

namespace paceline {

/// A fabric that has been read and checked for a number of nodes. Its links are built only when
/// `make` is called.
struct FabricChoice {
    /// Builds the fabric. `hosts` is the number of nodes that it was read for. The seed chooses
    /// among equally short routes.
    std::function<Fabric(int hosts, std::uint64_t seed)> make;
    Duration overhead{};                                  // per message, at the sender
    std::optional<IdleStar> as_idle_star;                 // if the closed forms for a star hold
    bool states_efficiency = false;                       // its links state an efficiency
    bool takes_servers = false;                           // can be made for more hosts than nodes
    bool one_cable_per_node = false;                      // so each node has links of its own
    std::optional<Cable> usual_cable{};                   // of a node on a star
    Cable (*read_own_cable)(const Place&) = &read_cable;  // of a node
    bool draws_routes = false;        // the seed draws routes that may share a link
    double idle_star_loss = 0;        // loss on a route of the idle star
    std::vector<DrawnNodes> drawn{};  // for "other_links"
    Bytes memory;                     // of everything beyond a star's two links per node
    /// Ports of switches that have a cable, of nodes with one cable each; a radio has none.
    std::int64_t ports = 0;
    std::vector<Levels::Named> levels{};  // of its nodes, from the finest to the coarsest
};

struct FabricEntry {
    std::string_view name;
    std::string_view summary;
    Keys keys;
    FabricChoice (*read)(const ObjectReader& read, NodeDraw draw);
};

std::span<const FabricEntry> fabric_table();

/// The seed draws shares of nodes. Throws ConfigError, also if the fabric does not fit the number
/// of nodes.
FabricChoice read_fabric(const Place& place, int nodes, std::uint64_t seed = 1);

}  // namespace paceline

// Fabrics by name: what a scenario's "cluster.fabric" can be.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "analysis/closed_forms.hpp"
#include "app/object_reader.hpp"
#include "sim/network/fabric.hpp"

namespace paceline {

/// A fabric that has been read and checked for a number of nodes; links are only built when it is
/// made.
struct FabricChoice {
    /// For the number of nodes it was read for. The seed draws among equally short routes.
    std::function<Fabric(int hosts, std::uint64_t seed)> make;
    Duration overhead{};                   // per message, at the sender
    std::optional<IdleStar> as_idle_star;  // if closed forms for the star hold
    bool states_efficiency = false;        // its links do
    bool takes_servers = false;            // can be made for more hosts than nodes
    bool one_cable_per_node = false;       // so that a node has links of its own
    double idle_star_loss = 0;             // of a route of that
    Bytes memory;                          // of what it has beyond a star's two links per node
};

struct FabricEntry {
    std::string_view name;
    std::string_view summary;
    Keys keys;
    FabricChoice (*read)(const ObjectReader& read, int nodes);
};

std::span<const FabricEntry> fabric_table();

// The table of known keys of a graph's cable, for the test that holds scenario.schema.json against
// it.
Keys cable_keys();
Keys other_links_keys();

/// Throws ConfigError, also where the fabric does not fit the number of nodes.
FabricChoice read_fabric(const Place& place, int nodes);

}  // namespace paceline

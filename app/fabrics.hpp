// Fabrics by name: what a scenario's "cluster.fabric" can be.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "analysis/closed_forms.hpp"
#include "app/object_reader.hpp"
#include "sim/network/fabric.hpp"

namespace paceline {

/// A fabric that has been read and checked; links are only built when it is made for a number of
/// hosts.
struct FabricChoice {
    std::function<Fabric(int hosts)> make;
    Duration overhead{};                   // per message, at the sender
    std::optional<IdleStar> as_idle_star;  // if closed forms for the star hold
    bool states_efficiency = false;        // its links do
};

struct FabricEntry {
    std::string_view name;
    std::string_view summary;
    Keys keys;
    FabricChoice (*read)(const ObjectReader& read);
};

std::span<const FabricEntry> fabric_table();

FabricChoice read_fabric(const Place& place);

}  // namespace paceline

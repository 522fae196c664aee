#include "app/fabrics.hpp"

#include <array>

#include <nlohmann/json.hpp>

#include "app/links.hpp"
#include "app/names.hpp"
#include "topologies/fabrics/star.hpp"

namespace paceline {

namespace {

constexpr std::array<std::string_view, 3> star_keys{"kind", "link", "overhead"};

FabricChoice read_star(const ObjectReader& read) {
    const Cable cable =
        read_cable(read.required("link", "for example {\"bandwidth\": \"10Gbps\"}"));
    FabricChoice choice;
    choice.make = [cable](int hosts) { return make_star(hosts, cable.up, cable.down); };
    if (const auto overhead = read.optional("overhead")) choice.overhead = as_duration(*overhead);
    choice.states_efficiency = cable.up.efficiency < 1;
    const bool symmetric = cable.up.capacity() == cable.down.capacity();
    if (choice.overhead == Duration::zero() && symmetric)
        choice.as_idle_star =
            IdleStar{cable.up.capacity(), sum(cable.up.latency, cable.down.latency)};
    return choice;
}

// To add a fabric: topologies/fabrics/<name>.{hpp,cpp}, a reader above, a line here.
constexpr std::array<FabricEntry, 1> table{{
    {"star", "every node on one non-blocking switch, full duplex", star_keys, &read_star},
}};

}  // namespace

std::span<const FabricEntry> fabric_table() {
    return table;
}

FabricChoice read_fabric(const Place& place) {
    const std::vector<std::string_view> names = names_of(table);
    const Place kind = kind_of(place, "a fabric", names);
    const FabricEntry& entry = table[as_name(kind, "a fabric", names)];
    return entry.read(ObjectReader(place, entry.keys));
}

}  // namespace paceline

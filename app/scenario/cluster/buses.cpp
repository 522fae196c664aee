#include "app/scenario/cluster/buses.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/scenario/cluster/links.hpp"

namespace paceline {

namespace {

constexpr auto bus_key_table = std::to_array<std::string_view>({"kind", "link"});

constexpr auto bus_kinds = std::to_array<Spelling<BusKind>>(
    {{"switched", BusKind::switched}, {"bridged", BusKind::bridged}, {"direct", BusKind::direct}});

Bus read_bus(const Place& place) {
    const ObjectReader read(place, bus_key_table);
    Bus bus;
    bus.kind = as_choice(read.required("kind", "\"switched\", \"bridged\" or \"direct\""), "a bus",
                         bus_kinds);
    bus.lane = read_link(
        read.required("link", "of a device to its bus, such as {\"preset\": \"pcie-3.0-x16\"}"));
    return bus;
}

void read_cards(const Place& nics, MachineShape& shape) {
    const auto cards = static_cast<int>(as_integer(nics, 1, 1024));
    if (shape.bus) shape.bus->cards = cards;
    if (cards > 1 && !shape.bus)
        nics.refuse("divides the devices of a node among its cards; give \"devices_per_node\"");
}

}  // namespace

Keys bus_keys() {
    return bus_key_table;
}

MachineShape read_machine_shape(const ObjectReader& read, const MachineShape& usual) {
    MachineShape shape = usual;
    if (const auto p = read.optional("devices_per_node"))
        shape.devices = static_cast<int>(as_integer(*p, 1, 1024));
    if (const auto p = read.optional("bus")) {
        if (shape.devices == 1)
            p->refuse("joins the devices of a node; give \"devices_per_node\" of 2 or more");
        const int cards = shape.cards();
        shape.bus = read_bus(*p);
        shape.bus->cards = cards;
    } else if (shape.devices > 1 && !shape.bus) {
        static_cast<void>(read.required(
            "bus", "what joins a node's devices, such as {\"kind\": \"switched\", ...}"));
    }
    if (const auto p = read.optional("nics")) read_cards(*p, shape);
    if (shape.devices % shape.cards() != 0)
        read.optional("nics")
            .value_or(read.place())
            .refuse(
                fmt::format("does not divide \"devices_per_node\", {}; each card serves as many "
                            "devices as the others",
                            shape.devices));
    return shape;
}

// Cards are hosts of the fabric, so only a fabric that takes any number of equal ones has several
// each.
void check_fabric_of_cards(const Place& nics, const ObjectReader& cluster) {
    const auto place = cluster.optional("fabric");
    const Json* const fabric = place ? place->json : nullptr;
    if (fabric != nullptr && fabric->is_object() &&
        (fabric->value("kind", Json()) != "star" || fabric->contains("other_links")))
        nics.refuse("is for a \"star\" with identical links");
}

}  // namespace paceline

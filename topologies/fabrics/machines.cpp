#include "topologies/fabrics/machines.hpp"

#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "sim/engine/check.hpp"

namespace paceline {

namespace {

// Numbers of the first bus links of each kind, after the links of the fabric between the machines.
struct Places {
    LinkId up;       // [device]
    LinkId down;     // [device]
    LinkId bridge;   // [machine], if bridged
    LinkId between;  // [device * per_machine + the other's place in the machine], if direct
};

LinkLabel label_of(const Places& places, int per_machine, BusKind kind, LinkId link) {
    if (kind == BusKind::direct) {
        const auto place = static_cast<int>(link - places.between);
        const int from = place / per_machine;
        const int to = from / per_machine * per_machine + place % per_machine;
        return {LinkRole::bus, "device -> device", fmt::format("device {} -> device {}", from, to)};
    }
    if (kind == BusKind::bridged && link >= places.bridge)
        return {LinkRole::bus, "bridge", fmt::format("bridge of node {}", link - places.bridge)};
    const bool up = link < places.down;
    return {LinkRole::bus, up ? "device -> bus" : "bus -> device",
            up ? fmt::format("device {} -> bus", link - places.up)
               : fmt::format("bus -> device {}", link - places.down)};
}

// Returns the names of a link as those of a card of a machine.
LinkLabel of_card(LinkLabel label, int cards) {
    if (label.role != LinkRole::node || label.host < 0) return label;
    const std::string host = fmt::format("node {}", label.host);
    const int machine = label.host / cards;
    if (const auto at = label.name.find(host); at != std::string::npos)
        label.name.replace(at, host.size(),
                           fmt::format("node {} card {}", machine, label.host % cards));
    label.host = machine;
    return label;
}

}  // namespace

Fabric make_machines(int devices, int per_machine, const Bus& bus, Fabric between) {
    PACELINE_CHECK(devices >= 1 && per_machine >= 1, "there is a device or more");
    const int machines = machines_for(devices, per_machine);
    PACELINE_CHECK(bus.cards >= 1 && bus.cards <= per_machine, "each card serves a device");
    PACELINE_CHECK(between.hosts == machines * bus.cards, "the fabric joins the machines' cards");

    Fabric fabric;
    fabric.hosts = devices;
    fabric.machines = MachineSizes(per_machine);
    fabric.links = std::move(between.links);
    fabric.back = std::move(between.back);  // bus links have no reverse link
    const auto add = [&fabric, &bus](std::int64_t count) {
        const auto first = static_cast<LinkId>(fabric.links.size());
        fabric.links.insert(fabric.links.end(), static_cast<std::size_t>(count), bus.lane);
        return first;
    };
    const auto places_begin = static_cast<LinkId>(fabric.links.size());
    Places places{};
    if (bus.kind == BusKind::direct) {
        places.between = add(std::int64_t{devices} * per_machine);
    } else {
        places.up = add(devices);
        places.down = add(devices);
    }
    if (bus.kind == BusKind::bridged) places.bridge = add(machines);

    fabric.label = [places, per_machine, kind = bus.kind, cards = bus.cards, first = places_begin,
                    outside = std::move(between.label)](LinkId link) {
        if (link >= first) return label_of(places, per_machine, kind, link);
        return cards == 1 ? outside(link) : of_card(outside(link), cards);
    };
    fabric.find_route = [places, per_machine, kind = bus.kind, cards = bus.cards,
                         outside = std::move(between.find_route)](int from, int to, Route& route) {
        const int here = from / per_machine;
        const int there = to / per_machine;
        route.clear();
        const auto card = [per_machine, cards](int device) {
            return device / per_machine * cards + device % per_machine * cards / per_machine;
        };
        if (here != there) outside(card(from), card(to), route);
        if (kind == BusKind::direct) {
            if (here == there)
                route.push_back(
                    places.between +
                    static_cast<LinkId>(std::int64_t{from} * per_machine + to % per_machine));
            return;
        }
        if (here == there && kind == BusKind::bridged)
            route.push_back(places.bridge + static_cast<LinkId>(here));
        route.insert(route.begin(), places.up + static_cast<LinkId>(from));
        route.push_back(places.down + static_cast<LinkId>(to));
    };
    return fabric;
}

}  // namespace paceline

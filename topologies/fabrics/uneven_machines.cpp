#include "topologies/fabrics/uneven_machines.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/engine/check.hpp"

namespace paceline {

namespace {

// A machine, and where its devices, cards and bus links begin.
struct StandingMachine {
    int devices = 1;
    int cards = 1;
    std::optional<BusKind> bus{};
    int first_device = 0;
    int first_card = 0;
    LinkId first_link = 0;

    [[nodiscard]] bool has_lanes() const { return bus && *bus != BusKind::direct; }
    [[nodiscard]] int links() const {
        if (!bus) return 0;
        if (*bus == BusKind::direct) return devices * devices;
        return 2 * devices + (*bus == BusKind::bridged ? 1 : 0);
    }
    [[nodiscard]] LinkId up(int device) const {
        return first_link + static_cast<LinkId>(device - first_device);
    }
    [[nodiscard]] LinkId down(int device) const {
        return up(device) + static_cast<LinkId>(devices);
    }
    [[nodiscard]] LinkId bridge() const { return first_link + static_cast<LinkId>(2 * devices); }
    [[nodiscard]] LinkId between(int from, int to) const {
        return first_link +
               static_cast<LinkId>((from - first_device) * devices + to - first_device);
    }
    [[nodiscard]] int card_of(int device) const {
        return first_card + (device - first_device) * cards / devices;
    }
};

struct StandingMachines {
    std::vector<StandingMachine> all;
    MachineSizes sizes;
    LinkId first_bus_link = 0;

    [[nodiscard]] const StandingMachine& of(int device) const {
        return all[static_cast<std::size_t>(sizes.machine_of(device))];
    }
    /// Returns the number of the last machine whose `first` is not above `number`.
    template <class First, class Number>
    [[nodiscard]] std::size_t last_from(First StandingMachine::* first, Number number) const {
        const auto behind = std::ranges::upper_bound(all, number, {}, first);
        return static_cast<std::size_t>(behind - all.begin()) - 1;
    }
};

StandingMachines stand(std::span<const MachineShape> shapes, LinkId first_link) {
    StandingMachines machines;
    machines.first_bus_link = first_link;
    std::vector<int> sizes;
    StandingMachine next{.first_link = first_link};
    for (const MachineShape& shape : shapes) {
        PACELINE_CHECK(shape.devices >= 1 && (shape.devices == 1 || shape.bus),
                       "a bus joins several devices");
        PACELINE_CHECK(shape.cards() >= 1 && shape.cards() <= shape.devices,
                       "each card serves a device");
        next.devices = shape.devices;
        next.cards = shape.cards();
        next.bus.reset();
        if (shape.bus) next.bus = shape.bus->kind;
        machines.all.push_back(next);
        sizes.push_back(shape.devices);
        next.first_device += next.devices;
        next.first_card += next.cards;
        next.first_link += static_cast<LinkId>(next.links());
    }
    machines.sizes = MachineSizes(sizes);
    return machines;
}

LinkLabel label_of_bus(const StandingMachines& machines, LinkId link) {
    // Machines without a bus have no link, and stand before the one that has this.
    const std::size_t number = machines.last_from(&StandingMachine::first_link, link);
    const StandingMachine& machine = machines.all[number];
    const auto place = static_cast<int>(link - machine.first_link);
    if (machine.bus == BusKind::direct)
        return {
            LinkRole::bus, "device -> device",
            fmt::format("device {} -> device {}", machine.first_device + place / machine.devices,
                        machine.first_device + place % machine.devices)};
    if (place == 2 * machine.devices)
        return {LinkRole::bus, "bridge", fmt::format("bridge of node {}", number)};
    const bool up = place < machine.devices;
    const int device = machine.first_device + place % machine.devices;
    return {LinkRole::bus, up ? "device -> bus" : "bus -> device",
            up ? fmt::format("device {} -> bus", device) : fmt::format("bus -> device {}", device)};
}

// Returns the names of a link as those of a card of a machine.
LinkLabel label_of_card(const StandingMachines& machines, LinkLabel label) {
    if (label.role != LinkRole::node || label.host < 0) return label;
    const std::size_t number = machines.last_from(&StandingMachine::first_card, label.host);
    const StandingMachine& machine = machines.all[number];
    const std::string host = fmt::format("node {}", label.host);
    const std::string name = machine.cards == 1 ? fmt::format("node {}", number)
                                                : fmt::format("node {} card {}", number,
                                                              label.host - machine.first_card);
    if (const auto at = label.name.find(host); at != std::string::npos)
        label.name.replace(at, host.size(), name);
    label.host = static_cast<int>(number);
    return label;
}

}  // namespace

Fabric make_uneven_machines(std::span<const MachineShape> machines, Fabric between) {
    PACELINE_CHECK(!machines.empty(), "there is a machine or more");
    const auto standing = std::make_shared<const StandingMachines>(
        stand(machines, static_cast<LinkId>(between.links.size())));
    const StandingMachine& last = standing->all.back();
    PACELINE_CHECK(between.hosts == last.first_card + last.cards,
                   "the fabric joins the machines' cards");
    Fabric fabric;
    fabric.hosts = last.first_device + last.devices;
    fabric.machines = standing->sizes;
    fabric.links = std::move(between.links);
    fabric.back = std::move(between.back);  // bus links have no reverse link
    for (std::size_t m = 0; m < machines.size(); ++m)
        if (machines[m].bus)
            fabric.links.insert(fabric.links.end(),
                                static_cast<std::size_t>(standing->all[m].links()),
                                machines[m].bus->lane);
    fabric.label = [standing, outside = std::move(between.label)](LinkId link) {
        if (link >= standing->first_bus_link) return label_of_bus(*standing, link);
        return label_of_card(*standing, outside(link));
    };
    fabric.find_route = [standing, outside = std::move(between.find_route)](int from, int to,
                                                                            Route& route) {
        const StandingMachine& here = standing->of(from);
        const StandingMachine& there = standing->of(to);
        const bool apart = &here != &there;
        route.clear();
        if (apart) outside(here.card_of(from), there.card_of(to), route);
        if (!apart && here.bus == BusKind::direct) route.push_back(here.between(from, to));
        if (!apart && here.bus == BusKind::bridged) route.push_back(here.bridge());
        if (here.has_lanes()) route.insert(route.begin(), here.up(from));
        if (there.has_lanes()) route.push_back(there.down(to));
    };
    return fabric;
}

}  // namespace paceline

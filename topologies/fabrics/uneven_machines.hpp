// Machines that differ in their devices, buses and network cards, on one fabric.
//
// Each machine is one of machines.hpp: its devices take its own bus, and device i of g devices and
// c cards uses card floor(i c / g). A machine of one device may have no bus; its device then is at
// the card. The machines' cards are the hosts of the fabric between them, in the order of the
// machines.
//
//   device a --lane up--> a's bus --> the fabric between --> b's bus --lane down--> device b
//
// Memory: O(devices), and for `direct` the square of each machine's devices.
#pragma once

#include <optional>
#include <span>

#include "sim/network/fabric.hpp"
#include "topologies/fabrics/machines.hpp"

namespace paceline {

struct MachineShape {
    int devices = 1;
    std::optional<Bus> bus{};  // with its cards

    [[nodiscard]] int cards() const { return bus ? bus->cards : 1; }
    bool operator==(const MachineShape&) const = default;
};

/// Requires a machine or more, a bus where a machine has several devices, from 1 to `devices` cards
/// in each, and that the hosts of `between` are all cards.
Fabric make_uneven_machines(std::span<const MachineShape> machines, Fabric between);

}  // namespace paceline

// Machines with several devices each: the devices are on their machine's bus, and the machines are
// on a fabric of their own.
//
//   device a --lane up--> a's bus --> the machines' fabric --> b's bus --lane down--> device b
//
// The hosts of the resulting fabric are the devices: machine = device / per_machine. Inside a
// machine, a message takes
//   switched   a's lane up, b's lane down: all pairs at once (one PCIe switch)
//   bridged    a's lane up, the machine's bridge, b's lane down: all messages of the machine share
//              one lane's bandwidth (devices on different root ports)
//   direct     a separate link for each pair and direction (NVLink)
// To another machine, it takes a's lane up, the machines' route, and b's lane down. With `direct`,
// the lanes are left out (each device reaches the network card at full speed). A machine of g
// devices has one or more network cards, each a host of the machines' fabric: with c of them,
// device i sends and receives through card floor(i c / g). A message inside a machine costs the
// latencies of its lanes and bridge. Between machines, the latencies of the lanes add to those of
// the network.
//
// Memory: O(devices); for `direct`, O(devices x per_machine).
#pragma once

#include <cstdint>

#include "sim/network/fabric.hpp"

namespace paceline {

enum class BusKind : std::uint8_t { switched, bridged, direct };

struct Bus {
    BusKind kind = BusKind::switched;
    Link lane;      // each way; per device, or per pair if `direct`
    int cards = 1;  // of a machine, towards the network

    bool operator==(const Bus&) const = default;
};

/// Fills machines with `per_machine` devices each; the last may have fewer. `between` joins the
/// machines' cards: card c of machine m is its host m x cards + c. Requires devices >= 1,
/// per_machine >= 1, and from 1 to `per_machine` cards.
Fabric make_machines(int devices, int per_machine, const Bus& bus, Fabric between);

/// Returns how many machines the devices fill.
constexpr int machines_for(int devices, int per_machine) {
    return (devices - 1) / per_machine + 1;
}

}  // namespace paceline

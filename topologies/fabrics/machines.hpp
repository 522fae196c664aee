// Machines with several devices each: the devices hang on their machine's bus, and the machines on
// a fabric of their own.
//
//   device a --lane up--> bus of a's machine --> the machines' fabric --> bus --lane down--> device b
//
// The hosts of the fabric made here are the devices: machine = device / per_machine. Inside a
// machine a message takes
//   switched   a's lane up, b's lane down: all pairs at once (one PCIe switch)
//   bridged    a's lane up, the machine's bridge, b's lane down: one lane's bandwidth for all
//              messages of the machine together (devices on different root ports)
//   direct     a link of their own for each pair and direction (NVLink)
// and to another machine a's lane up, the machines' route, b's lane down; with `direct` the lanes
// are not passed (each device reaches the network card at full speed). A message inside a machine
// costs the latencies of its lanes and bridge; those of the lanes add to what the network costs.
//
// Memory: O(devices), direct: O(devices x per_machine).
#pragma once

#include <cstdint>

#include "sim/network/fabric.hpp"

namespace paceline {

enum class BusKind : std::uint8_t { switched, bridged, direct };

struct Bus {
    BusKind kind = BusKind::switched;
    Link lane;  // each way; of a device, or of a pair if `direct`
};

/// Devices that fill machines of `per_machine`; the last may have fewer. `between` joins the
/// machines and has as many hosts as there are. Requires devices, per_machine >= 1.
Fabric make_machines(int devices, int per_machine, const Bus& bus, Fabric between);

/// How many machines these devices fill.
constexpr int machines_for(int devices, int per_machine) {
    return (devices - 1) / per_machine + 1;
}

}  // namespace paceline

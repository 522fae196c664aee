// Which hosts share a machine, and what each host has exchanged with other machines.
//
// Hosts of one machine are numbered consecutively. Traffic inside a machine is not counted.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/engine/machine_sizes.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// What a host has exchanged with other machines.
struct Traffic {
    Bytes sent;
    Bytes received;
    Bytes wasted{};  // sent bytes that an outage lost, each loss rounded to a byte
};

struct MachineTraffic {
    MachineSizes machines{};
    std::vector<Traffic> traffic{};  // [host]

    /// Returns whether a message crosses the network between machines.
    [[nodiscard]] bool are_apart(int from, int to) const {
        return machines.one_each() || machines.machine_of(from) != machines.machine_of(to);
    }
    [[nodiscard]] Traffic& of(int host) { return traffic[static_cast<std::size_t>(host)]; }
    [[nodiscard]] const Traffic& of(int host) const {
        return traffic[static_cast<std::size_t>(host)];
    }

    // These count a message from one host to another, if their machines differ.
    void count_sent(int from, int to, Bytes size) {
        if (are_apart(from, to)) of(from).sent += size;
    }
    void count_received(int from, int to, Bytes size) {
        if (are_apart(from, to)) of(to).received += size;
    }
    void count_wasted(int from, int to, Bytes size) {
        if (are_apart(from, to)) of(from).wasted += size;
    }
};

}  // namespace paceline

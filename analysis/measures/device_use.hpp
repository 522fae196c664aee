// What a job's machines have done by a time: what energy and money are computed from.
//
//   computing       gradients, updates, coding (algorithms/runtime/time_use.hpp)
//   communicating   waiting for messages
//   waiting         for stragglers and for the dead, and while checkpoints are written
//   away            not there: neither rented nor under power
//   computing + communicating + waiting + away  =  workers x the time
//
// Communication that hides behind computing counts as computing.
#pragma once

#include "algorithms/runtime/cluster.hpp"
#include "sim/network/network_part.hpp"

namespace paceline {

/// Seconds and bytes are sums over workers.
struct DeviceUse {
    double time_s = 0;  // since the start; not a sum
    double computing_s = 0;
    double communicating_s = 0;
    double waiting_s = 0;
    double away_s = 0;
    double sent_gb = 0;  // 1e9 bytes, drained between machines
    double received_gb = 0;

    [[nodiscard]] double device_hours() const {
        return (computing_s + communicating_s + waiting_s) / 3600;
    }
};

/// Returns what the workers have done until `now`, the time of the simulation.
DeviceUse device_use(const Cluster& cluster, NetworkPart network, Time now);

}  // namespace paceline

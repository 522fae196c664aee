// The star: every host has one full-duplex cable to one switch that never blocks.
//
//   host i  --up_i-->  switch  --down_j-->  host j
//
// Links 0 .. hosts-1 go up, hosts .. 2 hosts-1 go down. A route is two links and costs both
// latencies. Bisection: all hosts can send and receive at full rate at once. Memory O(hosts).
#pragma once

#include "sim/network/fabric.hpp"

namespace paceline {

/// `up` and `down` are as seen from the hosts. Requires hosts >= 1.
Fabric make_star(int hosts, const Link& up, const Link& down);

/// Return the links of a host in a star of `hosts`.
constexpr LinkId star_up(int host) {
    return static_cast<LinkId>(host);
}
constexpr LinkId star_down(int host, int hosts) {
    return static_cast<LinkId>(hosts + host);
}

}  // namespace paceline

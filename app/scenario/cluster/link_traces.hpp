// Reads bandwidth traces: how the links of a node change over time.
//
//     time_s,up_mbps,down_mbps
//     0,6.3,21.3
//     12.5,0,0
//
// A row is valid from its time on. Times are seconds from the start; the first is 0 and each is
// later than the one before. Bandwidths are line rates in megabits per second; "up" is from the
// node into the network, and 0 means that the link is down. Lines end in LF or CR LF; empty lines
// are skipped.
#pragma once

#include "app/json/object_reader.hpp"
#include "sim/network/link_processes.hpp"

namespace paceline {

/// Reads the trace whose file `place` names, without its period. Throws a ConfigError that names
/// file and line.
LinkTrace read_link_trace(const Place& place);

}  // namespace paceline

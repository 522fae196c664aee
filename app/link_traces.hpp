// Traces of bandwidth in files: how the links of a node change over time.
//
//     time_s,up_mbps,down_mbps
//     0,6.3,21.3
//     12.5,0,0
//
// A row holds from its time on. Times are seconds from the start, the first 0, each later than the
// one before; bandwidths are line rates in megabits per second, up as seen from the node; 0 is down.
// Lines end in LF or CR LF; empty lines do not count.
#pragma once

#include <filesystem>

#include "sim/engine/units.hpp"
#include "sim/network/link_processes.hpp"

namespace paceline {

/// Without its period. Throws ConfigError, which names file and line.
LinkTrace read_link_trace(const std::filesystem::path& path);

}  // namespace paceline

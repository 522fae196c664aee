// Reads bandwidth traces: how the links of a node change over time.
//
//     time_s,up_mbps,down_mbps
//     0,6.3,21.3
//     12.5,0,0
//
// A row is valid from its time on. Times are seconds from the start; the first is 0 and each is
// later than the one before. Bandwidths are line rates in megabits per second; "up" is from the
// node into the network, and 0 means that the link is down. Lines end in LF or CR LF; empty lines
// are skipped. Columns may stand in any order.
//
// Two other formats have one way in a file, and wrap around at its last time:
//
//   mahimahi    a whole number a line: the millisecond in which one more packet of 1500 bytes may
//               pass. The rate is the mean over intervals, each of which has the packets of its
//               milliseconds (begin, end].
//   pensieve    lines of a time in seconds and a rate in Mbps, which holds from the time of the
//               line before on; the first line only begins the trace.
//
// Sources: Netravali et al., USENIX ATC 2015 (mm-link); Mao et al., SIGCOMM 2017 (Pensieve's
// simulator, env.py).
#pragma once

#include <optional>

#include "app/json/object_reader.hpp"
#include "sim/network/link_processes.hpp"

namespace paceline {

/// Reads the trace whose file `place` names, without its period. Throws a ConfigError that names
/// file and line.
LinkTrace read_link_trace(const Place& place);

/// A way in a file each, or the same one for both.
struct TraceFiles {
    Place down;
    std::optional<Place> up{};
};

/// Read such traces. The period is that of the longer way; the other one is repeated within it.
/// Throw ConfigError as above.
LinkTrace read_mahimahi(const TraceFiles& files, Duration interval);
LinkTrace read_pensieve(const TraceFiles& files);

}  // namespace paceline

// The "transport" of a cluster: what the protocol takes from the wires between machines.
//
// "ideal" takes nothing. "tcp" has figures that are derived (below), and bounds on the rate of a
// flow or of a host, which are measured: a preset (app/scenario/cluster/transports.json) has that
// of a flow with its source, and the key replaces it.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "app/json/object_reader.hpp"
#include "sim/engine/units.hpp"
#include "sim/network/flow_limits.hpp"

namespace paceline {

/// TCP on the wires: the share of the rate that it leaves for payload, and its costs.
///
/// The goodput of 1500-byte frames is 1448/1538. One acknowledgement (84 bytes including its frame)
/// is sent for every two segments: while both directions of a cable are busy, 1 - 84/(2 x 1538) of
/// it is left for data. Ten segments are sent before the first answer (RFC 6928). These figures are
/// derived, not fitted.
struct Tcp {
    double goodput = 1448.0 / 1538;  // for links that state no efficiency
    double duplex_share = 1 - 84.0 / (2 * 1538);
    Duration message_cost{};  // per message, on the sender's processor
    Duration receive_cost{};  // per message, on the receiver's
    /// Returns the goodput of a link with this rate. At least 2 bps are left.
    [[nodiscard]] double goodput_of(Bandwidth rate) const {
        return std::min(1.0, std::max(goodput, 2.0 / static_cast<double>(rate.bits_per_second)));
    }
    Bytes first_window{14'480};            // ten segments
    FlowLimits flow{};                     // of each flow
    std::optional<Bandwidth> host_rate{};  // of all flows of a machine, each way
};

struct TransportPreset {
    std::string name;
    Bandwidth flow_rate{};
    std::string source;
};

Keys transport_keys();

/// Returns all presets, in the order of the file.
const std::vector<TransportPreset>& transport_presets();

/// Returns nothing for "ideal". Throws ConfigError.
std::optional<Tcp> read_transport(const Place& place);

}  // namespace paceline

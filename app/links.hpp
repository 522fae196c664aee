// Links as a scenario describes them: a preset by name, explicit figures, or a preset with some of
// them replaced.
//
// A preset (app/links.json) states the latency host to host across one switch, one way or as a
// round trip, whichever its source has; on a star half of the one-way latency belongs to the link
// up and half to the link down. An explicit "latency" is that of one link. "bandwidth" is the rate
// into the host, and out of it too unless "bandwidth_up" says otherwise. "jitter" and "loss" are
// those of one link, each way; presets have none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/object_reader.hpp"
#include "sim/network/fabric.hpp"

namespace paceline {

struct LinkPreset {
    std::string name;
    Bandwidth bandwidth;                    // into the host
    std::optional<Bandwidth> bandwidth_up;  // from the host, where that is not the same
    Duration one_way_latency{};             // host to host
    double efficiency = 1;
    std::string source;
};

/// A full-duplex cable between a host and the network.
struct Cable {
    Link up;  // from the host
    Link down;
};

/// One preset from its JSON, its round trip halved. Throws ConfigError.
LinkPreset read_link_preset(const Place& place);

/// All presets, in the order of the file.
std::vector<LinkPreset> link_presets();

Keys link_keys();

/// The two links between a host and the switch.
Cable read_cable(const Place& place);

/// One of two equal links. Throws ConfigError where they are not equal.
Link read_link(const Place& place);

}  // namespace paceline

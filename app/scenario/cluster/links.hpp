// Links as a scenario describes them: a named preset, explicit figures, or a preset with some of
// its figures replaced.
//
// A preset (app/scenario/cluster/links.json) states the latency from host to host across one
// switch, either one way or as a round trip, whichever its source gives. On a star, half of the
// one-way latency belongs to the uplink and half to the downlink. An explicit "latency" is that of
// one link. "bandwidth" is the rate into the host, and also out of it unless "bandwidth_up" says
// otherwise. "jitter" and "loss" are those of one link, in each direction; presets have neither.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/json/object_reader.hpp"
#include "sim/network/fabric.hpp"

namespace paceline {

struct LinkPreset {
    std::string name;
    Bandwidth bandwidth;                    // into the host
    std::optional<Bandwidth> bandwidth_up;  // from the host, where that differs
    Duration one_way_latency{};             // host to host
    double efficiency = 1;
    std::string source;
};

/// A full-duplex cable between a host and the network.
struct Cable {
    Link up;  // from the host
    Link down;

    bool operator==(const Cable&) const = default;
};

/// Reads one preset from its JSON and halves its round trip. Throws ConfigError.
LinkPreset read_link_preset(const Place& place);

/// Returns all presets, in the order of the file.
const std::vector<LinkPreset>& link_presets();

Keys link_keys();

/// Reads the two links between a host and the switch.
Cable read_cable(const Place& place);

/// Reads a link that stands for two equal ones. Throws ConfigError if they are not equal.
Link read_link(const Place& place);

}  // namespace paceline

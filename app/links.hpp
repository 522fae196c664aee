// Links as a scenario describes them: a preset by name, explicit figures, or a preset with some of
// them replaced.
//
// A preset (app/links.json) states the one-way latency host to host across one switch; on a star
// half of it belongs to the link up and half to the link down. An explicit "latency" is that of one
// link.
#pragma once

#include <string>
#include <vector>

#include "app/object_reader.hpp"
#include "sim/network/fabric.hpp"

namespace paceline {

struct LinkPreset {
    std::string name;
    Bandwidth bandwidth;
    Duration one_way_latency{};  // host to host
    double efficiency = 1;
    std::string source;
};

/// All presets, in the order of the file.
std::vector<LinkPreset> link_presets();

Keys link_keys();

/// One of two equal links between a host and the switch.
Link read_link(const Place& place);

}  // namespace paceline

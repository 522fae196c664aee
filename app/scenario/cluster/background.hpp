// The "cluster.background" of a scenario: traffic from other users on the same wires.
//
//   {"kind": "constant", "from": 3, "to": 7, "rate": "500Mbps"}
//   {"kind": "on-off", "from": 3, "to": 7, "rate": "1Gbps", "on": "2s", "off": "8s"}
//
// Sources run from the beginning to the end of a run and do not keep the run alive. Their bytes are
// not counted in any node's columns. Node numbers are those of the fabric, whatever the placement
// of the job.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "app/json/object_reader.hpp"
#include "sim/messages/background.hpp"

namespace paceline {

struct Background {
    int from = 0;
    int to = 1;
    BackgroundSource source;
};

struct BackgroundEntry {
    std::string_view name;
    Keys keys;
};

std::span<const BackgroundEntry> background_table();

/// Reads a list of sources on a fabric with this many nodes. Throws ConfigError.
std::vector<Background> read_background(const Place& place, int nodes);

}  // namespace paceline

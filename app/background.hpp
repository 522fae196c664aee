// The "cluster.background" of a scenario: traffic of others on the same wires.
//
//   {"kind": "constant", "from": 3, "to": 7, "rate": "500Mbps"}
//   {"kind": "on-off", "from": 3, "to": 7, "rate": "1Gbps", "on": "2s", "off": "8s"}
//
// Sources run from the beginning to the end of a run and keep none alive; their bytes are in no
// node's columns. Nodes are those of the fabric, whatever the placement of the job.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "app/object_reader.hpp"
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

/// A list of sources, on a fabric of so many nodes. Throws ConfigError.
std::vector<Background> read_background(const Place& place, int nodes);

}  // namespace paceline

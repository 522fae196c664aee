// Random scenarios about the network: any fabric, collective and mixing of the schema, latencies up
// to 10 ms, several jobs, stragglers, and links that change. In every other one nodes die and
// return often.
//
// Both generators behind it read the names of fabrics, mixings and collectives from the schema, so
// what is added there is drawn as well.
#pragma once

#include <cstdint>

#include "app/json/json_file.hpp"

namespace paceline {

/// The same seed gives the same scenario, byte for byte. It names files of companions().
Json network_scenario(std::uint64_t seed);

}  // namespace paceline

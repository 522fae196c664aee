// The "coding" of a codec: how long it was measured to take, for one codec on one device.
//
// Given as times per tensor and per entry, or as the name of a device whose figures are known
// (app/scenario/aggregations/coding.json). They replace the codec's passes, so neither
// "coding_step" nor DGC's "selection" goes with them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "algorithms/compression/coding.hpp"
#include "app/json/object_reader.hpp"

namespace paceline {

/// A row of the table.
struct KnownCoding {
    std::string device;
    std::string codec;
    MeasuredCoding times;
    std::string source;
};

/// Returns all rows, in the order of the file.
const std::vector<KnownCoding>& known_codings();

Keys measured_coding_keys();
Keys coding_time_keys();

/// Reads the value of "coding" in the object of a codec. Throws ConfigError.
MeasuredCoding read_measured_coding(const Place& place, std::string_view codec, const Json& object);

}  // namespace paceline

// The table of compressors by name: the values that the "compressor" of an algorithm can take.
//
//   {"kind": "qsgd", "levels": 127, "bucket": 512}
//   {"kind": "top-k", "density": 0.01}
#pragma once

#include <span>
#include <string_view>

#include "algorithms/compression/compressor.hpp"
#include "app/json/object_reader.hpp"

namespace paceline {

struct CompressorEntry {
    std::string_view name;
    std::string_view summary;
    Compressor (*read)(const ObjectReader& read);
};

std::span<const CompressorEntry> compressor_table();

/// Returns the keys that a compressor's object can have.
Keys compressor_keys(const CompressorEntry& entry);

/// Throws ConfigError.
Compressor read_compressor(const Place& place);

/// The same for a method whose messages do not go to all workers: refuses votes and shared scalers.
Compressor read_compressor_of_own(const Place& place);

/// Reads the options of a compressor of the table from an object that may have other keys, too.
Compressor read_compressor_options(const ObjectReader& read, std::string_view name);

}  // namespace paceline

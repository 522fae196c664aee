// The table of compressors by name: codecs whose messages are functions of one vector.
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

/// Reads the options of a compressor of the table from an object that may have other keys, too.
Compressor read_compressor_options(const ObjectReader& read, std::string_view name);

}  // namespace paceline

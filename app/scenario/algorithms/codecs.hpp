// What a scenario can send: the values of "codec", by name.
//
//   {"kind": "qsgd", "levels": 127, "error_feedback": true, "leave_out": ["fc8", -1]}
//
// A compressor (compressors.hpp), or one of the codecs that remember more than an error.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "algorithms/coders/codec.hpp"
#include "app/json/object_reader.hpp"
#include "app/scenario/algorithms/algorithm_entry.hpp"

namespace paceline {

struct CodecEntry {
    std::string_view name;
    std::string_view summary;
};

/// Returns all codecs: none, the compressors, and those with a memory of their own.
std::span<const CodecEntry> codec_table();

/// Returns the keys that the object of a codec can have.
Keys codec_keys(std::string_view name);

/// Reads a codec's name or object. Throws ConfigError.
Codec read_codec(const Place& place, const AlgorithmInput& in);

/// Reads a list of tensors, by name or by place.
std::vector<TensorChoice> read_choices(const Place& place);

/// Throws ConfigError if an algorithm's codec, or its inner optimizer, leaves out a tensor that the
/// model does not have. A
/// net that trains in place of the model may have it instead; null: there is none.
void check_left_out(const Place& algorithm, const Layout& layout, const Layout* stand_in);

/// Read the options of DGC, and those that it shares with gradient dropping.
DgcOptions read_dgc_options(const ObjectReader& read, const Optimizer& optimizer);
void read_sparse_messages(const ObjectReader& read, double& density, DensityLaw& law,
                          SparseFormat& format, SelectionCost& selection);
/// Reads how the largest entries are found: "selection" and "selection_step".
void read_selection(const ObjectReader& read, SelectionCost& selection);

}  // namespace paceline

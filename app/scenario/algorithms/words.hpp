// Words of earlier scenarios, and names that people type, become today's words before an algorithm
// is read.
//
//   {"kind": "compressed-sgd", "compressor": {"kind": "qsgd"}, "exchange": "all-gather-bruck"}
//   {"kind": "sgd", "codec": {"kind": "qsgd"}, "aggregation": {"kind": "all-gather", "how":
//   "bruck"}}
//
// Two tables say all of it. A name that is not a kind stands for a kind with some keys, which the
// scenario's own keys of the same names replace, objects key by key: "ddp" is "sgd" with a
// schedule. A key that is not a word of today stands for a word within "codec", "aggregation" or
// "schedule"; what its kind uses there by itself is said beside it, and also beside an object that
// names no kind: {"kind": "dense", "aggregation": {"plan": "tree"}} goes by all-reduce. The label
// of an algorithm stays the name that was typed.
//
// There is one reader, of today's words. Its errors name the key that the user wrote: Words knows
// where each of today's words came from. Files of "version" 1, 2 or of none are read alike.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/json/config_error.hpp"
#include "app/json/json_file.hpp"
#include "app/json/object_reader.hpp"

namespace paceline {

/// A name that stands for a kind and some of its keys.
struct AlgorithmAlias {
    std::string_view name;
    std::string_view stands_for;  // an object, as JSON
    std::string_view summary;     // empty: a name of earlier scenarios alone
};
std::span<const AlgorithmAlias> algorithm_aliases();

/// An algorithm in today's words.
struct Words {
    std::shared_ptr<Json> algorithm;
    std::string typed;                                      // the kind, as the user wrote it
    std::vector<std::pair<std::string, std::string>> from;  // today's path, and the user's

    /// Returns the same error at the key that the user wrote. `path` leads to the algorithm.
    [[nodiscard]] ConfigError in_users_words(const ConfigError& error,
                                             const std::string& path) const;
};

/// Returns where a path of a scenario, such as "algorithm.compressor.levels", leads today.
std::string path_in_todays_words(const std::string& path);

/// Throws ConfigError if an old word says what a word of today says, too. Objects that are no
/// algorithm stay as they are.
Words in_todays_words(const Place& algorithm);

}  // namespace paceline

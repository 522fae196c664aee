// An algorithm in the words "codec", "transport" and "schedule" (version 2 of scenarios).
//
//   {"kind": "compressed-sgd", "compressor": {"kind": "qsgd"}, "exchange": "all-gather-bruck"}
//   {"kind": "sgd", "codec": {"kind": "qsgd", "error_feedback": false},
//    "transport": {"kind": "all-gather", "how": "bruck"}, "schedule": "whole"}
//
// Kinds whose step is their own keep their name. Whatever else a kind has stays as it is, the "wire"
// too: it is the width of numbers that no codec encodes.
#pragma once

#include <span>
#include <string_view>

#include "app/json/json_file.hpp"
#include "app/json/object_reader.hpp"

namespace paceline {

/// Returns an algorithm in these words, with all three spelled out where its kind has a choice. Requires
/// an algorithm that has been read.
Json new_form(const Json& algorithm);

/// Refuses a word that version 2 has another one for, and says which. Requires an algorithm that is
/// well-formed.
void refuse_old_words(const Place& algorithm);

/// A word of version 1, and the one that stands for it in version 2, where a kind has them.
struct ReplacedWord {
    std::string_view word;
    std::string_view by;
};
std::span<const ReplacedWord> replaced_words();

}  // namespace paceline

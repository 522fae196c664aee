// A text file as tokens, for language models.
//
//   words        what lies between blanks, as it is written; a line's end is the word "<eos>"
//   characters   the file's bytes
//
// Token 0 is "<unk>": every word beyond the vocabulary, and the word "<unk>" itself. The others are
// the words that training has most of, in falling order, equals in the order of appearance. The last
// part of the text is the test set; it has no say in the vocabulary. Plain or gzip.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "models/data/dataset.hpp"

namespace paceline {

enum class TextUnit : std::uint8_t { words, characters };

struct TextOptions {
    TextUnit unit = TextUnit::words;
    int vocabulary = 10000;  // "<unk>" included
    int steps = 32;
    double test_share = 0.1;  // of the tokens, rounded; at the end of the file
};

struct Text {
    Dataset data;
    std::vector<std::string> words;  // of token 0, 1, ...; as many as there are, data.classes
};

/// Throws DataError if the file cannot be read, has a NUL in it (is no text), or either part is
/// shorter than a sample. Requires vocabulary >= 2, steps >= 1, test_share in [0, 1); with 0 there
/// is no test set.
Text read_text(const std::filesystem::path& path, const TextOptions& options);

}  // namespace paceline

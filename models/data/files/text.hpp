// A text file as tokens, for language models.
//
//   words        what is between blanks, unchanged; the end of a line is the word "<eos>"
//   characters   the file's bytes
//
// A byte-order mark is skipped.
//
// Token 0 is "<unk>", which stands for every word outside the vocabulary and for the word "<unk>"
// itself. The others are the most frequent words of the training part, in decreasing order; ties
// are in order of appearance. The last part of the text is the test set, which does not affect the
// vocabulary.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/data/dataset.hpp"
#include "models/data/files/file_content.hpp"

namespace paceline {

enum class TextUnit : std::uint8_t { words, characters };

struct TextOptions {
    TextUnit unit = TextUnit::words;
    int vocabulary = 10000;  // includes "<unk>"
    int steps = 32;
    double test_share = 0.1;  // of the tokens, rounded; at the end of the file
};

struct Text {
    Dataset data;
    std::vector<std::string> words;  // of tokens 0, 1, ..., data.classes - 1
};

/// Throws DataError if the file contains a NUL (so is not text), or either part is shorter than a
/// sample. Requires vocabulary >= 2, steps >= 1 and test_share in [0, 1). With test_share 0 there
/// is no test set.
Text read_text(const FileContent& file, const TextOptions& options);

}  // namespace paceline

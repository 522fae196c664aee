#include "models/data/files/text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "models/data/files/data_error.hpp"
#include "models/data/tokens.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

/// The words of a text in order of appearance, and the text as word numbers.
struct Words {
    std::vector<std::string_view> words{"<unk>"};
    std::vector<int> text;

    void append(std::string_view word) {
        const auto [found, is_new] = numbers_.try_emplace(word, static_cast<int>(words.size()));
        if (is_new) words.push_back(word);
        text.push_back(found->second);
    }

  private:
    std::unordered_map<std::string_view, int> numbers_{{"<unk>", 0}};
};

Words split(std::string_view text, TextUnit unit) {
    Words words;
    if (unit == TextUnit::characters) {
        for (std::size_t i = 0; i < text.size(); ++i) words.append(text.substr(i, 1));
        return words;
    }
    constexpr std::string_view blanks = " \t\r\v\f\n";
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find_first_of(blanks, at), text.size());
        if (end > at) words.append(text.substr(at, end - at));
        if (end < text.size() && text[end] == '\n') words.append("<eos>");
        at = end + 1;
    }
    return words;
}

/// Returns the token of each word: 0, or its rank among the most frequent words of this part.
std::vector<int> number_by_frequency(std::span<const int> part, std::size_t words, int vocabulary) {
    std::vector<std::int64_t> counts(words);
    for (const int word : part) ++counts[static_cast<std::size_t>(word)];
    std::vector<int> by_frequency(words - 1);  // all but <unk>
    std::iota(by_frequency.begin(), by_frequency.end(), 1);
    const auto count = [&](int word) { return counts[static_cast<std::size_t>(word)]; };
    std::erase_if(by_frequency, [&](int word) { return count(word) == 0; });
    std::ranges::stable_sort(by_frequency, [&](int a, int b) { return count(a) > count(b); });
    std::vector<int> tokens(words, 0);
    int next = 1;
    for (const int word : by_frequency)
        if (next < vocabulary) tokens[static_cast<std::size_t>(word)] = next++;
    return tokens;
}

void check_length(const FileContent& file, std::size_t tokens, int steps, const char* part) {
    if (tokens > static_cast<std::size_t>(steps)) return;
    throw DataError(file.name, file.bytes.size(),
                    fmt::format("the {} part of the text has {} tokens; a sample has {}", part,
                                tokens, std::int64_t{steps} + 1));
}

}  // namespace

Text read_text(const FileContent& file, const TextOptions& options) {
    PACELINE_CHECK(options.vocabulary >= 2, "a vocabulary has a word besides <unk>");
    PACELINE_CHECK(options.steps >= 1 && options.steps < std::numeric_limits<int>::max(),
                   "a sample predicts a token or more");
    PACELINE_CHECK(options.test_share >= 0 && options.test_share < 1, "a share is in [0, 1)");
    const std::string_view content = text_of(file);
    if (const std::size_t nul = content.find('\0'); nul != std::string_view::npos)
        throw DataError(file.name, file.bytes.size() - content.size() + nul,
                        "a NUL byte, which text cannot contain");

    Words words = split(content, options.unit);
    const double share = std::round(options.test_share * static_cast<double>(words.text.size()));
    const std::size_t train = words.text.size() - static_cast<std::size_t>(share);
    check_length(file, train, options.steps, "training");
    if (options.test_share > 0)
        check_length(file, words.text.size() - train, options.steps, "test");

    const std::vector<int> tokens = number_by_frequency(std::span(words.text).first(train),
                                                        words.words.size(), options.vocabulary);
    for (int& word : words.text) word = tokens[static_cast<std::size_t>(word)];
    Text text;
    text.words.resize(static_cast<std::size_t>(*std::ranges::max_element(tokens)) + 1);
    text.words[0] = "<unk>";
    for (std::size_t word = 1; word < tokens.size(); ++word)
        if (tokens[word] > 0)
            text.words[static_cast<std::size_t>(tokens[word])] = words.words[word];
    text.data.train.tokens = cut_tokens(std::span(words.text).first(train), options.steps);
    text.data.test.tokens = cut_tokens(std::span(words.text).subspan(train), options.steps);
    text.data.predicts = Prediction::next_token;
    text.data.classes = static_cast<int>(text.words.size());
    return text;
}

}  // namespace paceline

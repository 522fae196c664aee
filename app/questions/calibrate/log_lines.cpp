#include "app/questions/calibrate/log_lines.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/engine/read_decimal.hpp"

namespace paceline {

namespace {

constexpr std::string_view log_blanks = " \t\r\v\f";
constexpr std::size_t most_places_named = 3;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

std::string_view without_launcher(std::string_view line) {
    if (line.starts_with('['))
        for (const std::string_view tag : {"]<stdout>:", "]<stderr>:"})
            if (const std::size_t at = line.find(tag); at != std::string_view::npos)
                return without_blanks(line.substr(at + tag.size()));
    const auto digits =
        static_cast<std::size_t>(std::ranges::find_if_not(line, &is_digit) - line.begin());
    if (digits > 0 && digits < line.size() && line[digits] == ':' &&
        (digits + 1 == line.size() || line[digits + 1] == ' '))
        return without_blanks(line.substr(digits + 1));
    return line;
}

}  // namespace

std::string_view without_blanks(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(log_blanks), text.size()));
    return text.substr(0, text.find_last_not_of(log_blanks) + 1);
}

std::vector<LogLine> lines_of_log(std::string_view text) {
    std::vector<LogLine> lines;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = without_launcher(without_blanks(text.substr(0, end)));
        if (!line.empty()) lines.push_back({number, line});
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

std::vector<std::string_view> words_of_line(std::string_view line) {
    std::vector<std::string_view> words;
    for (line = without_blanks(line); !line.empty(); line = without_blanks(line)) {
        const std::size_t end = std::min(line.find_first_of(log_blanks), line.size());
        words.push_back(line.substr(0, end));
        line.remove_prefix(end);
    }
    return words;
}

std::optional<double> positive_in(std::string_view word) {
    double number = 0;
    const auto [end, error] = read_decimal(word, number);
    if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
    if (!std::isfinite(number) || number <= 0) return std::nullopt;
    return number;
}

std::optional<std::int64_t> whole_in(std::string_view word) {
    if (word.empty() || !is_digit(word.front())) return std::nullopt;
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
    return number;
}

void LeftOut::add(std::string_view reason, std::string place) {
    auto found = std::ranges::find(
        reasons_, reason, [](const auto& entry) -> std::string_view { return entry.first; });
    if (found == reasons_.end()) found = reasons_.insert(reasons_.end(), {std::string(reason), {}});
    found->second.push_back(std::move(place));
}

std::vector<std::string> LeftOut::texts() const {
    std::vector<std::string> texts;
    for (const auto& [reason, places] : reasons_) {
        const std::size_t named = std::min(places.size(), most_places_named);
        const std::string first = fmt::format(
            "{}",
            fmt::join(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(named), ", "));
        const std::string more =
            places.size() > named ? fmt::format(" and {} more", places.size() - named) : "";
        texts.push_back(fmt::format("{}{}: {}", first, more, reason));
    }
    return texts;
}

}  // namespace paceline

#include "app/json/config_error.hpp"

#include <utility>

#include <fmt/format.h>

#include "app/json/printable.hpp"

namespace paceline {

namespace {

constexpr std::size_t longest_path = 100;
constexpr std::size_t longest_problem = 560;

// Returns at most `most` bytes of the text, and no part of a character of UTF-8 at their end.
std::string_view cut(std::string_view text, std::size_t most) {
    if (text.size() <= most) return text;
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80) --most;
    return text.substr(0, most);
}

std::string message(const std::string& file, std::string_view path, std::string_view problem) {
    const std::string where = one_line(path, longest_path);
    return fmt::format("{}: {}{}{}", printable(file), where, where.empty() ? "" : ": ",
                       one_line(problem, longest_problem));
}

}  // namespace

std::string one_line(std::string_view text, std::size_t most) {
    const std::string line = printable(cut(text, most));
    return std::string(cut(line, most));
}

ConfigError::ConfigError(const std::string& file, std::string_view path, Fault fault)
    : std::runtime_error(message(file, path, fault.problem)),
      file_(file),
      path_(one_line(path, longest_path)),
      fault_(std::move(fault)) {
    fault_.problem = one_line(fault_.problem, longest_problem);
}

ConfigError::ConfigError(ConfigError first, std::vector<ConfigError> others)
    : ConfigError(std::move(first)) {
    others_ = std::move(others);
}

std::vector<std::string> messages_of(const ConfigError& error) {
    std::vector<std::string> messages{error.what()};
    for (const ConfigError& other : error.others()) messages.emplace_back(other.what());
    return messages;
}

}  // namespace paceline

#include "app/json/config_error.hpp"

#include <fmt/format.h>

namespace paceline {

namespace {

constexpr std::size_t longest_path = 100;
constexpr std::size_t longest_problem = 560;

std::string message(const std::string& file, std::string_view path, std::string_view problem) {
    const std::string where = one_line(path, longest_path);
    return fmt::format("{}: {}{}{}", file, where, where.empty() ? "" : ": ",
                       one_line(problem, longest_problem));
}

}  // namespace

std::string one_line(std::string_view text, std::size_t most) {
    std::string line;
    for (const char c : text) {
        if (line.size() >= most) break;
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\n')
            line += "\\n";
        else if (byte < 0x20 || byte == 0x7F)
            line += fmt::format("\\x{:02x}", byte);
        else
            line += c;
    }
    return line;
}

ConfigError::ConfigError(const std::string& file, std::string_view path, std::string_view problem)
    : std::runtime_error(message(file, path, problem)),
      file_(file),
      path_(one_line(path, longest_path)),
      problem_(one_line(problem, longest_problem)) {}

}  // namespace paceline

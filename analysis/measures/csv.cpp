#include "analysis/measures/csv.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paceline {

std::string csv_field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

std::string csv_field(double number) {
    return fmt::format("{}", number);
}

std::string csv_field(const std::optional<double>& number) {
    return number ? csv_field(*number) : std::string();
}

std::string csv_row(std::span<const std::string> fields) {
    return fmt::format("{}\n", fmt::join(fields, ","));
}

}  // namespace paceline

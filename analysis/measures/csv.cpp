#include "analysis/measures/csv.hpp"

#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/engine/read_decimal.hpp"

namespace paceline {

namespace {

bool is_number(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    double number = 0;
    const auto [end, error] = read_decimal(text, number);
    return error == std::errc() && end == text.data() + text.size();
}

// Returns whether a spreadsheet would take the text for a formula, or for one that is marked as
// text.
bool looks_like_a_formula(std::string_view text) {
    const std::size_t first = text.find_first_not_of('\'');
    return first != std::string_view::npos &&
           std::string_view("=+-@\t").find(text[first]) != std::string_view::npos &&
           !is_number(text);
}

// Takes the first field of a text away, but not what ends it, and returns it.
std::string take_field(std::string_view& text) {
    std::string field;
    bool quoted = false;
    for (; !text.empty(); text.remove_prefix(1)) {
        const char c = text.front();
        if (c == '"' && quoted && text.substr(1).starts_with('"')) {
            field += c;
            text.remove_prefix(1);
        } else if (c == '"') {
            quoted = !quoted;
        } else if (!quoted && (c == ',' || c == '\n')) {
            break;
        } else {
            field += c;
        }
    }
    if (field.starts_with('\'') && looks_like_a_formula(field)) field.erase(0, 1);
    return field;
}

}  // namespace

std::string csv_field(std::string_view text) {
    const bool is_formula = looks_like_a_formula(text);
    if (!is_formula && text.find_first_of(",\"\r\n") == std::string_view::npos)
        return std::string(text);
    std::string quoted = is_formula ? "\"'" : "\"";
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

std::vector<std::vector<std::string>> csv_rows(std::string_view text) {
    std::vector<std::vector<std::string>> rows;
    while (!text.empty()) {
        std::vector<std::string>& row = rows.emplace_back();
        for (bool more = true; more;) {
            row.push_back(take_field(text));
            more = text.starts_with(',');
            if (!text.empty()) text.remove_prefix(1);
        }
    }
    return rows;
}

}  // namespace paceline

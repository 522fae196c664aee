#include "app/run/text_table.hpp"

#include <algorithm>
#include <string_view>

#include "app/json/printable.hpp"

namespace paceline {

namespace {

// Returns the number of characters of UTF-8 text.
std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string padding(std::string_view text, std::size_t width) {
    return std::string(width - std::min(width, width_of(text)), ' ');
}

}  // namespace

std::string rows_to_text(std::vector<TableRow> rows, std::size_t names) {
    for (TableRow& row : rows)
        for (std::string& text : row) text = printable(text);
    std::vector<std::size_t> widths(rows.front().size());
    for (const TableRow& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], width_of(row[i]));
    std::string text;
    for (const TableRow& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string space = padding(row[i], widths[i]);
            text += i == 0 ? "" : "  ";
            text += i < names ? row[i] + space : space + row[i];
        }
        text += '\n';
    }
    return text;
}

}  // namespace paceline

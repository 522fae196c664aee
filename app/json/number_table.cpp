#include "app/json/number_table.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/json/config_error.hpp"
#include "models/data/files/data_error.hpp"
#include "models/data/files/file_content.hpp"
#include "sim/engine/read_decimal.hpp"

namespace paceline {

namespace {

FileContent content_of(const Place& place, const std::string& file) {
    try {
        FileContent content = inflated({file, place.outside().data(file)});
        static_cast<void>(text_of(content));  // refuses UTF-16
        return content;
    } catch (const DataError& error) {
        throw ConfigError(error.file(), "", error.problem());
    }
}

std::string_view stripped(std::string_view text) {
    constexpr std::string_view blanks = " \t\r";
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    return text.substr(0, text.find_last_not_of(blanks) + 1);
}

// Iterates over the nonempty lines of a text, with their numbers.
class Lines {
  public:
    Lines(std::string file, std::string_view text) : file_(std::move(file)), text_(text) {}

    /// Moves on to the next line. Returns false at the end.
    bool next(std::string_view& line) {
        while (!text_.empty()) {
            const std::size_t end = std::min(text_.find('\n'), text_.size());
            line = stripped(text_.substr(0, end));
            text_.remove_prefix(std::min(end + 1, text_.size()));
            ++number_;
            if (!line.empty()) return true;
        }
        return false;
    }

    [[nodiscard]] std::size_t number() const { return number_; }
    [[noreturn]] void refuse(std::string_view problem) const {
        throw ConfigError(file_, fmt::format("line {}", number_), problem);
    }

  private:
    std::string file_;
    std::string_view text_;
    std::size_t number_ = 0;
};

std::vector<std::string_view> fields_of(std::string_view line) {
    std::vector<std::string_view> fields;
    for (;;) {
        const std::size_t comma = line.find(',');
        fields.push_back(stripped(line.substr(0, comma)));
        if (comma == std::string_view::npos) return fields;
        line.remove_prefix(comma + 1);
    }
}

std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    for (line = stripped(line); !line.empty(); line = stripped(line)) {
        const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
        words.push_back(line.substr(0, end));
        line.remove_prefix(end);
    }
    return words;
}

double number_in(const Lines& lines, std::string_view text, const NumberColumn& column) {
    if (column.may_be_never && text == "never") return std::numeric_limits<double>::infinity();
    double number = 0;
    const auto [end, error] = read_decimal(text, number);
    if (error != std::errc{} || end != text.data() + text.size() ||
        !(number >= 0 && number <= column.most))
        lines.refuse(fmt::format("\"{}\" is not {}: a number from 0 to {}{}", one_line(text, 40),
                                 column.what, column.most,
                                 column.may_be_never ? ", or \"never\"" : ""));
    return number;
}

std::string header_of(std::span<const NumberColumn> columns) {
    std::vector<std::string_view> names;
    for (const NumberColumn& column : columns) names.push_back(column.name);
    return fmt::format("{}", fmt::join(names, ","));
}

// Returns the field of each column, by the header; empty unless it names each column once.
std::vector<std::size_t> fields_by(std::string_view line, std::span<const NumberColumn> columns) {
    const std::vector<std::string_view> names = fields_of(line);
    std::vector<std::size_t> fields;
    if (names.size() != columns.size()) return fields;
    for (const NumberColumn& column : columns) {
        const auto name = std::ranges::find(names, column.name);
        if (name == names.end()) return {};
        fields.push_back(static_cast<std::size_t>(name - names.begin()));
    }
    return fields;
}

}  // namespace

void NumberTable::refuse(const Row& row, std::string_view problem) const {
    throw ConfigError(file, fmt::format("line {}", row.line), problem);
}

NumberTable read_number_table(const Place& place, std::span<const NumberColumn> columns) {
    const std::string file = as_file(place);
    const FileContent content = content_of(place, file);
    const std::string header = header_of(columns);
    Lines lines(file, text_of(content));
    std::string_view line;
    const bool has_line = lines.next(line);
    const std::vector<std::size_t> places =
        has_line ? fields_by(line, columns) : std::vector<std::size_t>{};
    if (places.empty()) lines.refuse(fmt::format("the first line is the header: {}", header));
    NumberTable table{file, {}};
    while (lines.next(line)) {
        const std::vector<std::string_view> fields = fields_of(line);
        if (fields.size() != columns.size())
            lines.refuse(fmt::format("has {} fields; a row has {}: {}", fields.size(),
                                     columns.size(), header));
        NumberTable::Row row{{}, lines.number()};
        for (std::size_t i = 0; i < columns.size(); ++i)
            row.numbers.push_back(number_in(lines, fields[places[i]], columns[i]));
        table.rows.push_back(std::move(row));
    }
    if (table.rows.empty()) lines.refuse("there is no row below the header");
    return table;
}

NumberTable read_bare_table(const Place& place, std::span<const NumberColumn> columns) {
    const std::string file = as_file(place);
    const FileContent content = content_of(place, file);
    Lines lines(file, text_of(content));
    NumberTable table{file, {}};
    for (std::string_view line; lines.next(line);) {
        const std::vector<std::string_view> words = words_of(line);
        if (words.size() != columns.size())
            lines.refuse(
                fmt::format("has {} numbers; a line has {}", words.size(), columns.size()));
        NumberTable::Row row{{}, lines.number()};
        for (std::size_t i = 0; i < columns.size(); ++i)
            row.numbers.push_back(number_in(lines, words[i], columns[i]));
        table.rows.push_back(std::move(row));
    }
    if (table.rows.empty()) lines.refuse("there is no line with numbers");
    return table;
}

}  // namespace paceline

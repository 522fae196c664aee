#include "app/link_traces.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "app/config_error.hpp"
#include "models/data/data_error.hpp"
#include "models/data/file_content.hpp"

namespace paceline {

namespace {

constexpr std::string_view header = "time_s,up_mbps,down_mbps";
constexpr double most_mbps = 1e9;
constexpr double most_seconds = 9e6;  // 104 days, within the clock's range

std::string text_of(const std::filesystem::path& path) {
    try {
        const FileContent content = read_content(path);
        return {content.bytes.begin(), content.bytes.end()};
    } catch (const DataError& error) {
        throw ConfigError(error.file(), "", error.problem());
    }
}

/// The lines of a file, and how their faults are told.
class Lines {
  public:
    Lines(std::string file, std::string_view text) : file_(std::move(file)), text_(text) {
        if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
    }

    /// Whether there is another one; then `line` is it.
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

    [[noreturn]] void refuse(const std::string& problem) const {
        throw ConfigError(file_, fmt::format("line {}", number_), problem);
    }

    static std::string_view stripped(std::string_view text) {
        constexpr std::string_view blanks = " \t\r";
        const std::size_t first = std::min(text.find_first_not_of(blanks), text.size());
        text.remove_prefix(first);
        return text.substr(0, text.find_last_not_of(blanks) + 1);
    }

  private:
    std::string file_;
    std::string_view text_;
    std::size_t number_ = 0;
};

double as_number(const Lines& lines, std::string_view field, std::string_view what, double most) {
    const std::string_view text = Lines::stripped(field);
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() ||
        !(number >= 0 && number <= most))
        lines.refuse(
            fmt::format("\"{}\" is not {}: a number from 0 to {}", text.substr(0, 40), what, most));
    return number;
}

Bandwidth as_rate(const Lines& lines, std::string_view field, std::string_view what) {
    return {std::llround(1e6 * as_number(lines, field, what, most_mbps))};
}

LinkTrace::Row read_row(const Lines& lines, std::string_view line) {
    std::array<std::string_view, 3> fields;
    std::size_t count = 0;
    for (std::string_view rest = line;; ++count) {
        const std::size_t comma = rest.find(',');
        if (count < fields.size()) fields[count] = rest.substr(0, comma);
        if (comma == std::string_view::npos) break;
        rest.remove_prefix(comma + 1);
    }
    if (++count != fields.size())
        lines.refuse(fmt::format("has {} fields; a row has 3: {}", count, header));
    return {from_seconds(as_number(lines, fields[0], "a time in seconds", most_seconds)),
            {as_rate(lines, fields[1], "a bandwidth in Mbps"),
             as_rate(lines, fields[2], "a bandwidth in Mbps")}};
}

}  // namespace

LinkTrace read_link_trace(const std::filesystem::path& path) {
    const std::string text = text_of(path);
    Lines lines(path.string(), text);
    std::string_view line;
    if (!lines.next(line) || line != header)
        lines.refuse(fmt::format("the first line of a trace is its header: {}", header));
    LinkTrace trace;
    while (lines.next(line)) {
        const LinkTrace::Row row = read_row(lines, line);
        if (trace.rows.empty() && row.at != Duration::zero())
            lines.refuse("the first row's time is 0");
        if (!trace.rows.empty() && row.at <= trace.rows.back().at)
            lines.refuse(fmt::format("{} is not later than the row before it, {}",
                                     to_string(row.at), to_string(trace.rows.back().at)));
        trace.rows.push_back(row);
    }
    if (trace.rows.empty()) lines.refuse("there is no row; give one for time 0 at least");
    return trace;
}

}  // namespace paceline

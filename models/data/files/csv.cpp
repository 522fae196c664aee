#include "models/data/files/csv.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/random/uniform_int_distribution.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/data/files/classes.hpp"
#include "models/data/files/data_error.hpp"
#include "sim/engine/check.hpp"
#include "sim/engine/read_decimal.hpp"

namespace paceline {

namespace {

struct Field {
    std::string_view text;
    std::size_t offset = 0;
    std::size_t line = 0;
};

/// The lines of a table, with their positions for error messages.
class Table {
  public:
    explicit Table(FileContent content) : content_(std::move(content)) {
        text_ = {reinterpret_cast<const char*>(content_.bytes.data()), content_.bytes.size()};
        at_ = text_.size() - text_of(content_).size();
        skip_empty_lines();
    }
    Table(const Table&) = delete;
    Table& operator=(const Table&) = delete;

    [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }

    /// Returns the fields of the next line that is not empty, stripped. Requires not at_end().
    const std::vector<Field>& next() {
        ++line_;
        fields_.clear();
        const std::size_t end = std::min(text_.find('\n', at_), text_.size());
        while (at_ <= end) {
            const std::size_t begin = at_;
            const std::size_t first = std::min(text_.find_first_not_of(" \t", begin), end);
            const bool quoted = first < end && text_[first] == '"';
            const std::size_t closed = quoted ? text_.find('"', first + 1) : first;
            const Field at_quote{text_.substr(first, 1), first, line_};
            if (closed > end) fail(at_quote, "", "a quote without its other end");
            at_ = std::min(text_.find(',', closed), end);
            fields_.push_back(strip({text_.substr(begin, at_ - begin), begin, line_}));
            ++at_;
        }
        skip_empty_lines();
        return fields_;
    }

    [[noreturn]] void fail(const Field& at, std::string_view column,
                           std::string_view problem) const {
        const std::string where = column.empty() ? "" : fmt::format(", column \"{}\"", column);
        throw DataError(content_.name, at.offset,
                        fmt::format("line {}{}: {}", at.line, where, problem));
    }
    /// Fails behind the last line.
    [[noreturn]] void fail_at_end(std::string_view problem) const {
        fail({{}, text_.size(), line_}, "", problem);
    }

  private:
    void skip_empty_lines() {
        for (;;) {
            const std::size_t end = text_.find_first_not_of(" \t\r", at_);
            if (end == std::string_view::npos) {
                at_ = text_.size();
                return;
            }
            if (text_[end] != '\n') return;
            at_ = end + 1;
            ++line_;
        }
    }

    static Field strip(Field field) {
        constexpr std::string_view blanks = " \t\r";
        const std::size_t first = std::min(field.text.find_first_not_of(blanks), field.text.size());
        field.text.remove_prefix(first);
        field.offset += first;
        field.text = field.text.substr(0, field.text.find_last_not_of(blanks) + 1);
        if (field.text.size() >= 2 && field.text.front() == '"' && field.text.back() == '"')
            field = {field.text.substr(1, field.text.size() - 2), field.offset + 1, field.line};
        return field;
    }

    FileContent content_;
    std::string_view text_;
    std::vector<Field> fields_;
    std::size_t at_ = 0;
    std::size_t line_ = 0;
};

float read_number(const Table& table, const Field& field, std::string_view column) {
    double number = 0;
    const char* const end = field.text.data() + field.text.size();
    const auto [stop, error] = read_decimal(field.text, number);
    constexpr auto most = static_cast<double>(std::numeric_limits<float>::max());
    if (error != std::errc{} || stop != end || !(std::abs(number) <= most))
        table.fail(
            field, column,
            fmt::format("\"{}\" is not a number within +-{:.3g}", field.text.substr(0, 40), most));
    return static_cast<float>(number);
}

// Returns the number that a label is; nothing if it is a name.
std::optional<double> number_in(const Field& label) {
    double number = 0;
    const auto [stop, error] = read_decimal(label.text, number);
    if (error != std::errc{} || stop != label.text.data() + label.text.size() ||
        !std::isfinite(number))
        return std::nullopt;
    return number;
}

// Throws unless the labels are all whole numbers, or all names.
void check_labels(const Table& table, const std::vector<Field>& labels, std::string_view column) {
    const bool numbers = number_in(labels.front()).has_value();
    for (const Field& label : labels) {
        const auto refuse = [&](std::string_view problem) {
            table.fail(label, column, fmt::format("\"{}\" {}", label.text.substr(0, 40), problem));
        };
        constexpr double beyond =
            9007199254740992;  // 2^53, where a double no longer tells all apart
        const std::optional<double> number = number_in(label);
        if (number && std::abs(*number) >= beyond)
            refuse("is beyond the labels that can be distinguished, which are within +-2^53");
        if (label.text.empty()) refuse("is not a label; every row has one");
        if (number && *number != std::floor(*number))
            refuse(
                "is not a label; labels are whole numbers or names, and a number to predict is a "
                "\"target\"");
        if (number.has_value() != numbers)
            refuse(numbers ? "is not a whole number, as the labels above it are; labels are all "
                             "whole numbers or all names"
                           : "is a number, and the labels above it are names; labels are all whole "
                             "numbers or all names");
    }
}

template <class Label>
int number_classes(const Table& table, const std::vector<Field>& fields, std::string_view column,
                   const std::vector<Label>& labels, std::vector<int>& numbered) {
    const Classes<Label> classes(labels);
    if (classes.count() > most_csv_classes)
        table.fail(fields.front(), column,
                   fmt::format("a column of {} labels; there are at most {} classes",
                               classes.count(), most_csv_classes));
    for (const Label& label : labels) numbered.push_back(*classes.of(label));
    return classes.count();
}

// Returns the number of classes, and the class of each label.
int read_labels(const Table& table, const std::vector<Field>& labels, std::string_view column,
                std::vector<int>& numbered) {
    check_labels(table, labels, column);
    if (!number_in(labels.front())) {
        std::vector<std::string_view> names;
        for (const Field& label : labels) names.push_back(label.text);
        return number_classes(table, labels, column, names, numbered);
    }
    std::vector<double> numbers;
    for (const Field& label : labels) numbers.push_back(*number_in(label));
    return number_classes(table, labels, column, numbers, numbered);
}

struct Columns {
    [[nodiscard]] std::size_t features() const { return names.size() - (group ? 2 : 1); }

    std::vector<std::string> names;
    std::size_t predicted = 0;
    std::optional<std::size_t> group{};
};

Columns read_header(Table& table, const CsvOptions& options) {
    Columns columns;
    if (table.at_end()) table.fail_at_end("the file is empty; its first line names the columns");
    const std::vector<Field>& fields = table.next();
    for (const Field& field : fields) {
        if (field.text.empty()) table.fail(field, "", "a column without a name");
        if (std::ranges::find(columns.names, field.text) != columns.names.end())
            table.fail(field, field.text, "a second column of this name");
        columns.names.emplace_back(field.text);
    }
    const auto number_of = [&](const std::string& name) {
        const auto found = std::ranges::find(columns.names, name);
        if (found == columns.names.end())
            table.fail(fields.front(), "",
                       fmt::format("no column \"{}\"; there are: {}", name,
                                   fmt::join(columns.names, ", ")));
        return static_cast<std::size_t>(found - columns.names.begin());
    };
    columns.predicted = number_of(options.column);
    if (!options.group.empty()) columns.group = number_of(options.group);
    if (columns.group == columns.predicted)
        table.fail(fields.front(), options.group, "this column is predicted; groups have another");
    if (columns.features() == 0)
        table.fail(fields.front(), "",
                   columns.group ? "two columns only; features are others"
                                 : "one column only; features are others");
    return columns;
}

struct Rows {
    std::vector<float> features;  // row by row
    std::vector<float> targets;
    std::vector<Field> labels;
    std::vector<Field> groups;
    int count = 0;
};

void read_row(Table& table, const Columns& columns, Prediction predicts, Rows& rows) {
    const std::vector<Field>& fields = table.next();
    if (fields.size() != columns.names.size())
        table.fail(
            fields.front(), "",
            fmt::format("{} fields; the header names {}", fields.size(), columns.names.size()));
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const std::string& name = columns.names[i];
        if (i == columns.group)
            rows.groups.push_back(fields[i]);
        else if (i != columns.predicted)
            rows.features.push_back(read_number(table, fields[i], name));
        else if (predicts == Prediction::label)
            rows.labels.push_back(fields[i]);
        else
            rows.targets.push_back(read_number(table, fields[i], name));
    }
    ++rows.count;
}

Samples all_samples(const Rows& rows, const std::vector<int>& labels, std::size_t features) {
    Samples samples;
    samples.inputs = Eigen::Map<const Eigen::MatrixXf>(
        rows.features.data(), static_cast<Eigen::Index>(features), rows.count);
    samples.labels =
        Eigen::Map<const Eigen::VectorXi>(labels.data(), static_cast<Eigen::Index>(labels.size()));
    samples.targets = Eigen::Map<const Eigen::VectorXf>(
        rows.targets.data(), static_cast<Eigen::Index>(rows.targets.size()));
    return samples;
}

/// Returns the row numbers with the chosen test rows last; both parts are in order.
std::vector<int> order_with_test_last(int rows, int test, RandomStream& stream) {
    std::vector<int> order(static_cast<std::size_t>(rows));
    std::iota(order.begin(), order.end(), 0);
    for (int left = rows; left > rows - test; --left) {
        boost::random::uniform_int_distribution<int> choice(0, left - 1);
        std::swap(order[static_cast<std::size_t>(left - 1)],
                  order[static_cast<std::size_t>(choice(stream))]);
    }
    std::sort(order.begin(), order.end() - test);
    std::sort(order.end() - test, order.end());
    return order;
}

}  // namespace

GroupedData read_grouped_csv(FileContent content, const CsvOptions& options, RandomStream& stream) {
    PACELINE_CHECK(options.predicts != Prediction::next_token, "a table has labels or targets");
    PACELINE_CHECK(options.test_share >= 0 && options.test_share < 1, "a share is in [0, 1)");
    Table table(std::move(content));
    const Columns columns = read_header(table, options);
    Rows rows;
    while (!table.at_end()) read_row(table, columns, options.predicts, rows);
    if (rows.count == 0) table.fail_at_end("no line of numbers follows the header");

    GroupedData grouped;
    Dataset& data = grouped.data;
    data.predicts = options.predicts;
    std::vector<int> labels;
    if (options.predicts == Prediction::label)
        data.classes = read_labels(table, rows.labels, options.column, labels);
    const Samples all = all_samples(rows, labels, columns.features());
    const auto share = static_cast<int>(std::lround(options.test_share * rows.count));
    const int test = std::min(share, rows.count - 1);
    const std::vector<int> order = order_with_test_last(rows.count, test, stream);
    const auto train = std::span(order).first(static_cast<std::size_t>(rows.count - test));
    gather(all, train, data.train);
    gather(all, std::span(order).last(static_cast<std::size_t>(test)), data.test);
    if (columns.group) {
        std::vector<Field> groups;
        for (const int row : train) groups.push_back(rows.groups[static_cast<std::size_t>(row)]);
        read_labels(table, groups, options.group, grouped.groups);
    }
    return grouped;
}

Dataset read_csv(FileContent content, const CsvOptions& options, RandomStream& stream) {
    return read_grouped_csv(std::move(content), options, stream).data;
}

}  // namespace paceline

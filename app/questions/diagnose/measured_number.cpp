#include "app/questions/diagnose/measured_number.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/json/names.hpp"
#include "app/json/schema.hpp"
#include "app/questions/varied_quantity.hpp"
#include "app/run/results.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

namespace {

constexpr auto operations_to_measure = std::to_array<std::string_view>(
    {"send", "all-reduce", "all-gather", "reduce-scatter", "broadcast", "reduce", "all-to-all"});
constexpr auto columns_not_measured =
    std::to_array<std::string_view>({"devices", "iterations", "epochs", "sim_time_s"});
constexpr int most_nodes_measured = 1 << 24;

[[noreturn]] void refuse_number(const std::string& text, Fault fault) {
    throw ConfigError("command line", "--measured " + one_line(text, 80), std::move(fault));
}

// Returns the parts between colons that are in no brackets and no quotes.
std::vector<std::string> parts_of(std::string_view text) {
    std::vector<std::string> parts(1);
    int depth = 0;
    bool quoted = false;
    for (const char c : text) {
        if (c == '"') quoted = !quoted;
        if (!quoted && (c == '{' || c == '[')) ++depth;
        if (!quoted && (c == '}' || c == ']')) --depth;
        if (c == ':' && depth == 0 && !quoted)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

std::optional<double> positive_number(const std::string& text) {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_number()) return std::nullopt;
    const auto number = json.get<double>();
    return std::isfinite(number) && number > 0 ? std::optional(number) : std::nullopt;
}

double number_of(const std::string& text, const std::string& column, const std::string& value) {
    if (const auto number = positive_number(value)) return *number;
    const bool seconds = is_of_seconds(column);
    std::string meant;
    try {
        if (seconds)
            if (const double found = to_seconds(parse_duration(value)); found > 0) return found;
    } catch (const UnitError& error) {
        meant = error.meant();
    }
    refuse_number(text,
                  Fault{fmt::format("\"{}\" is not a {} above 0, such as {}{}", one_line(value, 40),
                                    seconds ? "time" : "number", seconds ? "4s or 350ms" : "120",
                                    meant.empty() ? "" : fmt::format("; did you mean {}?", meant)),
                        meant});
}

int nodes_of(const std::string& text, const std::string& value) {
    int nodes = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), nodes);
    if (error != std::errc{} || end != value.data() + value.size() || nodes < 1 ||
        nodes > most_nodes_measured)
        refuse_number(text, Fault{fmt::format("\"{}\" is not a number of nodes, such as nodes=1",
                                              one_line(value, 40))});
    return nodes;
}

std::int64_t bytes_of(const std::string& text, const std::string& value) {
    try {
        if (const std::int64_t bytes = parse_bytes(value).count; bytes > 0) return bytes;
    } catch (const UnitError& error) {
        refuse_number(text, Fault{error.what(), error.meant()});
    }
    refuse_number(text, Fault{"has no bytes; give the vector's size, such as all-reduce=256MiB"});
}

bool is_a_column(std::string_view name) {
    const std::vector<std::string_view> known = column_names();
    return std::ranges::find(known, name) != known.end() &&
           std::ranges::find(columns_not_measured, name) == columns_not_measured.end();
}

std::string column_of(const std::string& key) {
    if (key == "step") return "step_time_s";
    if (key == "throughput") return "samples_per_s";
    return is_a_column(key) ? key : "";
}

void take_number(MeasuredNumber& number, std::string column, const std::string& value) {
    if (!number.column.empty())
        refuse_number(number.text, Fault{fmt::format("measures {} and {}; give one --measured for "
                                                     "each",
                                                     number.column, column)});
    number.value = number_of(number.text, column, value);
    number.column = std::move(column);
}

void take_operation(MeasuredNumber& number, const std::string& key, const std::string& value) {
    if (!number.operation.empty())
        refuse_number(number.text,
                      Fault{fmt::format("belongs to {} and to {}; give one --measured for each",
                                        number.operation, key)});
    number.operation = key;
    number.bytes = bytes_of(number.text, value);
}

void take_setting(MeasuredNumber& number, const std::string& key, const std::string& value) {
    Fault fault = path_fault(key);
    if (!fault.problem.empty() && key.find('.') == std::string::npos)
        fault = unknown(key, "something that is measured, nor a path of the scenario",
                        std::vector<std::string_view>{"step", "throughput", "nodes", "devices",
                                                      "which", "send", "all-reduce"});
    if (!fault.problem.empty()) refuse_number(number.text, std::move(fault));
    number.settings.push_back(fmt::format("{}={}", key, value));
}

void take_part(MeasuredNumber& number, const std::string& part) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == part.size())
        refuse_number(number.text,
                      Fault{fmt::format("\"{}\" is not what=value, such as step=4s or nodes=1",
                                        one_line(part, 40))});
    const std::string key = part.substr(0, equals);
    const std::string value = part.substr(equals + 1);
    if (std::string column = column_of(key); !column.empty()) {
        take_number(number, std::move(column), value);
    } else if (std::ranges::find(operations_to_measure, key) != operations_to_measure.end()) {
        take_operation(number, key, value);
    } else if (key == "nodes" || key == "cluster.nodes") {
        number.nodes = nodes_of(number.text, value);
    } else if (key == "devices") {
        if (value != "1")
            refuse_number(number.text, Fault{"\"devices\" is 1, for a step on one device alone; "
                                             "nodes=1 is a machine with all of its devices"});
        number.one_device = true;
    } else if (key == "which") {
        if (value != "slowest")
            refuse_number(number.text, Fault{"\"which\" is \"slowest\", or is left out"});
        number.slowest_alone = true;
    } else {
        take_setting(number, key, value);
    }
}

}  // namespace

bool is_of_seconds(std::string_view column) {
    return column.ends_with("_s") && !column.ends_with("_per_s");
}

std::string seconds_shown(double seconds) {
    const VariedQuantity duration{"", QuantityKind::duration, 0, 0};
    return duration.shown(seconds * 1e12, 3);
}

std::string in_words(double value, std::string_view column) {
    return is_of_seconds(column) ? seconds_shown(value) : fmt::format("{:.4g}", value);
}

MeasuredNumber read_measured_number(const std::string& text) {
    MeasuredNumber number;
    number.text = text;
    for (const std::string& part : parts_of(text)) take_part(number, part);
    if (number.column.empty())
        refuse_number(text,
                      Fault{"contains no measured number, such as step=4s or throughput=120"});
    if (!number.operation.empty() && number.column != "step_time_s")
        refuse_number(text, Fault{fmt::format("measures {} of a collective; give its time as step",
                                              number.column)});
    if (number.slowest_alone && (number.nodes != 1 || !number.operation.empty()))
        refuse_number(text, Fault{"\"which=slowest\" is for steps on one node: nodes=1"});
    if (number.one_device && (number.nodes || !number.operation.empty()))
        refuse_number(text, Fault{"\"devices=1\" is for a step, and needs no number of nodes"});
    if (number.nodes && number.operation.empty())
        number.settings.push_back(fmt::format("cluster.nodes={}", *number.nodes));
    return number;
}

}  // namespace paceline

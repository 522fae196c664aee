#include "app/questions/varied_quantity.hpp"

#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/json/json_file.hpp"
#include "app/json/json_paths.hpp"
#include "sim/engine/units.hpp"
#include "sim/numeric/elementary.hpp"

namespace paceline {

namespace {

using Ends = std::pair<std::string, std::string>;

std::optional<double> as_number(const std::string& text) {
    const Json json = Json::parse(text, nullptr, false);
    return json.is_number() ? std::optional(json.get<double>()) : std::nullopt;
}

// Reads both ends as numbers of one kind. Returns false if they are not of that kind.
template <class Parse>
bool read_ends(const Ends& ends, Parse parse, VariedQuantity& varied) {
    try {
        varied.from = static_cast<double>(parse(ends.first));
        varied.to = static_cast<double>(parse(ends.second));
        return true;
    } catch (const UnitError&) {
        return false;
    }
}

bool read_numbers(const Ends& ends, VariedQuantity& varied) {
    const std::optional<double> from = as_number(ends.first);
    const std::optional<double> to = as_number(ends.second);
    if (!from || !to) return false;
    varied.from = *from;
    varied.to = *to;
    return true;
}

// Returns the text itself if it can be parsed, else what was probably meant, if that is known.
template <class Parse>
std::string as_meant(const std::string& text, Parse parse) {
    try {
        (void)parse(text);
        return text;
    } catch (const UnitError& error) {
        return error.meant();
    }
}

// Returns both ends with units that are known, if they are then of one kind.
std::string meant_ends(const Ends& ends) {
    const auto both = [&](auto parse) {
        const std::string from = as_meant(ends.first, parse);
        const std::string to = as_meant(ends.second, parse);
        return from.empty() || to.empty() ? "" : fmt::format("{}..{}", from, to);
    };
    for (const std::string& meant :
         {both(&parse_bytes), both(&parse_duration), both(&parse_bandwidth)})
        if (!meant.empty()) return meant;
    return "";
}

// Returns what is wrong with the ends; empty if nothing is.
std::string read_kind(const Ends& ends, VariedQuantity& varied) {
    if (read_numbers(ends, varied)) {
        varied.kind = QuantityKind::number;
    } else if (read_ends(
                   ends, [](const auto& t) { return parse_bandwidth(t).bits_per_second; },
                   varied)) {
        varied.kind = QuantityKind::bandwidth;
    } else if (read_ends(ends, [](const auto& t) { return parse_duration(t).count(); }, varied)) {
        varied.kind = QuantityKind::duration;
    } else if (read_ends(ends, [](const auto& t) { return parse_bytes(t).count; }, varied)) {
        varied.kind = QuantityKind::size;
    } else {
        const std::string meant = meant_ends(ends);
        return fmt::format(
            "\"{}\" and \"{}\" are not two numbers, bandwidths, durations or sizes; {}write both "
            "in the same way, such as 100Mbps..100Gbps, 1us..1ms or 2..64",
            ends.first, ends.second, meant.empty() ? "" : fmt::format("did you mean {}? ", meant));
    }
    return "";
}

double to_digits(double value, int digits) {
    if (value == 0) return value;
    const double power =
        elementary::pow(10.0, digits - 1 - std::floor(elementary::log10(std::abs(value))));
    return std::round(value * power) / power;
}

}  // namespace

double VariedQuantity::step() const {
    return kind == QuantityKind::number ? 0 : 1;
}

std::string VariedQuantity::spelled(double value) const {
    const auto whole = [value] { return static_cast<std::int64_t>(std::llround(value)); };
    switch (kind) {
        case QuantityKind::bandwidth:
            return to_string(Bandwidth{whole()});
        case QuantityKind::duration:
            return to_string(Duration{whole()});
        case QuantityKind::size:
            return to_string(Bytes{whole()});
        case QuantityKind::whole_number:
            return fmt::format("{}", whole());
        case QuantityKind::number:
            break;
    }
    return fmt::format("{}", value);
}

double VariedQuantity::rounded(double value, int digits) const {
    return kind == QuantityKind::whole_number ? std::round(value) : to_digits(value, digits);
}

std::string VariedQuantity::shown(double value, int digits) const {
    return spelled(rounded(value, digits));
}

Json VariedQuantity::written(double value) const {
    if (kind == QuantityKind::number) return value;
    if (kind == QuantityKind::whole_number) return std::llround(value);
    return spelled(value);
}

std::string VariedQuantity::setting(double value) const {
    return fmt::format("{}={}", path, spelled(value));
}

std::optional<double> VariedQuantity::stated_in(const Json& scenario) const {
    const Json* const stated = value_at(scenario, path);
    if (stated == nullptr) return std::nullopt;
    if (kind == QuantityKind::number || kind == QuantityKind::whole_number)
        return stated->is_number() ? std::optional(stated->get<double>()) : std::nullopt;
    if (!stated->is_string()) return std::nullopt;
    const auto text = stated->get<std::string>();
    try {
        if (kind == QuantityKind::bandwidth)
            return static_cast<double>(parse_bandwidth(text).bits_per_second);
        if (kind == QuantityKind::duration)
            return static_cast<double>(parse_duration(text).count());
        return static_cast<double>(parse_bytes(text).count);
    } catch (const UnitError&) {
        return std::nullopt;
    }
}

double VariedQuantity::in_base_unit(double value) const {
    return kind == QuantityKind::duration ? value * 1e-12 : value;
}

std::string VariedQuantity::base_unit() const {
    constexpr auto units = std::to_array<const char*>({"bit/s", "s", "B", "", ""});
    return units.at(static_cast<std::size_t>(kind));
}

VariedQuantity read_varied_quantity(const std::string& text, const std::string& option) {
    const auto refuse = [&option](const std::string& path, const std::string& problem) {
        throw ConfigError("command line", path.empty() ? option : option + " " + path, problem);
    };
    const std::size_t equals = text.find('=');
    const std::size_t dots = text.find("..", equals == std::string::npos ? 0 : equals);
    if (equals == 0 || equals == std::string::npos || dots == std::string::npos)
        refuse("", fmt::format("\"{}\" is not path=from..to, such as cluster.nodes=2..64", text));
    VariedQuantity varied;
    varied.path = text.substr(0, equals);
    const Ends ends{text.substr(equals + 1, dots - equals - 1), text.substr(dots + 2)};
    if (const std::string problem = read_kind(ends, varied); !problem.empty())
        refuse(varied.path, problem);
    if (varied.from == varied.to)
        refuse(varied.path,
               fmt::format("{} to {} is one value; give a range", ends.first, ends.second));
    if (varied.from > varied.to)
        refuse(varied.path,
               fmt::format("the range runs backwards; write {}..{}", ends.second, ends.first));
    return varied;
}

}  // namespace paceline

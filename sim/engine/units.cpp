#include "sim/engine/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "sim/engine/read_decimal.hpp"

namespace paceline {

namespace {

struct Unit {
    std::string_view name;
    std::int64_t factor;  // in the smallest unit of the quantity
};

// A unit as people write it.
struct Spelling {
    std::string_view written;  // durations and sizes: in lower case
    std::string_view unit;
    int times = 1;  // that unit
};

constexpr auto written_durations = std::to_array<Spelling>({
    {"ps", "ps"},     {"psec", "ps"},    {"picosecond", "ps"},  {"picoseconds", "ps"},
    {"ns", "ns"},     {"nsec", "ns"},    {"nanosecond", "ns"},  {"nanoseconds", "ns"},
    {"us", "us"},     {"usec", "us"},    {"microsecond", "us"}, {"microseconds", "us"},
    {"ms", "ms"},     {"msec", "ms"},    {"millisecond", "ms"}, {"milliseconds", "ms"},
    {"s", "s"},       {"sec", "s"},      {"secs", "s"},         {"second", "s"},
    {"seconds", "s"}, {"\u00b5s", "us"}, {"\u03bcs", "us"},     {"m", "min"},
    {"min", "min"},   {"mins", "min"},   {"minute", "min"},     {"minutes", "min"},
    {"h", "h"},       {"hr", "h"},       {"hrs", "h"},          {"hour", "h"},
    {"hours", "h"},   {"d", "d"},        {"day", "d"},          {"days", "d"},
});

constexpr auto written_sizes = std::to_array<Spelling>({
    {"b", "B"},           {"byte", "B"},         {"bytes", "B"},
    {"k", "kB"},          {"kb", "kB"},          {"kbyte", "kB"},
    {"kbytes", "kB"},     {"m", "MB"},           {"mb", "MB"},
    {"mbyte", "MB"},      {"mbytes", "MB"},      {"g", "GB"},
    {"gb", "GB"},         {"gbyte", "GB"},       {"gbytes", "GB"},
    {"t", "TB"},          {"tb", "TB"},          {"tbyte", "TB"},
    {"tbytes", "TB"},     {"ki", "KiB"},         {"kib", "KiB"},
    {"mi", "MiB"},        {"mib", "MiB"},        {"gi", "GiB"},
    {"gib", "GiB"},       {"ti", "TiB"},         {"tib", "TiB"},
    {"pb", "TB", 1000},   {"pbyte", "TB", 1000}, {"pbytes", "TB", 1000},
    {"pib", "TiB", 1024}, {"pi", "TiB", 1024},
});

std::string in_lower_case(std::string_view text) {
    std::string lower(text);
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lower;
}

std::optional<Spelling> spelling_in(std::span<const Spelling> table, std::string_view unit) {
    const auto found = std::ranges::find(table, in_lower_case(unit), &Spelling::written);
    return found == table.end() ? std::nullopt : std::optional(*found);
}

std::optional<Spelling> meant_duration(std::string_view unit) {
    return spelling_in(written_durations, unit);
}

// A "b" behind a capital letter is a bit: 1Mb is an eighth of 1MB, which "1mb" may
// be.
std::optional<Spelling> meant_size(std::string_view unit) {
    if (unit.size() >= 2 && unit[0] >= 'A' && unit[0] <= 'Z' && unit.back() == 'b')
        return std::nullopt;
    return spelling_in(written_sizes, unit);
}

// What people write behind the prefix of a bandwidth. Only its case tells a "b" from a "B", so that
// "10GBPS" may be either.
constexpr auto written_bits = std::to_array<std::string_view>(
    {"b", "bps", "b/s", "bit", "bits", "bit/s", "bits/s", "Bit", "Bits", "Bit/s", "Bits/s"});
constexpr auto written_bytes =
    std::to_array<std::string_view>({"B", "Bps", "B/s", "byte", "bytes", "byte/s", "bytes/s",
                                     "Byte", "Bytes", "Byte/s", "Bytes/s"});
struct PrefixedBandwidth {
    char prefix;
    std::string_view bits;
    std::string_view bytes;
    int times = 1;
};
constexpr auto prefixed_bandwidths =
    std::to_array<PrefixedBandwidth>({{'k', "kbps", "kBps"},
                                      {'m', "Mbps", "MBps"},
                                      {'g', "Gbps", "GBps"},
                                      {'t', "Tbps", "TBps"},
                                      {'p', "Tbps", "TBps", 1000}});

std::optional<Spelling> meant_bandwidth(std::string_view unit) {
    const std::string prefix = in_lower_case(unit.substr(0, 1));
    const auto found = std::ranges::find(prefixed_bandwidths, prefix.empty() ? ' ' : prefix[0],
                                         &PrefixedBandwidth::prefix);
    if (found == prefixed_bandwidths.end()) return std::nullopt;
    const std::string_view rest = unit.substr(1);
    if (std::ranges::find(written_bits, rest) != written_bits.end())
        return Spelling{unit, found->bits, found->times};
    if (std::ranges::find(written_bytes, rest) != written_bytes.end())
        return Spelling{unit, found->bytes, found->times};
    return std::nullopt;
}

struct Quantity {
    std::string_view what;
    std::string_view examples;
    std::span<const Unit> units;  // ascending; to_string uses the entries before `printed`
    std::size_t printed;
    std::optional<Spelling> (*meant)(std::string_view unit);  // by a unit that is unknown
};

constexpr std::array<Unit, 8> duration_units{{{"ps", 1},
                                              {"ns", 1'000},
                                              {"us", 1'000'000},
                                              {"ms", 1'000'000'000},
                                              {"s", 1'000'000'000'000},
                                              {"min", 60'000'000'000'000},
                                              {"h", 3'600'000'000'000'000},
                                              {"d", 86'400'000'000'000'000}}};
constexpr std::array<Unit, 9> byte_units{{{"B", 1},
                                          {"kB", 1'000},
                                          {"MB", 1'000'000},
                                          {"GB", 1'000'000'000},
                                          {"TB", 1'000'000'000'000},
                                          {"KiB", std::int64_t{1} << 10},
                                          {"MiB", std::int64_t{1} << 20},
                                          {"GiB", std::int64_t{1} << 30},
                                          {"TiB", std::int64_t{1} << 40}}};
constexpr std::array<Unit, 10> bandwidth_units{{{"bps", 1},
                                                {"kbps", 1'000},
                                                {"Mbps", 1'000'000},
                                                {"Gbps", 1'000'000'000},
                                                {"Tbps", 1'000'000'000'000},
                                                {"Bps", 8},
                                                {"kBps", 8'000},
                                                {"MBps", 8'000'000},
                                                {"GBps", 8'000'000'000},
                                                {"TBps", 8'000'000'000'000}}};

constexpr Quantity durations{"a duration", "\"50us\", \"344ms\", \"1.5s\"", duration_units, 5,
                             &meant_duration};
constexpr Quantity sizes{"a size", "\"408kB\", \"97MB\", \"64MiB\"", byte_units, 5, &meant_size};
constexpr Quantity bandwidths{"a bandwidth", "\"10Gbps\" (bits), \"125MBps\" (bytes)",
                              bandwidth_units, 5, &meant_bandwidth};

[[noreturn]] void refuse(const Quantity& quantity, std::string_view text, const std::string& why,
                         std::string meant = "") {
    throw UnitError(fmt::format("\"{}\" is not {}: {}; write for example {}",
                                text.size() > 60 ? std::string(text.substr(0, 57)) + "..." : text,
                                quantity.what, why, quantity.examples),
                    std::move(meant));
}

std::string unit_names(const Quantity& quantity) {
    std::string names;
    for (const Unit& unit : quantity.units)
        names += fmt::format("{}{}", names.empty() ? "" : ", ", unit.name);
    return names;
}

// Returns the quantity that was probably meant by a number and an unknown unit, or nothing.
std::string meant_by(const Quantity& quantity, std::string_view number, std::string_view unit) {
    while (unit.starts_with(' ')) unit.remove_prefix(1);
    while (unit.ends_with(' ')) unit.remove_suffix(1);
    const std::optional<Spelling> spelling = quantity.meant(unit);
    if (!spelling) return "";
    long double value = 0;
    (void)read_decimal(number, value);
    const auto known = std::ranges::find(quantity.units, spelling->unit, &Unit::name);
    const long double ticks =
        std::round(value * spelling->times * static_cast<long double>(known->factor));
    if (ticks >= static_cast<long double>(std::numeric_limits<std::int64_t>::max()) ||
        (ticks == 0 && value != 0))
        return "";
    return spelling->times == 1
               ? fmt::format("{}{}", number, known->name)
               : fmt::format("{:.15g}{}", static_cast<double>(value) * spelling->times,
                             known->name);
}

std::int64_t parse(const Quantity& quantity, std::string_view text) {
    long double number = 0;
    const auto [end, error] = read_decimal(text, number);
    if (error == std::errc::result_out_of_range)
        refuse(quantity, text,
               std::strtold(std::string(text).c_str(), nullptr) < 1
                   ? fmt::format("it is below the resolution of 1 {}", quantity.units[0].name)
                   : "the number is too large");
    if (error != std::errc{}) refuse(quantity, text, "it does not begin with a number");
    const std::string_view suffix = text.substr(static_cast<std::size_t>(end - text.data()));
    if (suffix.empty()) refuse(quantity, text, "the unit is missing");
    if (!std::isfinite(number)) refuse(quantity, text, "it is not a finite number");
    if (std::signbit(number)) refuse(quantity, text, "it is negative");

    for (const Unit& unit : quantity.units) {
        if (unit.name != suffix) continue;
        const long double ticks = std::round(number * static_cast<long double>(unit.factor));
        if (ticks >= static_cast<long double>(std::numeric_limits<std::int64_t>::max()))
            refuse(quantity, text, "it is beyond the range of the simulator");
        if (ticks == 0 && number != 0)
            refuse(quantity, text,
                   fmt::format("it is below the resolution of 1 {}", quantity.units[0].name));
        return static_cast<std::int64_t>(ticks);
    }
    const std::string meant =
        meant_by(quantity, text.substr(0, text.size() - suffix.size()), suffix);
    refuse(quantity, text,
           fmt::format("the unit \"{}\" is unknown; {}known: {}", suffix.substr(0, 40),
                       meant.empty() ? "" : fmt::format("did you mean \"{}\"? ", meant),
                       unit_names(quantity)),
           meant);
}

// Prints the value in the largest decimal unit not above it, with exactly the digits it needs.
std::string print(const Quantity& quantity, std::int64_t value) {
    std::size_t chosen = 0;
    for (std::size_t i = 1; i < quantity.printed; ++i)
        if (value >= quantity.units[i].factor) chosen = i;
    const Unit& unit = quantity.units[chosen];
    std::string text = fmt::format("{}", value / unit.factor);
    if (const std::int64_t rest = value % unit.factor; rest != 0) {
        const auto digits = fmt::formatted_size("{}", unit.factor) - 1;
        text += fmt::format(".{:0{}}", rest, digits);
        text.erase(text.find_last_not_of('0') + 1);
    }
    return text + std::string(unit.name);
}

}  // namespace

Duration from_seconds(double seconds) {
    const double ticks = std::round(seconds * static_cast<double>(Duration::period::den));
    if (ticks >= static_cast<double>(Duration::max().count())) return Duration::max();
    return Duration{static_cast<std::int64_t>(ticks)};
}

Duration parse_duration(std::string_view text) {
    return Duration{parse(durations, text)};
}
Bytes parse_bytes(std::string_view text) {
    return {parse(sizes, text)};
}
Bandwidth parse_bandwidth(std::string_view text) {
    return {parse(bandwidths, text)};
}

std::string to_string(Duration span) {
    return print(durations, span.count());
}
std::string to_string(Bytes size) {
    return print(sizes, size.count);
}
std::string to_string(Bandwidth rate) {
    return print(bandwidths, rate.bits_per_second);
}

}  // namespace paceline

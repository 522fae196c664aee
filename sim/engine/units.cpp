#include "sim/engine/units.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <span>
#include <system_error>

#include <fmt/format.h>

#include "sim/engine/read_decimal.hpp"

namespace paceline {

namespace {

struct Unit {
    std::string_view name;
    std::int64_t factor;  // in the smallest unit of the quantity
};

struct Quantity {
    std::string_view what;
    std::string_view examples;
    std::span<const Unit> units;  // ascending; to_string uses the entries before `printed`
    std::size_t printed;
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

constexpr Quantity durations{"a duration", "\"50us\", \"344ms\", \"1.5s\"", duration_units, 5};
constexpr Quantity sizes{"a size", "\"408kB\", \"97MB\", \"64MiB\"", byte_units, 5};
constexpr Quantity bandwidths{"a bandwidth", "\"10Gbps\" (bits), \"125MBps\" (bytes)",
                              bandwidth_units, 5};

[[noreturn]] void refuse(const Quantity& quantity, std::string_view text, const std::string& why) {
    throw UnitError(fmt::format("\"{}\" is not {}: {}; write for example {}",
                                text.size() > 60 ? std::string(text.substr(0, 57)) + "..." : text,
                                quantity.what, why, quantity.examples));
}

std::string unit_names(const Quantity& quantity) {
    std::string names;
    for (const Unit& unit : quantity.units)
        names += fmt::format("{}{}", names.empty() ? "" : ", ", unit.name);
    return names;
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
    refuse(quantity, text,
           fmt::format("the unit \"{}\" is unknown; known: {}", suffix.substr(0, 40),
                       unit_names(quantity)));
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

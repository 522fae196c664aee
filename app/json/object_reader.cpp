#include "app/json/object_reader.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/json/names.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

std::string shown(const Json& json) {
    std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() > 60) text = text.substr(0, 57) + "...";
    return text;
}

template <class Parse>
auto parse_quantity(const Place& place, std::string_view what, std::string_view example,
                    Parse parse) {
    if (!place.json->is_string())
        place.refuse(fmt::format("{} is not {}: write a string with a unit, for example {}",
                                 shown(*place.json), what, example));
    try {
        return parse(place.json->get_ref<const std::string&>());
    } catch (const UnitError& error) {
        place.refuse({.problem = error.what(), .suggestion = error.meant()});
    }
}

}  // namespace

Place Place::child(std::string_view key, const Json& value) const {
    std::string below;
    below.reserve(path.size() + 1 + key.size());
    below += path;
    if (!path.empty()) below += '.';
    below += key;
    return {&value, file, std::move(below), sources};
}

Place Place::element(std::size_t i) const {
    return {&(*json)[i], file, fmt::format("{}[{}]", path, i), sources};
}

const Sources& Place::outside() const {
    PACELINE_CHECK(sources != nullptr, "only what a user wrote needs anything from outside");
    return *sources;
}

void Place::refuse(Fault fault) const {
    constexpr std::size_t most = 10'000;
    fault.value = json->dump(-1, ' ', false, Json::error_handler_t::replace);
    if (fault.value.size() > most) fault.value.clear();
    throw ConfigError(*file, path, std::move(fault));
}

ObjectReader::ObjectReader(Place place, Keys known) : place_(std::move(place)), known_(known) {
    if (!place_.json->is_object())
        place_.refuse(fmt::format("{} is not an object; write {{\"{}\": ...}}", shown(*place_.json),
                                  known_.empty() ? "key" : known_.front()));
    for (const auto& [key, value] : place_.json->items())
        if (std::ranges::find(known_, key) == known_.end()) {
            Fault fault = unknown(key, "a key here", known_);
            fault.unknown_key = true;
            place_.child(key, value).refuse(std::move(fault));
        }
}

const Json* ObjectReader::find(std::string_view key) const {
    PACELINE_CHECK(std::ranges::find(known_, key) != known_.end(), "only known keys are read");
    for (const auto& [name, value] : place_.json->get_ref<const Json::object_t&>())
        if (name == key) return &value;
    return nullptr;
}

std::optional<Place> ObjectReader::optional(std::string_view key) const {
    const Json* const value = find(key);
    if (value == nullptr) return std::nullopt;
    return place_.child(key, *value);
}

Place ObjectReader::required(std::string_view key, std::string_view what) const {
    std::optional<Place> found = optional(key);
    if (!found)
        place_.refuse({.problem = fmt::format("\"{}\" is missing: {}", key, what),
                       .missing = std::string(key)});
    return *std::move(found);
}

void ObjectReader::not_both(std::string_view first, std::string_view second) const {
    if (has(first) && has(second))
        place_.refuse(
            fmt::format("\"{}\" and \"{}\" exclude one another; remove one", first, second));
}

std::string as_string(const Place& place) {
    if (!place.json->is_string())
        place.refuse(fmt::format("{} is not a string; put it in quotes", shown(*place.json)));
    return place.json->get<std::string>();
}

std::string as_file(const Place& place) {
    return beside(*place.file, as_string(place));
}

bool as_bool(const Place& place) {
    if (!place.json->is_boolean())
        place.refuse(fmt::format("{} is neither true nor false", shown(*place.json)));
    return place.json->get<bool>();
}

std::optional<std::int64_t> whole_number(const Json& json) {
    constexpr auto beyond = static_cast<double>(std::numeric_limits<std::int64_t>::max());
    if (json.is_number_unsigned()) {
        const auto number = json.get<std::uint64_t>();
        if (std::in_range<std::int64_t>(number)) return static_cast<std::int64_t>(number);
    } else if (json.is_number_integer()) {
        return json.get<std::int64_t>();
    } else if (json.is_number_float()) {
        const auto number = json.get<double>();
        if (number == std::floor(number) && number >= -beyond && number < beyond)
            return static_cast<std::int64_t>(number);
    }
    return std::nullopt;
}

std::int64_t as_integer(const Place& place, std::int64_t least, std::int64_t most) {
    const std::optional<std::int64_t> value = whole_number(*place.json);
    if (!value || *value < least || *value > most)
        place.refuse(
            fmt::format("{} is not a whole number from {} to {}", shown(*place.json), least, most));
    return *value;
}

double as_number_above(const Place& place, double above, double most) {
    const Json& json = *place.json;
    const double value = json.is_number() ? json.get<double>() : std::nan("");
    if (!(value > above && value <= most))
        place.refuse(
            fmt::format("{} is not a number above {} and at most {}", shown(json), above, most));
    return value;
}

double as_number_up_to(const Place& place, double most) {
    const Json& json = *place.json;
    const double value = json.is_number() ? json.get<double>() : std::nan("");
    if (!(value >= 0 && value <= most))
        place.refuse(fmt::format("{} is not a number from 0 to {}", shown(json), most));
    return value;
}

double as_share(const Place& place) {
    if (!place.json->is_number()) place.refuse("is not a number in [0, 1)");
    const double share = place.json->get<double>();
    if (!(share >= 0 && share < 1)) place.refuse("is not in [0, 1)");
    return share;
}

Duration as_duration(const Place& place) {
    return parse_quantity(place, "a duration", "\"50us\"", parse_duration);
}

Duration as_time(const Place& place) {
    const Duration time = as_duration(place);
    if (time == Duration::zero()) place.refuse("takes time: above 0s");
    return time;
}

Bytes as_bytes(const Place& place) {
    return parse_quantity(place, "a size", "\"97MB\"", parse_bytes);
}

Bandwidth as_bandwidth_or_zero(const Place& place) {
    return parse_quantity(place, "a bandwidth", "\"10Gbps\" (bits) or \"125MBps\" (bytes)",
                          parse_bandwidth);
}

Bandwidth as_bandwidth(const Place& place) {
    const Bandwidth rate = as_bandwidth_or_zero(place);
    if (rate.bits_per_second == 0) place.refuse("must be above 0");
    return rate;
}

std::size_t as_name(const Place& place, std::string_view what,
                    std::span<const std::string_view> names) {
    const std::string name = as_string(place);
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) place.refuse(unknown(name, what, names));
    return static_cast<std::size_t>(found - names.begin());
}

Place kind_of(const Place& place, std::string_view what, std::span<const std::string_view> names) {
    if (!place.json->is_object())
        place.refuse(fmt::format("{} is not an object; write {{\"kind\": \"{}\", ...}}",
                                 shown(*place.json), names.front()));
    if (!place.json->contains("kind"))
        place.refuse({.problem = fmt::format("\"kind\" is missing: {}, one of {}", what,
                                             fmt::join(names, ", ")),
                      .missing = "kind"});
    return place.child("kind", place.json->at("kind"));
}

}  // namespace paceline

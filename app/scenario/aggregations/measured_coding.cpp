#include "app/scenario/aggregations/measured_coding.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/json/names.hpp"
#include "app/json/resources.hpp"

namespace paceline {

namespace {

constexpr auto coding_keys = std::to_array<std::string_view>({"encode", "decode"});
constexpr auto time_keys = std::to_array<std::string_view>({"per_tensor", "per_entry"});
constexpr auto row_keys =
    std::to_array<std::string_view>({"device", "codec", "encode", "decode", "source"});

CodingTime read_time(const Place& place) {
    const ObjectReader read(place, time_keys);
    CodingTime time;
    if (const auto p = read.optional("per_tensor")) time.per_tensor = as_duration(*p);
    if (const auto p = read.optional("per_entry")) time.per_entry = as_duration(*p);
    return time;
}

MeasuredCoding read_times(const ObjectReader& read) {
    MeasuredCoding times;
    if (const auto p = read.optional("encode")) times.encode = read_time(*p);
    if (const auto p = read.optional("decode")) times.decode = read_time(*p);
    return times;
}

MeasuredCoding times_on(const Place& place, std::string_view codec) {
    const std::vector<KnownCoding>& rows = known_codings();
    std::vector<std::string_view> devices;
    for (const KnownCoding& row : rows)
        if (std::ranges::find(devices, row.device) == devices.end()) devices.push_back(row.device);
    const std::string_view device =
        devices[as_name(place, "a device whose coding was measured", devices)];
    std::vector<std::string_view> codecs;
    for (const KnownCoding& row : rows) {
        if (row.device != device) continue;
        if (row.codec == codec) return row.times;
        codecs.push_back(row.codec);
    }
    place.refuse(
        fmt::format("the coding of \"{}\" was not measured on {}; measured there: {}. Give times, "
                    "such as {{\"encode\": {{\"per_tensor\": \"20us\", \"per_entry\": \"30ps\"}}}}",
                    codec, device, fmt::join(codecs, ", ")));
}

std::vector<KnownCoding> read_known_codings() {
    const std::string file = "app/scenario/aggregations/coding.json";
    const Json json = parse_json(resource(file), file);
    std::vector<KnownCoding> rows;
    for (const Json& entry : json.at("rows")) {
        const ObjectReader read({&entry, &file, "rows"}, row_keys);
        rows.push_back({as_string(read.required("device", "where it was measured")),
                        as_string(read.required("codec", "a codec's name")), read_times(read),
                        as_string(read.required("source", "where the figures come from"))});
    }
    return rows;
}

}  // namespace

const std::vector<KnownCoding>& known_codings() {
    static const std::vector<KnownCoding> rows = read_known_codings();
    return rows;
}

Keys measured_coding_keys() {
    return coding_keys;
}
Keys coding_time_keys() {
    return time_keys;
}

MeasuredCoding read_measured_coding(const Place& place, std::string_view codec,
                                    const Json& object) {
    for (const char* key : {"coding_step", "selection", "selection_step", "selection_share"})
        if (object.contains(key))
            place.refuse(fmt::format("replaces the estimate by \"{}\"; give one of them", key));
    if (place.json->is_string()) return times_on(place, codec);
    return read_times(ObjectReader(place, coding_keys));
}

}  // namespace paceline

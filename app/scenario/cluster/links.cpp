#include "app/scenario/cluster/links.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/names.hpp"
#include "app/json/resources.hpp"
#include "app/scenario/cluster/link_jitter.hpp"

namespace paceline {

namespace {

constexpr auto all_link_keys = std::to_array<std::string_view>(
    {"preset", "bandwidth", "bandwidth_up", "latency", "efficiency", "jitter", "loss"});
constexpr auto preset_keys = std::to_array<std::string_view>(
    {"name", "bandwidth", "bandwidth_up", "round_trip", "one_way_latency", "efficiency", "source"});

Duration read_one_way(const ObjectReader& read) {
    read.not_both("round_trip", "one_way_latency");
    if (const auto round_trip = read.optional("round_trip")) return as_duration(*round_trip) / 2;
    return as_duration(read.required("one_way_latency", "host to host; or give \"round_trip\""));
}

}  // namespace

LinkPreset read_link_preset(const Place& place) {
    const ObjectReader read(place, preset_keys);
    LinkPreset preset;
    preset.name = as_string(read.required("name", "the preset's name"));
    preset.bandwidth = as_bandwidth(read.required("bandwidth", "the nominal rate into the host"));
    if (const auto up = read.optional("bandwidth_up")) preset.bandwidth_up = as_bandwidth(*up);
    preset.one_way_latency = read_one_way(read);
    preset.efficiency = as_number_above(read.required("efficiency", "payload share"), 0, 1);
    preset.source = as_string(read.required("source", "where the figures come from"));
    return preset;
}

namespace {

std::vector<LinkPreset> read_link_presets() {
    const std::string file = "app/scenario/cluster/links.json";
    const Json json = parse_json(resource(file), file);
    std::vector<LinkPreset> presets;
    for (const Json& entry : json.at("links"))
        presets.push_back(read_link_preset({&entry, &file, "links"}));
    return presets;
}

}  // namespace

const std::vector<LinkPreset>& link_presets() {
    static const std::vector<LinkPreset> presets = read_link_presets();
    return presets;
}

Keys link_keys() {
    return all_link_keys;
}

Cable read_cable(const Place& place) {
    const ObjectReader read(place, all_link_keys);
    Link down;
    std::optional<Bandwidth> bandwidth_up;
    if (const auto preset = read.optional("preset")) {
        const std::vector<LinkPreset>& presets = link_presets();
        const std::vector<std::string_view> names = names_of(presets);
        const LinkPreset& chosen = presets[as_name(*preset, "a link preset", names)];
        down = {chosen.bandwidth, chosen.one_way_latency / 2, chosen.efficiency};
        bandwidth_up = chosen.bandwidth_up;
    } else {
        down.bandwidth = as_bandwidth(
            read.required("bandwidth", "for example \"10Gbps\"; or name a \"preset\""));
    }
    if (const auto bandwidth = read.optional("bandwidth"))
        down.bandwidth = as_bandwidth(*bandwidth);
    if (const auto up = read.optional("bandwidth_up")) bandwidth_up = as_bandwidth(*up);
    if (const auto latency = read.optional("latency")) down.latency = as_duration(*latency);
    if (const auto efficiency = read.optional("efficiency"))
        down.efficiency = as_number_above(*efficiency, 0, 1);
    if (const auto jitter = read.optional("jitter")) down.jitter = read_link_jitter(*jitter);
    if (const auto loss = read.optional("loss")) down.loss = as_share(*loss);
    Link up = down;
    up.bandwidth = bandwidth_up.value_or(down.bandwidth);
    if (std::min(up.capacity(), down.capacity()).bits_per_second == 0) {
        if (down.loss > 0) read.required("loss", "a share").refuse("leaves no bandwidth; lower it");
        read.required("efficiency", "a share").refuse("leaves no bandwidth; raise it");
    }
    return {up, down};
}

Link read_link(const Place& place) {
    const Cable cable = read_cable(place);
    if (cable.up.bandwidth != cable.down.bandwidth) {
        const ObjectReader read(place, all_link_keys);
        const std::optional<Place> stated = read.optional("bandwidth_up");
        const Place at = stated ? *stated : read.required("preset", "a symmetric one");
        at.refuse(
            fmt::format("is {} from the host and {} to it; links of this fabric are the same both "
                        "ways (unlike those of a star)",
                        to_string(cable.up.bandwidth), to_string(cable.down.bandwidth)));
    }
    return cable.up;
}

}  // namespace paceline

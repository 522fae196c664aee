#include "app/links.hpp"

#include <array>

#include <nlohmann/json.hpp>

#include "app/names.hpp"
#include "app/resources.hpp"

namespace paceline {

namespace {

constexpr std::array<std::string_view, 4> keys{"preset", "bandwidth", "latency", "efficiency"};
constexpr std::array<std::string_view, 5> preset_keys{"name", "bandwidth", "one_way_latency",
                                                      "efficiency", "source"};

}  // namespace

std::vector<LinkPreset> link_presets() {
    const std::string file = "app/links.json";
    const Json json = parse_json(resource(file), file);
    std::vector<LinkPreset> presets;
    for (const Json& entry : json.at("links")) {
        const ObjectReader read({&entry, &file, "links"}, preset_keys);
        presets.push_back({as_string(read.required("name", "the preset's name")),
                           as_bandwidth(read.required("bandwidth", "the nominal rate")),
                           as_duration(read.required("one_way_latency", "host to host")),
                           as_number_above(read.required("efficiency", "payload share"), 0, 1),
                           as_string(read.required("source", "where the figures come from"))});
    }
    return presets;
}

Keys link_keys() {
    return keys;
}

Link read_link(const Place& place) {
    const ObjectReader read(place, keys);
    Link link;
    if (const auto preset = read.optional("preset")) {
        const std::vector<LinkPreset> presets = link_presets();
        const std::vector<std::string_view> names = names_of(presets);
        const LinkPreset& chosen = presets[as_name(*preset, "a link preset", names)];
        link = {chosen.bandwidth, chosen.one_way_latency / 2, chosen.efficiency};
    } else {
        link.bandwidth = as_bandwidth(
            read.required("bandwidth", "for example \"10Gbps\"; or name a \"preset\""));
    }
    if (const auto bandwidth = read.optional("bandwidth"))
        link.bandwidth = as_bandwidth(*bandwidth);
    if (const auto latency = read.optional("latency")) link.latency = as_duration(*latency);
    if (const auto efficiency = read.optional("efficiency"))
        link.efficiency = as_number_above(*efficiency, 0, 1);
    if (link.capacity().bits_per_second == 0)
        read.required("efficiency", "a share").refuse("leaves no bandwidth; raise it");
    return link;
}

}  // namespace paceline

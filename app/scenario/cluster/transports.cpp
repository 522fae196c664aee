#include "app/scenario/cluster/transports.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "app/json/names.hpp"
#include "app/json/resources.hpp"

namespace paceline {

namespace {

constexpr auto all_transport_keys = std::to_array<std::string_view>(
    {"kind", "preset", "goodput", "duplex_share", "message_cost", "receive_cost", "first_window",
     "window", "flow_rate", "host_rate"});

constexpr auto transport_preset_keys =
    std::to_array<std::string_view>({"name", "flow_rate", "source"});

Bandwidth flow_rate_of(const Place& name) {
    const std::vector<TransportPreset>& presets = transport_presets();
    const std::vector<std::string_view> names = names_of(presets);
    return presets[as_name(name, "a transport's preset", names)].flow_rate;
}

}  // namespace

Keys transport_keys() {
    return all_transport_keys;
}

namespace {

std::vector<TransportPreset> read_transport_presets() {
    const std::string file = "app/scenario/cluster/transports.json";
    const Json json = parse_json(resource(file), file);
    std::vector<TransportPreset> presets;
    for (const Json& entry : json.at("transports")) {
        const ObjectReader read({&entry, &file, "transports"}, transport_preset_keys);
        TransportPreset preset;
        preset.name = as_string(read.required("name", "the preset's name"));
        preset.source = as_string(read.required("source", "where the figures come from"));
        preset.flow_rate = as_bandwidth(read.required("flow_rate", "the bound of a flow"));
        presets.push_back(std::move(preset));
    }
    return presets;
}

}  // namespace

const std::vector<TransportPreset>& transport_presets() {
    static const std::vector<TransportPreset> presets = read_transport_presets();
    return presets;
}

std::optional<Tcp> read_transport(const Place& place) {
    const auto kinds = std::to_array<std::string_view>({"ideal", "tcp"});
    const ObjectReader read(place, all_transport_keys);
    if (as_name(kind_of(place, "a transport", kinds), "a transport", kinds) == 0) {
        for (const std::string_view key : all_transport_keys)
            if (const auto p = read.optional(key); p && key != "kind")
                p->refuse("is an option of \"tcp\"; the transport is \"ideal\"");
        return std::nullopt;
    }
    Tcp tcp;
    if (const auto p = read.optional("preset")) tcp.flow.rate = flow_rate_of(*p);
    if (const auto p = read.optional("goodput")) tcp.goodput = as_number_above(*p, 0, 1);
    if (const auto p = read.optional("duplex_share")) tcp.duplex_share = as_number_above(*p, 0, 1);
    if (const auto p = read.optional("first_window")) tcp.first_window = as_bytes(*p);
    if (const auto p = read.optional("window")) tcp.flow.window = as_bytes(*p);
    if (const auto p = read.optional("message_cost")) tcp.message_cost = as_duration(*p);
    if (const auto p = read.optional("receive_cost")) tcp.receive_cost = as_duration(*p);
    if (const auto p = read.optional("flow_rate")) tcp.flow.rate = as_bandwidth(*p);
    if (const auto p = read.optional("host_rate")) tcp.host_rate = as_bandwidth(*p);
    return tcp;
}

}  // namespace paceline

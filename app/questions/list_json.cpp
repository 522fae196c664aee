#include "app/questions/list_json.hpp"

#include <array>

#include <nlohmann/json.hpp>

#include "app/json/resources.hpp"
#include "app/questions/combinations.hpp"
#include "app/questions/list_tables.hpp"
#include "app/scenario/aggregations/exchange_choice.hpp"
#include "app/scenario/algorithms/algorithms.hpp"
#include "app/scenario/algorithms/codecs.hpp"
#include "app/scenario/algorithms/words.hpp"
#include "app/scenario/cluster/fabrics.hpp"
#include "app/scenario/cluster/libraries.hpp"
#include "app/scenario/cluster/links.hpp"
#include "app/scenario/cluster/transports.hpp"
#include "app/scenario/mixings/mixings.hpp"
#include "app/scenario/workload/data.hpp"
#include "app/scenario/workload/devices.hpp"
#include "app/scenario/workload/models.hpp"
#include "app/scenario/workload/profiles.hpp"

namespace paceline {

namespace {

std::string_view spelled(WhenNodesDie when) {
    switch (when) {
        case WhenNodesDie::cannot_go_on:
            return "cannot-go-on";
        case WhenNodesDie::reruns_replicas:
            return "reruns-replicas";
        case WhenNodesDie::reruns_models:
            return "reruns-models";
        case WhenNodesDie::renormalizes:
            return "renormalizes";
        case WhenNodesDie::loses_shares:
            return "loses-shares";
        case WhenNodesDie::skips:
            return "skips";
        case WhenNodesDie::server_goes_on:
            return "server-goes-on";
    }
    return "";
}

Json aliases_of(std::string_view kind) {
    Json aliases = Json::array();
    for (const AlgorithmAlias& alias : algorithm_aliases()) {
        const Json stands_for = Json::parse(alias.stands_for);
        if (!alias.summary.empty() && stands_for.at("kind") == kind)
            aliases.push_back(
                {{"name", alias.name}, {"summary", alias.summary}, {"stands_for", stands_for}});
    }
    return aliases;
}

Json algorithms_as_json() {
    Json families = Json::array();
    for (const AlgorithmFamily& family : algorithm_families()) {
        Json algorithms = Json::array();
        for (const AlgorithmEntry& entry : family.algorithms)
            algorithms.push_back({{"name", entry.name},
                                  {"summary", entry.summary},
                                  {"keys", algorithm_keys(entry)},
                                  {"when_nodes_die", spelled(entry.traits.when_nodes_die)},
                                  {"trains", entry.traits.trains},
                                  {"has_server", entry.traits.has_server},
                                  {"paper", entry.paper},
                                  {"aliases", aliases_of(entry.name)}});
        families.push_back({{"family", family.name},
                            {"summary", family.summary},
                            {"algorithms", std::move(algorithms)}});
    }
    return families;
}

template <class Table, class KeysOf>
Json entries_as_json(const Table& table, KeysOf keys_of) {
    Json list = Json::array();
    for (const auto& entry : table)
        list.push_back(
            {{"name", entry.name}, {"summary", entry.summary}, {"keys", keys_of(entry)}});
    return list;
}

constexpr auto own_keys = [](const auto& entry) { return entry.keys; };

Json fabrics_as_json() {
    return entries_as_json(fabric_table(), own_keys);
}

Json models_as_json() {
    return entries_as_json(model_table(), own_keys);
}

Json data_as_json() {
    return entries_as_json(data_table(), own_keys);
}

Json codecs_as_json() {
    return entries_as_json(codec_table(), [](const auto& entry) { return codec_keys(entry.name); });
}

Json aggregations_as_json() {
    return entries_as_json(aggregation_table(),
                           [](const auto& entry) { return aggregation_keys(entry.name); });
}

Json mixings_as_json() {
    Json list = Json::array();
    for (const MixingEntry& entry : mixing_table())
        list.push_back({{"name", entry.name}, {"summary", entry.summary}});
    return list;
}

Json profiles_as_json() {
    Json list = Json::array();
    for (const std::string_view name : profile_names()) {
        const Profile profile = shipped_profile(name);
        Json measured = Json::array();
        for (const MeasuredThroughput& row : profile.throughput)
            measured.push_back({{"device", row.device},
                                {"precision", name_of(row.precision)},
                                {"batch", row.batch ? Json(*row.batch) : Json()},
                                {"samples_per_s", row.samples_per_s},
                                {"source", row.source}});
        list.push_back({{"name", name},
                        {"title", profile.title},
                        {"sample", profile.sample},
                        {"parameters", profile.layout()->entries()},
                        {"macs", profile.macs()},
                        {"measured", std::move(measured)}});
    }
    return list;
}

// Adds memory, power and list price where they are known.
void add_accounts_of(const Device& device, Json& json) {
    if (device.memory) {
        json["memory_bytes"] = device.memory->count;
        json["memory_source"] = device.memory_source;
    }
    if (device.watts) {
        json["watts"] = {{"most", device.watts->most}, {"source", device.watts->source}};
        if (device.watts->idle) json["watts"]["idle"] = *device.watts->idle;
    }
    if (device.price)
        json["price"] = {{"per_hour", device.price->per_hour},
                         {"currency", device.price->currency},
                         {"date", device.price->date},
                         {"source", device.price->source}};
}

Json devices_as_json() {
    Json list = Json::array();
    for (const Device& device : device_table()) {
        Json peaks = Json::object();
        for (const Peak& peak : device.peaks)
            peaks[std::string(name_of(peak.precision))] = peak.flops;
        list.push_back({{"name", device.name},
                        {"title", device.title},
                        {"peak_flops", std::move(peaks)},
                        {"source", device.source}});
        add_accounts_of(device, list.back());
    }
    return list;
}

Json links_as_json() {
    Json list = Json::array();
    for (const LinkPreset& preset : link_presets())
        list.push_back({{"name", preset.name},
                        {"bandwidth", to_string(preset.bandwidth)},
                        {"bandwidth_up", to_string(preset.bandwidth_up.value_or(preset.bandwidth))},
                        {"one_way_latency", to_string(preset.one_way_latency)},
                        {"efficiency", preset.efficiency},
                        {"source", preset.source}});
    return list;
}

Json transports_as_json() {
    Json list = Json::array();
    for (const TransportPreset& preset : transport_presets())
        list.push_back({{"name", preset.name},
                        {"flow_rate", to_string(preset.flow_rate)},
                        {"source", preset.source}});
    return list;
}

Json libraries_as_json() {
    Json list = Json::array();
    for (const LibraryPreset& preset : library_presets()) {
        const Library& library = preset.choice.library;
        list.push_back({{"name", preset.name},
                        {"start_up", to_string(library.start_up)},
                        {"staging", library.staging ? Json(to_string(*library.staging)) : Json()},
                        {"protocol", name_of(library.protocol)},
                        {"all_reduce", name_of(preset.choice.all_reduce, Bytes{1 << 20})},
                        {"source", preset.source}});
    }
    return list;
}

Json schedules_as_json() {
    Json list = Json::array();
    for (const ScheduleEntry& entry : schedule_table())
        list.push_back({{"name", entry.name}, {"summary", entry.summary}});
    return list;
}

Json collectives_as_json() {
    Json list = Json::array();
    for (const CollectiveEntry& entry : collective_table())
        list.push_back(
            {{"key", entry.key}, {"name", entry.name}, {"closed_form", entry.closed_form}});
    return list;
}

struct JsonList {
    std::string_view name;
    Json (*make)();
};

constexpr auto json_lists = std::to_array<JsonList>({{"algorithms", &algorithms_as_json},
                                                     {"fabrics", &fabrics_as_json},
                                                     {"codecs", &codecs_as_json},
                                                     {"aggregations", &aggregations_as_json},
                                                     {"mixings", &mixings_as_json},
                                                     {"models", &models_as_json},
                                                     {"data", &data_as_json},
                                                     {"profiles", &profiles_as_json},
                                                     {"devices", &devices_as_json},
                                                     {"links", &links_as_json},
                                                     {"transports", &transports_as_json},
                                                     {"libraries", &libraries_as_json},
                                                     {"schedules", &schedules_as_json},
                                                     {"combinations", &combinations_as_json},
                                                     {"collectives", &collectives_as_json}});

}  // namespace

std::string list_json(std::string_view name) {
    if (name == "schema") return std::string(resource("scenarios/scenario.schema.json"));
    Json all = Json::object();
    for (const JsonList& list : json_lists) {
        if (list.name == name) return list.make().dump(2) + '\n';
        if (name.empty()) all[std::string(list.name)] = list.make();
    }
    return all.dump(2) + '\n';
}

}  // namespace paceline

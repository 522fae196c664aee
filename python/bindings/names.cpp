// The tables of `paceline list`, for Python.
#include <nlohmann/json.hpp>

#include "app/scenario/aggregations/exchange_choice.hpp"
#include "app/scenario/algorithms/algorithms.hpp"
#include "app/scenario/algorithms/codecs.hpp"
#include "app/scenario/cluster/fabrics.hpp"
#include "app/scenario/cluster/libraries.hpp"
#include "app/scenario/cluster/links.hpp"
#include "app/scenario/mixings/mixings.hpp"
#include "app/scenario/workload/data.hpp"
#include "app/scenario/workload/devices.hpp"
#include "app/scenario/workload/models.hpp"
#include "app/scenario/workload/profiles.hpp"
#include "python/bindings/asking.hpp"

namespace paceline::python {

namespace {

using nlohmann::json;

json keys_of(Keys keys) {
    json all = json::array();
    for (const std::string_view key : keys) all.push_back(key);
    return all;
}

template <class Table>
json with_keys(const Table& table) {
    json all = json::array();
    for (const auto& entry : table)
        all.push_back(
            {{"name", entry.name}, {"summary", entry.summary}, {"keys", keys_of(entry.keys)}});
    return all;
}

json algorithms() {
    json all = json::array();
    for (const AlgorithmEntry& entry : algorithm_table())
        all.push_back(
            {{"name", entry.name}, {"summary", entry.summary}, {"keys", algorithm_keys(entry)}});
    return all;
}

json codecs() {
    json all = json::array();
    for (const CodecEntry& entry : codec_table())
        all.push_back(
            {{"name", entry.name}, {"summary", entry.summary}, {"keys", codec_keys(entry.name)}});
    return all;
}

json aggregations() {
    json all = json::array();
    for (const AggregationEntry& entry : aggregation_table())
        all.push_back({{"name", entry.name},
                       {"summary", entry.summary},
                       {"keys", aggregation_keys(entry.name)}});
    return all;
}

json mixings() {
    json all = json::array();
    for (const MixingEntry& entry : mixing_table())
        all.push_back({{"name", entry.name}, {"summary", entry.summary}});
    return all;
}

json profiles() {
    json all = json::array();
    for (const std::string_view name : profile_names()) all.push_back({{"name", name}});
    return all;
}

json devices() {
    json all = json::array();
    for (const Device& device : device_table())
        all.push_back({{"name", device.name}, {"summary", device.title}});
    return all;
}

template <class Table>
json with_sources(const Table& table) {
    json all = json::array();
    for (const auto& preset : table)
        all.push_back({{"name", preset.name}, {"summary", preset.source}});
    return all;
}

}  // namespace

json tables_of_names() {
    return {{"aggregations", aggregations()},
            {"algorithms", algorithms()},
            {"codecs", codecs()},
            {"data", with_keys(data_table())},
            {"devices", devices()},
            {"fabrics", with_keys(fabric_table())},
            {"libraries", with_sources(library_presets())},
            {"links", with_sources(link_presets())},
            {"mixings", mixings()},
            {"models", with_keys(model_table())},
            {"profiles", profiles()}};
}

}  // namespace paceline::python

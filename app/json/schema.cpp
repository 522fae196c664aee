#include "app/json/schema.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/names.hpp"
#include "app/json/resources.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

using Nodes = std::vector<const Json*>;

// Adds a schema and everything that it may refer to: references and alternatives.
void expand(const Json& schema, const Json& node, Nodes& into) {
    if (const auto ref = node.find("$ref"); ref != node.end()) {
        const auto pointer = ref->get<std::string>().substr(1);  // "#/..." within this file
        expand(schema, schema.at(Json::json_pointer(pointer)), into);
    }
    for (const char* alternatives : {"oneOf", "anyOf", "allOf"})
        if (const auto list = node.find(alternatives); list != node.end())
            for (const Json& one : *list) expand(schema, one, into);
    into.push_back(&node);
}

std::vector<std::string_view> properties(const Nodes& nodes) {
    std::vector<std::string_view> names;
    for (const Json* node : nodes) {
        const auto found = node->find("properties");
        if (found == node->end()) continue;
        for (const auto& [name, value] : found->items())
            if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
    }
    return names;
}

bool is_index(std::string_view key) {
    return !key.empty() && std::ranges::all_of(key, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_list(const Nodes& nodes) {
    return std::ranges::any_of(nodes, [](const Json* node) { return node->contains("items"); });
}

Nodes descend(const Json& schema, const Nodes& nodes, const std::string& key) {
    Nodes below;
    for (const Json* node : nodes) {
        if (const auto items = node->find("items"); items != node->end() && is_index(key))
            expand(schema, *items, below);
        const auto found = node->find("properties");
        if (found == node->end() || !found->contains(key)) continue;
        expand(schema, found->at(key), below);
    }
    return below;
}

}  // namespace

const Json& scenario_schema() {
    static const Json schema =
        parse_json(resource("scenarios/scenario.schema.json"), "scenarios/scenario.schema.json");
    return schema;
}

Keys definition_keys(std::string_view name) {
    static const std::map<std::string, std::vector<std::string_view>, std::less<>> keys_of = [] {
        std::map<std::string, std::vector<std::string_view>, std::less<>> all;
        for (const auto& [definition, json] : scenario_schema().at("definitions").items())
            if (json.contains("properties"))
                for (const auto& [key, property] : json.at("properties").items())
                    all[definition].push_back(key);
        return all;
    }();
    const auto found = keys_of.find(name);
    PACELINE_CHECK(found != keys_of.end(), "the schema defines every object that is read");
    return found->second;
}

std::vector<std::string> split_path(std::string_view path) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    while (true) {
        const std::size_t end = path.find_first_of(".[", begin);
        std::string_view part = path.substr(begin, end - begin);
        if (part.ends_with(']')) part.remove_suffix(1);
        parts.emplace_back(part);
        if (end == std::string_view::npos) return parts;
        begin = end + 1;
    }
}

Fault path_fault(const Json& schema, std::string_view path) {
    Nodes nodes;
    expand(schema, schema, nodes);
    for (const std::string& key : split_path(path)) {
        Nodes below = descend(schema, nodes, key);
        const std::vector<std::string_view> known = properties(nodes);
        if (below.empty() && known.empty() && is_list(nodes))
            return {fmt::format("\"{}\" is no index of a list; elements count from 0", key)};
        if (below.empty() && known.empty())
            return {fmt::format("nothing lies below this path at \"{}\"", key)};
        if (below.empty()) return unknown(key, "a key on this path", known);
        nodes = std::move(below);
    }
    return {};
}

std::string path_problem(const Json& schema, std::string_view path) {
    return path_fault(schema, path).problem;
}

std::vector<std::string> schema_keys(const Json& schema, std::string_view path) {
    Nodes nodes;
    expand(schema, schema, nodes);
    if (!path.empty())
        for (const std::string& key : split_path(path)) nodes = descend(schema, nodes, key);
    const std::vector<std::string_view> names = properties(nodes);
    return {names.begin(), names.end()};
}

}  // namespace paceline

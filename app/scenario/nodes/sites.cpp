#include "app/scenario/nodes/sites.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/scenario/nodes/node_list.hpp"

namespace paceline {

namespace {

constexpr auto site_key_table = std::to_array<std::string_view>({"level", "groups", "size"});

std::string read_name(const Place& place, std::span<const Levels::Named> of_fabric,
                      const std::vector<Level>& finer) {
    const std::string name = as_string(place);
    if (name.empty()) place.refuse("is empty; give the level a name, such as \"region\"");
    if (name == machine_level) place.refuse("exists in every cluster; use another name");
    for (const Levels::Named& level : of_fabric)
        if (level.name == name)
            place.refuse("is a level of this fabric; use another name, or leave it out");
    for (const Level& level : finer)
        if (level.name() == name) place.refuse("is listed twice; each level needs its own name");
    return name;
}

std::vector<std::vector<int>> read_groups(const Place& place, int nodes) {
    if (!place.json->is_array() || place.json->empty())
        place.refuse("is not a list of groups of nodes, such as [[0, 1], [2, 3]]");
    std::vector<std::vector<int>> groups;
    std::vector<int> of(static_cast<std::size_t>(nodes), -1);
    for (std::size_t i = 0; i < place.json->size(); ++i) {
        groups.push_back(read_nodes(place.element(i), nodes));
        for (const int node : groups.back()) {
            int& first = of[static_cast<std::size_t>(node)];
            if (first >= 0)
                place.element(i).refuse(fmt::format(
                    "node {} is in group {} already; a node is in one group", node, first));
            first = static_cast<int>(i);
        }
    }
    const auto left_out = std::ranges::find(of, -1);
    if (left_out != of.end())
        place.refuse(fmt::format("leave out node {}; every node of the fabric is in one group",
                                 left_out - of.begin()));
    return groups;
}

Level read_level(const ObjectReader& read, int nodes, std::span<const Levels::Named> of_fabric,
                 const std::vector<Level>& finer) {
    const std::string name =
        read_name(read.required("level", "its name, such as \"region\""), of_fabric, finer);
    read.not_both("groups", "size");
    if (const auto p = read.optional("size")) {
        const auto size = static_cast<int>(as_integer(*p, 1, 100'000'000));
        return {name, nodes, [size](int node) { return node / size; }};
    }
    return {name,
            read_groups(read.required("groups",
                                      "lists of nodes, such as [[0, 1], [2, 3]]; or give \"size\""),
                        nodes)};
}

}  // namespace

Keys site_keys() {
    return site_key_table;
}

std::vector<Level> read_sites(const Place& place, int nodes,
                              std::span<const Levels::Named> of_fabric) {
    if (!place.json->is_array() || place.json->empty())
        place.refuse(
            "is not a list of levels, such as [{\"level\": \"region\", \"groups\": [[0, 1], [2, "
            "3]]}]");
    std::vector<Level> levels;
    for (std::size_t i = 0; i < place.json->size(); ++i) {
        const ObjectReader read(place.element(i), site_key_table);
        levels.push_back(read_level(read, nodes, of_fabric, levels));
        if (i == 0) continue;
        const Level& finer = levels[i - 1];
        if (const auto cut = finer.cut_by(levels[i]))
            read.place().refuse(fmt::format(
                "cuts group {} of \"{}\" in two; list levels from the finest to the coarsest, each "
                "within the next",
                *cut, finer.name()));
    }
    return levels;
}

Levels levels_of_job(int machines, std::span<const Levels::Named> of_fabric,
                     const std::vector<Level>& own, const std::vector<int>& placement) {
    std::vector<Levels::Named> named(of_fabric.begin(), of_fabric.end());
    for (const Level& level : own)
        named.push_back({level.name(), [level](int node) { return level.group_of(node); }});
    if (!placement.empty())
        for (Levels::Named& level : named)
            level.group_of = [at_node = level.group_of, placement](int machine) {
                return at_node(placement[static_cast<std::size_t>(machine)]);
            };
    return {machines, std::move(named)};
}

}  // namespace paceline

#include "app/scenario/aggregations/exchange_levels.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace paceline {

namespace {

constexpr auto level_key_table = std::to_array<std::string_view>({"level", "by"});
constexpr auto ways = std::to_array<Spelling<ByMachine>>(
    {{"leaders", ByMachine::leaders}, {"shards", ByMachine::shards}});

ByMachine read_way(const Place& by, const WorkerLevel& level) {
    const ByMachine way = as_choice(by, "a way by a level", ways);
    const auto [least, most] = std::ranges::minmax(level.members);
    if (way == ByMachine::shards && least != most)
        by.refuse(fmt::format(
            "need groups of equally many members, and those of \"{}\" have from {} to {}; write "
            "\"leaders\"",
            level.name, least, most));
    return way;
}

// The mean of a group is that of w workers. It becomes part of a mean over k groups, which have n
// workers together, as w k / n of it. Returns this factor for each group; empty: all are 1.
std::vector<double> scale_of(const WorkerLevel& level, const WorkerLevel* above) {
    const std::vector<int> all(level.group_of.size());
    const std::vector<int>& super_of = above ? above->group_of : all;
    const int supers = above ? static_cast<int>(above->members.size()) : 1;
    const std::vector<int> workers =
        members_of(level.group_of, static_cast<int>(level.members.size()), nullptr);
    const std::vector<int> of_super = members_of(super_of, supers, nullptr);
    const std::vector<int> groups_of_super = members_of(super_of, supers, &level);
    std::vector<double> scale(level.members.size(), 1);
    for (std::size_t worker = 0; worker < level.group_of.size(); ++worker) {
        const auto group = static_cast<std::size_t>(level.group_of[worker]);
        const auto super = static_cast<std::size_t>(super_of[worker]);
        scale[group] = double{1} * workers[group] * groups_of_super[super] / of_super[super];
    }
    if (std::ranges::all_of(scale, [](double one) { return one == 1; })) scale.clear();
    return scale;
}

}  // namespace

Keys exchange_level_keys() {
    return level_key_table;
}

void read_level_of_neighbors(const Place& place, const WorkerShape& shape, AggregationPlan& plan) {
    const ObjectReader read(place, level_key_table);
    plan.devices = read_block_level(read.required("level", "such as \"machine\""), shape);
    plan.machines = as_choice(read.required("by", "\"leaders\""), "a way by a level", ways);
}

void read_exchange_levels(const Place& place, const WorkerShape& shape, AggregationPlan& plan) {
    const bool is_list = place.json->is_array();
    if (is_list && (place.json->empty() || place.json->size() > most_levels))
        place.refuse(fmt::format(
            "is not a list of 1 to {} levels, such as [{{\"level\": \"machine\", \"by\": "
            "\"shards\"}}]",
            most_levels));
    std::vector<Place> names;
    std::vector<Place> ways_by;
    for (std::size_t i = 0; i < (is_list ? place.json->size() : 1); ++i) {
        const ObjectReader read(is_list ? place.element(i) : place, level_key_table);
        names.push_back(read.required("level", "such as \"machine\""));
        ways_by.push_back(read.required("by", "\"leaders\" or \"shards\""));
    }
    const std::vector<WorkerLevel> levels = read_worker_levels(names, shape);
    std::vector<ExchangeLevel> exchanged;
    for (std::size_t i = 0; i < levels.size(); ++i)
        exchanged.push_back({read_way(ways_by[i], levels[i]), levels[i].group_of, levels[i].members,
                             scale_of(levels[i], i + 1 < levels.size() ? &levels[i + 1] : nullptr),
                             levels[i].name == machine_level});
    plan.machines = exchanged.front().by;
    plan.devices = shape.devices_per_node;
    if (exchanged.size() == 1 && exchanged.front().of_machines) return;
    plan.levels = std::make_shared<const std::vector<ExchangeLevel>>(std::move(exchanged));
}

}  // namespace paceline

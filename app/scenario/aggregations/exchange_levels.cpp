#include "app/scenario/aggregations/exchange_levels.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/names.hpp"

namespace paceline {

namespace {

constexpr auto level_key_table = std::to_array<std::string_view>({"level", "by"});
constexpr auto ways = std::to_array<Spelling<ByMachine>>(
    {{"leaders", ByMachine::leaders}, {"shards", ByMachine::shards}});
constexpr std::size_t most_levels = 8;

Level read_level(const Place& name, const WorkerShape& shape) {
    const auto level = shape.levels.find(as_string(name));
    if (!level)
        name.refuse(unknown(as_string(name), "a level of this cluster", shape.levels.names()));
    if (level->name() != machine_level) return *level;
    if (shape.devices_per_node < 2)
        name.refuse(
            "is for machines of several devices: set \"cluster.devices_per_node\" above 1, or "
            "leave it out");
    shape.check_even(name);
    if (shape.workers % shape.devices_per_node != 0)
        name.refuse(fmt::format("needs full machines: {} devices do not fill machines of {}",
                                shape.workers, shape.devices_per_node));
    return *level;
}

// Returns how many workers the groups of a level have, or with a `below`, how many of its groups.
std::vector<int> count(const std::vector<int>& group_of, int groups, const ExchangeLevel* below) {
    std::vector<int> counts(static_cast<std::size_t>(groups));
    std::vector<bool> seen(below ? below->members.size() : 0);
    for (std::size_t worker = 0; worker < group_of.size(); ++worker) {
        if (below) {
            const auto part = static_cast<std::size_t>(below->group_of[worker]);
            if (seen[part]) continue;
            seen[part] = true;
        }
        ++counts[static_cast<std::size_t>(group_of[worker])];
    }
    return counts;
}

ExchangeLevel read_one(const ObjectReader& read, const Level& level, const WorkerShape& shape,
                       const ExchangeLevel* below) {
    ExchangeLevel one;
    const Place by = read.required("by", "\"leaders\" or \"shards\"");
    one.by = as_choice(by, "a way by a level", ways);
    one.of_machines = level.name() == machine_level;
    for (int worker = 0; worker < shape.workers; ++worker)
        one.group_of.push_back(level.group_of(shape.sizes.machine_of(worker)));
    const auto groups = static_cast<int>(level.groups().size());
    one.members = count(one.group_of, groups, below);
    const auto [least, most] = std::ranges::minmax(one.members);
    if (one.by == ByMachine::shards && least != most)
        by.refuse(fmt::format(
            "need groups of equally many members, and those of \"{}\" have from {} to {}; write "
            "\"leaders\"",
            level.name(), least, most));
    return one;
}

// The mean of a group is that of w workers. It becomes part of a mean over k groups, which have n
// workers together, as w k / n of it.
void set_scales(std::vector<ExchangeLevel>& levels) {
    for (std::size_t i = 0; i < levels.size(); ++i) {
        ExchangeLevel& level = levels[i];
        const std::vector<int> workers = count(level.group_of, level.groups(), nullptr);
        const bool is_last = i + 1 == levels.size();
        const std::vector<int> all(level.group_of.size());
        const std::vector<int>& super_of = is_last ? all : levels[i + 1].group_of;
        const int supers = is_last ? 1 : levels[i + 1].groups();
        const std::vector<int> of_super = count(super_of, supers, nullptr);
        const std::vector<int> groups_of_super = count(super_of, supers, &level);
        std::vector<double> scale(level.members.size(), 1);
        for (std::size_t worker = 0; worker < level.group_of.size(); ++worker) {
            const auto group = static_cast<std::size_t>(level.group_of[worker]);
            const auto super = static_cast<std::size_t>(super_of[worker]);
            scale[group] = double{1} * workers[group] * groups_of_super[super] / of_super[super];
        }
        if (std::ranges::any_of(scale, [](double one) { return one != 1; }))
            level.scale = std::move(scale);
    }
}

}  // namespace

Keys exchange_level_keys() {
    return level_key_table;
}

void read_exchange_levels(const Place& place, const WorkerShape& shape, AggregationPlan& plan) {
    const bool is_list = place.json->is_array();
    if (is_list && (place.json->empty() || place.json->size() > most_levels))
        place.refuse(fmt::format(
            "is not a list of 1 to {} levels, such as [{{\"level\": \"machine\", \"by\": "
            "\"shards\"}}]",
            most_levels));
    std::vector<ExchangeLevel> levels;
    std::optional<Level> finer;
    for (std::size_t i = 0; i < (is_list ? place.json->size() : 1); ++i) {
        const ObjectReader read(is_list ? place.element(i) : place, level_key_table);
        const Place name = read.required("level", "such as \"machine\"");
        Level level = read_level(name, shape);
        if (const auto cut = finer ? finer->cut_by(level) : std::nullopt)
            name.refuse(fmt::format(
                "cuts group {} of \"{}\" in two; levels go from the finest to the coarsest, each "
                "within the next",
                *cut, finer->name()));
        if (finer && level.groups().size() == finer->groups().size())
            name.refuse(fmt::format("has the groups of \"{}\" again; leave one of them out",
                                    finer->name()));
        levels.push_back(read_one(read, level, shape, levels.empty() ? nullptr : &levels.back()));
        finer = std::move(level);
    }
    plan.machines = levels.front().by;
    plan.devices = shape.devices_per_node;
    if (levels.size() == 1 && levels.front().of_machines) return;
    set_scales(levels);
    plan.levels = std::make_shared<const std::vector<ExchangeLevel>>(std::move(levels));
}

}  // namespace paceline

#include "app/scenario/aggregations/worker_shape.hpp"

#include <cstddef>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "app/json/names.hpp"

namespace paceline {

void WorkerShape::check_even(const Place& place) const {
    if (uneven)
        place.refuse(
            "works by machine, and the machines of \"cluster.classes\" differ in devices, bus or "
            "cards; use one that does not, such as \"ring\" or \"machines\": \"flat\"");
}

namespace {

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

void check_within(const Place& name, const Level& finer, const Level& level) {
    if (const auto cut = finer.cut_by(level))
        name.refuse(fmt::format(
            "cuts group {} of \"{}\" in two; levels go from the finest to the coarsest, each "
            "within the next",
            *cut, finer.name()));
    if (level.groups().size() == finer.groups().size())
        name.refuse(
            fmt::format("has the same groups as \"{}\"; leave one of them out", finer.name()));
}

}  // namespace

std::vector<WorkerLevel> read_worker_levels(std::span<const Place> names,
                                            const WorkerShape& shape) {
    std::vector<WorkerLevel> levels;
    std::optional<Level> finer;
    for (const Place& name : names) {
        Level level = read_level(name, shape);
        if (finer) check_within(name, *finer, level);
        WorkerLevel one{level.name()};
        one.group_of.resize(static_cast<std::size_t>(shape.workers));
        const auto groups = groups_of_devices(level, shape.sizes, shape.workers);
        for (std::size_t i = 0; i < groups.size(); ++i)
            for (const int worker : groups[i])
                one.group_of[static_cast<std::size_t>(worker)] = static_cast<int>(i);
        one.members = members_of(one.group_of, static_cast<int>(groups.size()),
                                 levels.empty() ? nullptr : &levels.back());
        levels.push_back(std::move(one));
        finer = std::move(level);
    }
    return levels;
}

int read_block_level(const Place& name, const WorkerShape& shape) {
    const WorkerLevel level = read_worker_levels(std::span(&name, 1), shape).front();
    const int size = level.members.front();
    for (std::size_t worker = 0; worker < level.group_of.size(); ++worker)
        if (level.group_of[worker] != static_cast<int>(worker) / size)
            name.refuse(
                "has groups that differ in size, or whose nodes are not contiguous; here all must "
                "have the same shape");
    if (shape.workers % size != 0)
        name.refuse(fmt::format(
            "has groups that differ in size: {} workers do not divide into groups of {}",
            shape.workers, size));
    return size;
}

std::vector<int> members_of(const std::vector<int>& group_of, int groups,
                            const WorkerLevel* below) {
    std::vector<int> members(static_cast<std::size_t>(groups));
    std::vector<bool> seen(below ? below->members.size() : 0);
    for (std::size_t worker = 0; worker < group_of.size(); ++worker) {
        if (below) {
            const auto part = static_cast<std::size_t>(below->group_of[worker]);
            if (seen[part]) continue;
            seen[part] = true;
        }
        ++members[static_cast<std::size_t>(group_of[worker])];
    }
    return members;
}

}  // namespace paceline

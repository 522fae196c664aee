#include "sim/engine/levels.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/engine/check.hpp"

namespace paceline {

namespace {

std::vector<std::vector<int>> grouped(int machines, const std::function<int(int)>& group_of) {
    std::map<int, std::vector<int>> by_number;
    for (int machine = 0; machine < machines; ++machine)
        by_number[group_of(machine)].push_back(machine);
    std::vector<std::vector<int>> groups;
    groups.reserve(by_number.size());
    for (auto& [number, members] : by_number) groups.push_back(std::move(members));
    return groups;
}

}  // namespace

Level::Level(std::string name, std::vector<std::vector<int>> groups)
    : name_(std::move(name)), groups_(std::move(groups)) {
    std::size_t machines = 0;
    for (const std::vector<int>& group : groups_) machines += group.size();
    group_of_.assign(machines, -1);
    for (std::size_t i = 0; i < groups_.size(); ++i) {
        PACELINE_CHECK(!groups_[i].empty(), "a group of a level has a machine");
        std::ranges::sort(groups_[i]);
        for (const int machine : groups_[i]) {
            PACELINE_CHECK(machine >= 0 && std::cmp_less(machine, machines) &&
                               group_of_[static_cast<std::size_t>(machine)] < 0,
                           "every machine is in one group of a level");
            group_of_[static_cast<std::size_t>(machine)] = static_cast<int>(i);
        }
    }
}

Level::Level(std::string name, int machines, const std::function<int(int machine)>& group_of)
    : Level(std::move(name), grouped(machines, group_of)) {}

std::optional<int> Level::cut_by(const Level& outer) const {
    PACELINE_CHECK(outer.machines() == machines(), "levels are of the same machines");
    for (std::size_t i = 0; i < groups_.size(); ++i)
        for (const int machine : groups_[i])
            if (outer.group_of(machine) != outer.group_of(groups_[i].front()))
                return static_cast<int>(i);
    return std::nullopt;
}

std::vector<std::string_view> Levels::names() const {
    std::vector<std::string_view> names{machine_level};
    if (named_)
        for (const Named& level : *named_) names.emplace_back(level.name);
    return names;
}

std::optional<Level> Levels::find(std::string_view name) const {
    if (name == machine_level)
        return Level(std::string(name), machines_, [](int machine) { return machine; });
    if (named_)
        for (const Named& level : *named_)
            if (level.name == name) return Level(level.name, machines_, level.group_of);
    return std::nullopt;
}

std::vector<std::vector<int>> groups_of_devices(const Level& level, const MachineSizes& sizes,
                                                int devices) {
    std::vector<std::vector<int>> groups(level.groups().size());
    for (int device = 0; device < devices; ++device) {
        const int machine = sizes.machine_of(device);
        PACELINE_CHECK(machine < level.machines(), "the devices are those of the machines");
        groups[static_cast<std::size_t>(level.group_of(machine))].push_back(device);
    }
    return groups;
}

}  // namespace paceline

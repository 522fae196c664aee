// Levels above the machine: which machines stand together, in a leaf, a pod or a region.
//
// A level divides the machines 0, 1, .. of a job into groups. Every machine is in exactly one group
// of each level, and no group is empty. Groups are numbered 0, 1, .. as they are given, and the
// machines of a group are in increasing order; they need not be neighbors. One level lies within
// another if no group of it has machines in two groups of the other.
//
// A level knows machines, not devices: groups_of_devices() has the devices of its groups. Nothing
// here has a unit, and errors of users are refused before (app/scenario/nodes/sites.hpp).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/engine/machine_sizes.hpp"

namespace paceline {

class Level {
  public:
    /// Requires that the machines of all groups are 0 .. n-1, each once, and no group is empty.
    Level(std::string name, std::vector<std::vector<int>> groups);
    /// Puts together the machines for which `group_of` returns the same number. Groups are in the
    /// order of these numbers, without those that no machine has. Requires machines >= 1.
    Level(std::string name, int machines, const std::function<int(int machine)>& group_of);

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] int machines() const { return static_cast<int>(group_of_.size()); }
    [[nodiscard]] int group_of(int machine) const {
        return group_of_[static_cast<std::size_t>(machine)];
    }
    /// Returns the machines of each group.
    [[nodiscard]] const std::vector<std::vector<int>>& groups() const { return groups_; }
    /// Returns the first group that has machines in two groups of `outer`; empty if this level lies
    /// within it. Requires levels of the same machines.
    [[nodiscard]] std::optional<int> cut_by(const Level& outer) const;

  private:
    std::string name_;
    std::vector<std::vector<int>> groups_;
    std::vector<int> group_of_;  // [machine]
};

/// The levels of a job by name. A level is worked out when it is asked for, so that jobs which use
/// none pay nothing. A copy is cheap.
class Levels {
  public:
    struct Named {
        std::string name;
        std::function<int(int machine)> group_of;  // any numbers; equal ones are a group
    };

    /// One machine.
    Levels() = default;
    /// `named` are the levels above the machine.
    Levels(int machines, std::vector<Named> named)
        : machines_(machines),
          named_(std::make_shared<const std::vector<Named>>(std::move(named))) {}

    [[nodiscard]] int machines() const { return machines_; }
    /// Returns the names of all levels: "machine", of which each group is one machine, then those
    /// above it.
    [[nodiscard]] std::vector<std::string_view> names() const;
    /// Returns the level of this name; empty if there is none.
    [[nodiscard]] std::optional<Level> find(std::string_view name) const;

  private:
    int machines_ = 1;
    std::shared_ptr<const std::vector<Named>> named_{};  // null: none
};

inline constexpr std::string_view machine_level = "machine";

/// Returns the devices of each group, in increasing order: the devices of all its machines.
/// Requires that `devices` fill the machines of the level.
[[nodiscard]] std::vector<std::vector<int>> groups_of_devices(const Level& level,
                                                              const MachineSizes& sizes,
                                                              int devices);

}  // namespace paceline

// The workers that an algorithm runs on, as its options see them, and the levels that they name.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/json/object_reader.hpp"
#include "sim/collectives/plans/all_reduce_plan.hpp"
#include "sim/engine/levels.hpp"
#include "sim/engine/machine_sizes.hpp"

namespace paceline {

/// The workers that an algorithm runs on, reduced to what its options depend on.
struct WorkerShape {
    int workers = 1;
    int devices_per_node = 1;
    AllReducePlan library{};     // the all-reduce of the cluster's library
    int cards = 1;               // network cards of a machine
    std::optional<Nccl> nccl{};  // what NCCL would know of them, where a library is read
    bool uneven = false;         // machines differ in what they hold
    Levels levels{};             // of the machines
    MachineSizes sizes{};        // the machine of each worker

    /// Returns the devices of each machine; 0 where machines differ.
    [[nodiscard]] int devices_of_machines() const { return uneven ? 0 : devices_per_node; }
    /// Throws ConfigError where machines differ, of an option that goes by machine.
    void check_even(const Place& place) const;
};

/// The most levels that an option names.
inline constexpr std::size_t most_levels = 8;

/// A level as workers see it (sim/engine/levels.hpp).
struct WorkerLevel {
    std::string name;
    std::vector<int> group_of{};  // [worker]
    /// Of each group: how many groups of the level below it has, or at the first level how many
    /// workers.
    std::vector<int> members{};
};

/// Returns the levels of these names, from the finest to the coarsest. Throws ConfigError, also if
/// one does not lie within the next.
std::vector<WorkerLevel> read_worker_levels(std::span<const Place> names, const WorkerShape& shape);

/// Returns how many workers each group of a level has. Throws ConfigError unless all groups have
/// equally many, in the order of their ranks.
int read_block_level(const Place& name, const WorkerShape& shape);

/// Returns how many workers the groups of a level have, or with a level below, how many of its
/// groups.
std::vector<int> members_of(const std::vector<int>& group_of, int groups, const WorkerLevel* below);

}  // namespace paceline

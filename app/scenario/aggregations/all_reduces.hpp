// Reads the "all_reduce" of an algorithm: a name, or an object where a name is not enough.
#pragma once

#include <optional>

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

/// Reads "slice" and "in_flight", or "buffer", "slots" and "channels". Throws ConfigError.
Slices read_slices(const ObjectReader& read);

/// Reads "rings". Returns how many rings there are over machines. Throws ConfigError.
int read_rings(const ObjectReader& read, const WorkerShape& shape);

/// Throws ConfigError.
AllReducePlan read_all_reduce(const Place& place, const WorkerShape& shape);

}  // namespace paceline

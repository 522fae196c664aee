// What is computed: a step's gradients and their time, and what messages of the model weigh.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/cluster_choice.hpp"
#include "app/data.hpp"
#include "app/object_reader.hpp"
#include "app/training.hpp"

namespace paceline {

struct Workload {
    std::string name;
    LayoutPtr layout;                            // what messages weigh as
    std::vector<double> tensor_macs;             // by tensor of the layout; all 0: not known
    Duration gradient;                           // one gradient of one worker
    int accumulation = 1;                        // gradients of a step
    Duration update{};                           // the optimizer, once per step
    std::optional<std::int64_t> batch;           // samples per gradient
    std::optional<std::int64_t> stand_in_batch;  // those that the clock is charged for, if others
    std::optional<std::int64_t> dataset;         // samples per epoch
    TimeOnDevice time_on{};                      // of a gradient, on another device

    /// What a worker computes in one step.
    [[nodiscard]] Duration step() const { return sum(multiple(accumulation, gradient), update); }
    /// Samples per worker and step.
    [[nodiscard]] std::optional<std::int64_t> step_batch() const;
    /// Those that the clock is charged for.
    [[nodiscard]] std::optional<std::int64_t> charged_step_batch() const;
};

/// What of a scenario a workload depends on.
struct WorkloadSurroundings {
    const ClusterChoice& cluster;
    std::uint64_t seed;
    DataCache& cache;
};

// The tables of known keys, for the test that holds scenario.schema.json against them.
Keys workload_keys();
Keys stand_in_keys();

/// Fills in the workload; returns what trains, if anything does. Throws ConfigError.
std::optional<Training> read_workload(const Place& place, const WorkloadSurroundings& around,
                                      Workload& workload);

}  // namespace paceline

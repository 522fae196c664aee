// One point of a study, read and checked: everything a run needs, and nothing of JSON left.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/algorithms.hpp"
#include "app/cluster_choice.hpp"
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

struct StopConditions {
    std::optional<std::int64_t> iterations;
    std::optional<double> epochs;
    std::optional<Duration> time;
};

struct Scenario {
    std::string title;
    std::uint64_t seed = 1;
    ClusterChoice cluster;
    Workload workload;
    AlgorithmChoice algorithm;
    StopConditions stop;
    std::optional<Training> training;  // empty: timing-only

    /// 0 when the data set or the batch is not known.
    [[nodiscard]] double steps_per_epoch() const;
    /// Steps until iterations or epochs are reached; nothing when only time ends the run.
    [[nodiscard]] std::optional<std::int64_t> steps() const;
};

// The tables of known keys, for the test that holds scenario.schema.json against them.
Keys scenario_keys();
Keys workload_keys();
Keys stand_in_keys();
Keys stop_keys();

/// Reads a resolved scenario (no sweep in it). Throws ConfigError.
Scenario read_scenario(const Json& resolved, const std::string& file, DataCache& cache);

/// Peak memory that a run of the scenario is estimated to need.
Bytes estimated_memory(const Scenario& scenario);

}  // namespace paceline

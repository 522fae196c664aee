// One point of a study, read and checked: everything a run needs, and nothing of JSON left.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/algorithms.hpp"
#include "app/cluster_choice.hpp"
#include "app/object_reader.hpp"
#include "app/training.hpp"
#include "app/workload.hpp"

namespace paceline {

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
Keys stop_keys();

/// Reads a resolved scenario (no sweep in it). Throws ConfigError.
Scenario read_scenario(const Json& resolved, const std::string& file, DataCache& cache);

/// Peak memory that a run of the scenario is estimated to need.
Bytes estimated_memory(const Scenario& scenario);

}  // namespace paceline

// One point of a study, read and checked: everything a run needs, and nothing of JSON left.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

/// Of a gigabyte (1e9 bytes) that a worker sends or receives, in any currency.
struct Price {
    double up_per_gb = 0;
    double down_per_gb = 0;
};

struct Scenario {
    std::string title;
    std::string job = "main";  // its name among several
    std::uint64_t seed = 1;
    ClusterChoice cluster;
    Workload workload;
    AlgorithmChoice algorithm;
    StopConditions stop;
    std::optional<Training> training;  // empty: timing-only
    std::optional<Price> price;
    std::vector<Scenario> other_jobs{};  // on the same network, without values; cut with this one

    /// Whether anything else than this job, or this job elsewhere than on the first nodes, is on
    /// the network.
    [[nodiscard]] bool shares_network() const {
        return !other_jobs.empty() || !cluster.background.empty() || !cluster.placement.empty();
    }
    /// 0 when the data set or the batch is not known.
    [[nodiscard]] double steps_per_epoch() const;
    /// Steps until iterations or epochs are reached; nothing when only time ends the run.
    [[nodiscard]] std::optional<std::int64_t> steps() const;
};

// The tables of known keys, for the test that holds scenario.schema.json against them.
Keys scenario_keys();
Keys stop_keys();
Keys price_keys();
Keys other_job_keys();

/// Reads a resolved scenario (no sweep in it). Throws ConfigError.
Scenario read_scenario(const Json& resolved, const std::string& file, DataCache& cache);

/// Peak memory that a run of the scenario is estimated to need.
Bytes estimated_memory(const Scenario& scenario);

}  // namespace paceline

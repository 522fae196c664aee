// One point of a study, read and checked. It holds everything that a run needs and no JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/measures/money.hpp"
#include "app/json/object_reader.hpp"
#include "app/scenario/algorithms/algorithm_choice.hpp"
#include "app/scenario/cluster/cluster_choice.hpp"
#include "app/scenario/workload/training.hpp"
#include "app/scenario/workload/workload.hpp"

namespace paceline {

struct StopConditions {
    std::optional<std::int64_t> iterations;
    std::optional<double> epochs;
    std::optional<std::int64_t> samples;  // of all workers together
    std::optional<std::int64_t> tokens;   // the same in tokens; sets `samples` if it is less
    std::optional<Duration> time;
};

inline constexpr std::uint64_t default_seed = 1;

struct Scenario {
    std::string job = "main";  // its name, if there are several jobs
    std::uint64_t seed = default_seed;
    ClusterChoice cluster;
    Workload workload;
    AlgorithmChoice algorithm;
    StopConditions stop;
    std::int64_t skip = 0;   // first steps of each worker that rates leave out
    bool alone = false;      // each job is run alone on the network, too, for its slowdown
    bool resources = false;  // results have tokens, operations and device-hours
    bool spread = false;     // results have quantiles over the workers of the first job
    bool interval = false;   // results have intervals of times
    std::optional<Training> training;  // empty: timing-only
    std::optional<Price> price;
    std::optional<Power> power;
    std::vector<Scenario> other_jobs{};  // on the same network, without values; end with this job

    std::vector<Scenario> draws{};  // the same with other constants, for these intervals

    /// Returns whether the network carries anything besides this job, or this job is not on the
    /// first nodes.
    [[nodiscard]] bool shares_network() const {
        return !other_jobs.empty() || !cluster.background.empty() || !cluster.placement.empty();
    }
    /// Returns 0 if the data set or the batch is not known.
    [[nodiscard]] double steps_per_epoch() const;
    /// Returns the steps until the limit of iterations, epochs or samples; nothing if only a time
    /// limit ends the run. Where workers run freely until a number of samples, it is their mean.
    [[nodiscard]] std::optional<std::int64_t> steps() const;
    /// Returns the steps that each worker takes at most, if there is such a limit.
    [[nodiscard]] std::optional<std::int64_t> steps_of_each() const;
    /// Returns the gradients that all workers may compute together, where the algorithm lets some
    /// compute more than others and samples end the run.
    [[nodiscard]] std::optional<std::int64_t> gradients_of_all() const;
};

// The tables of known keys. A test checks scenario.schema.json against them.
Keys scenario_keys();
Keys stop_keys();
Keys other_job_keys();

/// A scenario that has not been read.
struct ScenarioText {
    std::string file;  // its name, for errors; names in it are relative to the folder in this one
    std::string text;
    Sources sources;
};

/// Reads a resolved scenario, which has no sweep, and the testbed that its cluster may name. `file`
/// is its name. Throws ConfigError.
Scenario read_scenario(const Json& resolved, const std::string& file, const Sources& sources);

}  // namespace paceline

// A problem that the caller brings, in place of a net of the table: a loss and its gradients.
//
// A problem trains on the workload's "data", or has samples of its own, which it knows by number.
// It takes no part in estimates of how long a gradient takes: the time is stated, or that of the
// net that it stands in for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/scenario/workload/data.hpp"
#include "app/scenario/workload/models.hpp"

namespace paceline {

struct OwnProblem {
    std::vector<std::string> options;  // its keys, besides "kind" and "label"
    bool takes_data = false;           // the workload has "data" for it

    struct Made {
        std::string name;
        LayoutPtr layout;
        bool classifies = false;
        std::int64_t samples = 0;      // of its own; of no meaning if it takes data
        std::optional<Shards> shards;  // how it deals them; empty: at random
        std::function<std::unique_ptr<Problem>(std::shared_ptr<const Dataset>, ProblemOptions)>
            problem;
    };
    /// Who it is made for.
    struct Surroundings {
        const DataChoice* data;  // null: it takes none
        int workers;
        std::uint64_t seed;
    };
    /// Checks the options of a model. Throws ConfigError.
    std::function<Made(const Place& model, const Surroundings& around)> make;
};

/// A problem as a workload has it.
struct OwnModel {
    ModelChoice model;
    DataChoice data;
};

/// Reads a model that is such a problem. `data` is null if the workload gives none. Throws
/// ConfigError.
OwnModel read_own_problem(const OwnProblem& own, const Place& model, const Place* data, int workers,
                          std::uint64_t seed);

}  // namespace paceline

// A point whose time was measured or could be, as JSON that causes are put into.
#pragma once

#include <memory>
#include <string>

#include "app/scenario/study.hpp"

namespace paceline {

struct DiagnosedPoint {
    std::shared_ptr<const Json> scenario;  // resolved; its algorithm is in today's words
    std::shared_ptr<const Json> as_read;   // the same in the scenario's own words
    std::string column = "step_time_s";
    bool is_a_collective = false;  // its workload is none of the scenario's
    bool slowest_alone = false;    // of all nodes, each alone
    int machines = 1;
    int workers = 1;
    double gradient_s = 0;  // that a worker computes in a step
    std::string time_path;  // of the time of a gradient; empty: it cannot be changed

    [[nodiscard]] bool has_gradients() const { return !is_a_collective && !time_path.empty(); }
    /// Returns whether it says how long a gradient takes: a step on one machine that is any of
    /// them.
    [[nodiscard]] bool tells_compute() const {
        return has_gradients() && machines == 1 && !slowest_alone &&
               (column == "step_time_s" || column == "samples_per_s");
    }
};

/// Multiplies the time of its gradients, in a scenario that began as this point's.
void multiply_gradient_time(Json& scenario, const DiagnosedPoint& point, double factor);

/// Gives a collective the all-reduce of this job, if it is one.
void take_plan_of(const Json& job, Json& collective);

/// Reads the one point of a scenario with these changes. Throws ConfigError.
DiagnosedPoint diagnosed_point(const ScenarioText& scenario, const Settings& settings,
                               const Picks& picks);

/// Leaves one device of one machine in a scenario.
void leave_one_device(Json& scenario);

/// Does the same for JSON. What is read may name files beside the scenario.
DiagnosedPoint diagnosed_point(const Json& json, const ScenarioText& scenario);

}  // namespace paceline

#include "app/run/running_time.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "app/run/run_point.hpp"

namespace paceline {

namespace {

// Cost of a message on an idle star, measured by bench/ on a slow machine.
constexpr double seconds_per_message = 0.2e-6;

// Floating-point operations of training per second and core, with two per multiply-accumulate and
// three passes per gradient; measured by bench/ on nets of some 100,000 parameters.
constexpr double training_flops = 2e10;

// Time to build the machine and to tear it down.
constexpr double seconds_per_run = 50e-6;

double training_seconds(const Scenario& scenario) {
    if (!scenario.training || !scenario.steps()) return 0;
    const std::vector<double>& macs = scenario.training->model.tensor_macs;
    const double per_sample = 6 * std::accumulate(macs.begin(), macs.end(), 0.0);
    return per_sample * static_cast<double>(*scenario.workload.step_batch()) *
           scenario.cluster.workers * static_cast<double>(*scenario.steps()) / training_flops;
}

}  // namespace

std::optional<double> expected_seconds(const Scenario& scenario) {
    const std::optional<double> messages = messages_of_run(scenario);
    if (!messages) return std::nullopt;
    return seconds_per_run + *messages * seconds_per_message + training_seconds(scenario);
}

std::optional<double> expected_sim_seconds(const Scenario& scenario) {
    std::optional<double> seconds;
    if (const auto steps = scenario.steps(); steps && *steps > 0)
        if (const auto step = model_step_time(scenario, *steps))
            seconds = static_cast<double>(*steps) * to_seconds(*step);
    if (const auto limit = scenario.stop.time)
        seconds = seconds ? std::min(*seconds, to_seconds(*limit)) : to_seconds(*limit);
    return seconds;
}

}  // namespace paceline

// The runs that explain a point: how much of it they run, and how they are run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/measures/link_use.hpp"
#include "analysis/measures/metrics.hpp"
#include "app/run/run_point.hpp"
#include "app/scenario/scenario.hpp"

namespace paceline {

/// Calls `body` with 0, 1, ..., count - 1, in any order, also at the same time.
using ForEach =
    std::function<void(std::size_t count, const std::function<void(std::size_t)>& body)>;
/// Calls it in order.
void one_after_another(std::size_t count, const std::function<void(std::size_t)>& body);

struct ExplainOptions {
    std::int64_t most_messages = 300'000;  // of one run, which always has a step and a period
    ForEach for_each = one_after_another;
    SpinLimit spin{};              // of each run
    Progress* progress = nullptr;  // of all runs, the latest to report; its `stop` ends them
};

/// The explanation was stopped.
struct ExplanationStopped {};

/// Returns a point's scenario as it is explained: without values, and in whole periods of its
/// algorithm.
Scenario as_explained(Scenario scenario);

/// The limits of each run.
struct RunExtent {
    std::int64_t steps;
    std::optional<Duration> time;
};

/// Returns the messages per step, averaged over a period.
double messages_per_step(const Scenario& scenario);

/// Returns as many steps as the message budget allows, in whole periods.
///
/// If only a time limit ends a point with uneven workers, its runs are limited in time, too, so
/// that fast workers take more steps than slow ones. The steps are then only a bound for
/// counterfactuals that would never end. Throws ExplanationStopped.
RunExtent extent_of(const Scenario& scenario, const ExplainOptions& options);
Scenario cut_to(Scenario scenario, const RunExtent& extent);

/// Returns the results in the order of the scenarios. Throws ExplanationStopped.
std::vector<Metrics> run_explained(const std::vector<Scenario>& scenarios,
                                   const ExplainOptions& options);
/// Returns whose messages are on the links: the main job, the others and "background"; none if
/// there is the main job alone.
std::vector<std::string> traffic_owners(const Scenario& scenario);
/// Notes the use of links, by the owners in that order. Throws ExplanationStopped.
Metrics run_watched(const Scenario& scenario, const ExplainOptions& options, LinkUse& use);

}  // namespace paceline

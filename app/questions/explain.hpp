// Explains one point of a study: where a step's time goes, which links are busy, how far the point
// is from the closed form and why, and what the next doubling of a resource would gain.
//
// The parts of a step are differences between runs. The point is run as it is, and then again and
// again, each time with one more obstacle removed. All runs have the same seed and the same number
// of steps:
//
//   T_0 as it is  ->  T_1 no other traffic  ->  no failures  ->  nodes alike  ->  steady links
//       ->  no protocol costs  ->  no library  ->  no latency  ->  core without limits  ->  nodes'
//                                                  links without
//       limits  ->  servers' links without limits  ->  T_m buses without limits
//
//   part i = T_(i-1) - T_i        compute, coding and idle together = T_m
//
// The parts therefore sum to T_0 exactly. An obstacle that the point does not have gets no rung.
// The order matters where obstacles hide one another: a part is the gain from removing it after all
// those above it have been removed. Parts of random effects are noisy and may fall below 0. Coding
// is the T_m of a run whose gradients and updates take no time. Compute is the time of one step's
// gradients and updates. Idle is the rest of T_m. Overlapped time appears in no part and is
// reported as a gain:
//
//   overlap won = T_m + communication alone - coding - T(nodes alike)
//
// where "communication alone" is the step time with nodes alike whose gradients and updates take no
// time.
//
// A run that failed takes no part in a difference. What the obstacle that it removes costs is then
// not known: its time, and that of the next rung, which cannot be told from it, is a part of its
// own (not attributed). If the last rung failed, so is all that is left besides compute and coding,
// because idle time cannot be told from the obstacle. docs/explain.md defines the terms for users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/measures/metrics.hpp"
#include "app/questions/explained_runs.hpp"
#include "app/questions/link_loads.hpp"
#include "app/questions/obstacles.hpp"
#include "app/scenario/study.hpp"

namespace paceline {

/// Largest difference, relative to the step, that still counts as equal to a closed form.
inline constexpr double equal_to_closed_form = 1e-6;

struct Part {
    Obstacle what{};
    double seconds = 0;  // per step
};

/// One run of the ladder.
struct Rung {
    std::optional<Obstacle> without;  // in addition to those of the rungs above; empty: as it is
    double step_s = 0;
    std::optional<double> model_s{};  // closed form of the same run, where one is known
};

struct Overlap {
    double compute_s = 0;        // compute alone, including its idle time
    double communication_s = 0;  // communication alone, including coding
    double won_s = 0;
};

/// Compares the simulation with the closed form of an idle network.
struct ClosedFormCheck {
    std::optional<double> model_s;  // empty: none is known
    bool of_a_star = false;         // the form of a star stands in for another fabric
    std::vector<Part> causes;       // what the closed form leaves out
    double rest_s = 0;              // simulated - closed form - causes
    std::vector<std::string> about_rest;
};

struct WhatNext {
    std::string key;   // key in JSON
    std::string name;  // "bandwidth doubled"
    std::optional<Metrics> run;
    std::string why_not;  // if it cannot be run
};

/// What takes the memory of a device, in bytes.
struct MemoryOfDevice {
    std::vector<std::pair<std::string_view, Bytes>> parts;  // empty: not known
    std::optional<Bytes> device{};                          // what it has, if that is known
};

struct Explanation {
    std::string file;
    std::string title;
    std::size_t point = 0;
    std::size_t points = 1;
    std::vector<std::pair<std::string, std::string>> choice;  // axis and name of the value
    std::string algorithm;
    std::string workload;
    std::string fabric;
    int nodes = 0;
    int workers = 0;
    std::optional<std::int64_t> steps;     // limit of each run
    std::optional<std::int64_t> of_steps;  // steps of the whole point
    std::optional<double> time_limit_s;
    bool on_the_clock = false;  // the point trains, but is explained without values
    std::vector<std::string> notes;
    Metrics as_is;
    std::vector<Rung> ladder;
    std::vector<Part> parts;         // they sum to the step time
    std::optional<Overlap> overlap;  // empty if a run that it needs failed
    ClosedFormCheck check;
    std::vector<LinkKind> kinds;        // in the fabric's order; only kinds that carried traffic
    std::vector<LinkLoad> most_loaded;  // single links, most used first
    std::vector<WhatNext> next;
    MemoryOfDevice memory;
    std::string verdict;
};

/// Runs the point about ten times. If the unmodified point fails, the explanation has no parts and
/// nothing that follows them. Throws ExplanationStopped.
Explanation explain_point(const Study& study, std::size_t number, const ExplainOptions& options);

/// Returns the point that the user means: `number`, or the only one. Throws ConfigError.
std::size_t point_to_explain(const Study& study, std::optional<std::size_t> number);

/// Returns one line: what limits a step, and which change would help most.
std::string verdict_of(const Explanation& explanation);

/// Returns the explanation as a page for people.
std::string explanation_text(const Explanation& explanation);
/// Returns the same for programs. Times are in seconds.
std::string explanation_json(const Explanation& explanation);

}  // namespace paceline

// One point of a study, explained: where a step's time goes, which links are busy, how far it is
// from the closed form and why, and what the next doubling would give.
//
// The parts of a step are differences of runs. The point is run as it is, then again and again, each
// time with one obstacle less, all with the same seed and the same number of steps:
//
//   T_0 as it is  ->  T_1 no other traffic  ->  no failures  ->  nodes alike  ->  steady links
//       ->  no protocol costs  ->  no latency  ->  core without limits  ->  nodes' links without
//       limits  ->  servers' links without limits  ->  T_m buses without limits
//
//   part i = T_(i-1) - T_i        compute, coding and idle together = T_m
//
// So parts sum to T_0 exactly. What is not there has no rung. The order matters where obstacles
// hide one another: a part is what is gained by removing it after those above it. Parts of random
// things have noise, and one may be below 0. Coding is T_m with gradients and updates that take no
// time; compute is those of a step; idle is the rest. What overlaps is in no part; it is won:
//
//   overlap won = T_m + communication alone - coding - T(nodes alike)
//
// with communication alone the step of nodes alike whose gradients and updates take no time.
// docs/explain.md defines the words for users.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/metrics.hpp"
#include "app/study.hpp"

namespace paceline {

/// What is removed, one after the other; and what is left.
enum class Obstacle : std::uint8_t {
    other_traffic,
    failures,
    unlike_nodes,
    unsteady_links,
    protocol,
    latency,
    core,
    serialization,
    servers,
    buses,
    idle,
    coding,
    compute,
};

/// "waiting for the slowest"; of JSON: "waiting_for_slowest".
std::string name_of(Obstacle obstacle);
std::string key_of(Obstacle obstacle);

/// What counts as equal to a closed form, relative to the step.
inline constexpr double equal_to_closed_form = 1e-6;

struct Part {
    Obstacle what{};
    double seconds = 0;  // of a step
};

/// A run of the ladder.
struct Rung {
    std::optional<Obstacle> without;  // in addition to those above; empty: as it is
    double step_s = 0;
    std::optional<double> model_s{};  // closed form of the same, where one is known
};

struct Overlap {
    double compute_s = 0;        // alone, what idles included
    double communication_s = 0;  // alone, with coding
    double won_s = 0;
};

struct LinkLoad {
    LinkId number = 0;  // of the fabric
    std::string name;
    double busy = 0;  // share of the run's time in which it carries something
    double used = 0;  // share of what it could have carried in that time
    double bytes_per_step = 0;
};

/// All links that do the same.
struct LinkKind {
    std::string kind;
    std::size_t links = 0;
    double mean_busy = 0;
    double mean_used = 0;
    LinkLoad busiest;  // the most used of them, the first of equals
};

/// The simulation against the closed form of an idle network.
struct ClosedFormCheck {
    std::optional<double> model_s;  // empty: none is known
    bool of_a_star = false;         // that stands for the fabric, which is none
    std::vector<Part> causes;       // what the closed form does not have
    double rest_s = 0;              // simulated - closed form - causes
    std::vector<std::string> about_rest;
};

struct WhatNext {
    std::string key;   // of JSON
    std::string name;  // "bandwidth doubled"
    std::optional<Metrics> run;
    std::string why_not;  // where it cannot be run
};

struct Explanation {
    std::string file;
    std::string title;
    std::size_t point = 0;
    std::size_t points = 1;
    std::vector<std::pair<std::string, std::string>> choice;  // axis and name
    std::string algorithm;
    std::string workload;
    std::string fabric;
    int nodes = 0;
    int workers = 0;
    std::optional<std::int64_t> steps;     // each run at most
    std::optional<std::int64_t> of_steps;  // of the point
    std::optional<double> time_limit_s;
    bool on_the_clock = false;  // it trains, and is explained without values
    std::vector<std::string> notes;
    Metrics as_is;
    std::vector<Rung> ladder;
    std::vector<Part> parts;  // they sum to the step time
    Overlap overlap;
    ClosedFormCheck check;
    std::vector<LinkKind> kinds;        // in the fabric's order; only those that carried something
    std::vector<LinkLoad> most_loaded;  // links, most used first
    std::vector<WhatNext> next;
    std::string verdict;
};

struct ExplainOptions {
    std::int64_t most_messages = 300'000;  // of a run; it has a step and a period at least
    int threads = 1;
    DataCache* data = nullptr;  // of several explanations; null: one of its own
};

/// Runs the point some ten times. If it fails as it is there are no parts and nothing behind them.
Explanation explain_point(const Study& study, std::size_t number, const ExplainOptions& options);

/// The point that the user means: `number`, or the only one. Throws ConfigError.
std::size_t point_to_explain(const Study& study, std::optional<std::size_t> number);

/// One line: what bounds a step, and what would help most.
std::string verdict_of(const Explanation& explanation);

/// A page for people.
std::string explanation_text(const Explanation& explanation);
/// The same for programs; times in seconds.
std::string explanation_json(const Explanation& explanation);

}  // namespace paceline

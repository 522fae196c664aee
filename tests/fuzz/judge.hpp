// What any input must lead to: a refusal with a helpful message, or a run whose results obey the
// laws that hold for all results. Anything else is a bug in the program.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "analysis/measures/metrics.hpp"
#include "app/json/config_error.hpp"
#include "app/json/json_file.hpp"
#include "app/scenario/scenario.hpp"

namespace paceline {

enum class Fate : std::uint8_t { refused, ran, too_large };

struct Verdict {
    Fate fate = Fate::refused;
    std::string fault;    // empty: no fault
    std::string message;  // of the refusal, or the outcome of the first point
};

struct JudgeOptions {
    bool twice = false;           // run again and compare every byte
    std::size_t most_points = 2;  // judges only the first points of a study
    double most_seconds = 0.5;    // of wall clock; then the run is stopped, not compared
};

/// Reads the scenario in a file and runs its points, cut to a few steps. Points of more than a few
/// megabytes, messages or samples are read but not run.
Verdict judge(const std::filesystem::path& file, const JudgeOptions& options = {});

/// Cuts a point to a few steps. Returns whether it is small enough to run in milliseconds.
bool make_small(Scenario& scenario, std::int64_t most_steps);

/// Returns what is wrong with the refusal of the scenario in `text`; empty if nothing.
std::string fault_of_refusal(const ConfigError& error, const std::filesystem::path& file,
                             const std::string& text);

/// Returns the law that the results of a run of this kind of algorithm break; empty if none.
std::string broken_law(const Scenario& scenario, std::string_view kind, const Metrics& metrics);

/// Whether a path such as "sweep.cluster.nodes[1]" exists in the JSON.
bool leads_somewhere(const Json& json, std::string_view path);

}  // namespace paceline

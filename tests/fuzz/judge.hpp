// What may become of any input: it is refused with a message that helps, or it runs and its results
// keep the laws that all results keep. Anything else is a fault of the program.
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

struct Judgement {
    Fate fate = Fate::refused;
    std::string fault;    // empty: none
    std::string message;  // of the refusal, or the outcome of the first point
};

struct JudgeOptions {
    bool twice = false;           // run again and compare every byte
    std::size_t most_points = 2;  // of a study, the first ones
    double most_seconds = 0.5;    // of wall clock, then a run is stopped and nothing compared
};

/// Reads the scenario of a file and runs its points, cut to a few steps. Points of more than some
/// megabytes, messages or samples are read and not run.
Judgement judge(const std::filesystem::path& file, const JudgeOptions& options = {});

/// What is wrong with the refusal of the scenario that `text` holds; empty: nothing.
std::string fault_of_refusal(const ConfigError& error, const std::filesystem::path& file,
                             const std::string& text);

/// Which law the results of a run of that kind of algorithm break; empty: none.
std::string broken_law(const Scenario& scenario, std::string_view kind, const Metrics& metrics);

/// Whether a path such as "sweep.cluster.nodes[1]" leads somewhere.
bool leads_somewhere(const Json& json, std::string_view path);

}  // namespace paceline

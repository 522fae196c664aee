// A study: a scenario, changes from the command line, and the cross product of its sweep.
//
//   "sweep": {"cluster.nodes": [1, 2, 4], "algorithm": [{"label": "a", ...}, {"label": "b", ...}]}
//
// is six points; the last axis varies fastest. An axis is a dotted path that the schema knows. Each
// of its values replaces what is at that path; an object replaces the whole subtree. Every point is
// resolved and completely read before anything runs, so a study that starts is well-formed. An
// error in a swept value names its place in the sweep.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/scenario/scenario.hpp"

namespace paceline {

struct Axis {
    std::string path;
    std::vector<std::string> names;  // of its values, each once, as CSV and tables show them
};

struct Point {
    std::vector<std::size_t> choice;  // a value per axis
    std::string resolved;             // the point as JSON, without "sweep"
    Scenario scenario;
    std::size_t number = 0;  // in the study
};

struct Study {
    std::string file;  // name of the scenario
    std::string title;
    std::vector<Axis> axes;
    std::vector<Point> points;
    Sources sources{};  // of the files that the scenario names
};

/// A scenario that has not been read.
struct ScenarioText {
    std::string file;  // its name, for errors; names in it are relative to the folder in this one
    std::string text;
    Sources sources;
};

inline constexpr std::size_t most_points = 1'000'000;

/// Reads a scenario and every point of it. `settings` are "path=value"; a value that is not JSON is taken as a
/// string. A setting of a swept path replaces its axis. Others apply to every point, after the
/// sweep. Throws ConfigError.
Study read_study(const ScenarioText& scenario, const std::vector<std::string>& settings);

/// Returns the single point that is left after `settings` have removed any sweep. Points with the
/// same description of their data share it through `cache`. Throws ConfigError, also if there is
/// more than one point.
Point read_single_point(const ScenarioText& scenario, const std::vector<std::string>& settings,
                        DataCache& cache);

/// Returns the points of a study as JSON, like Point::resolved, without reading them. Throws
/// ConfigError.
std::vector<std::string> resolve_study(const ScenarioText& scenario,
                                       const std::vector<std::string>& settings);

}  // namespace paceline

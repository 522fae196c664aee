// A study: a scenario file, changes from the command line, and the cross product of its sweep.
//
//   "sweep": {"cluster.nodes": [1, 2, 4], "algorithm": [{"label": "a", ...}, {"label": "b", ...}]}
//
// is six points; the last axis varies fastest. An axis is a dotted path that the schema knows; its
// values replace what stands there, an object the whole subtree. Every point is resolved and read
// whole before anything runs, so a study that starts is well-formed. An error in a swept value
// names its place in the sweep.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/scenario.hpp"

namespace paceline {

struct Axis {
    std::string path;
    std::vector<std::string> names;  // of its values, each once: what CSV and tables show
};

struct Point {
    std::vector<std::size_t> choice;  // a value per axis
    std::string resolved;             // the point as JSON, without "sweep"
    Scenario scenario;
    std::size_t number = 0;  // in the study
};

struct Study {
    std::string file;
    std::string title;
    std::vector<Axis> axes;
    std::vector<Point> points;
};

inline constexpr std::size_t most_points = 1'000'000;

/// Reads a scenario file; `settings` are "path=value", the value JSON or else a text. A setting of
/// a swept path replaces its axis; others are put into every point, after the sweep. Throws
/// ConfigError.
Study read_study(const std::string& file, const std::vector<std::string>& settings);

/// The point of a scenario that `settings` leave without a sweep. Points that say the same of their
/// data share it through `cache`. Throws ConfigError, also when there is more than one point.
Point read_single_point(const std::string& file, const std::vector<std::string>& settings,
                        DataCache& cache);

/// The points of a study as JSON, as Point::resolved has them, but not read. Throws ConfigError.
std::vector<std::string> resolve_study(const std::string& file,
                                       const std::vector<std::string>& settings);

}  // namespace paceline

// A study: a scenario, changes from the command line, and the points that its sweep makes.
//
// Every point is resolved and completely read before anything runs, so a study that starts is
// well-formed. An error in a swept value names its place in the sweep. sweep.hpp says what axes
// are; points.hpp says why a study does not hold its points.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/scenario/axis.hpp"
#include "app/scenario/points.hpp"

namespace paceline {

struct Study {
    std::string file;  // name of the scenario
    std::string title;
    std::vector<Axis> axes;
    Points points;
    Sources sources{};  // of the files that the scenario names
};

/// Sees each point once while the study is read, in order. What it throws ends the reading.
using SeePoint = std::function<void(const Point& point)>;

/// Reads a scenario and every point of it. A setting that does not change an axis applies to every
/// point, after the sweep. Throws ConfigError.
Study read_study(const ScenarioText& scenario, const Settings& settings, const Picks& picks = {},
                 const SeePoint& see = {});

/// Returns the single point that is left after the changes have removed any sweep. Throws
/// ConfigError, also if there is more than one point.
Point read_single_point(const ScenarioText& scenario, const Settings& settings,
                        const Picks& picks = {});

/// Returns the points of a study as JSON, like Point::resolved, without reading them. Throws
/// ConfigError.
std::vector<std::string> resolve_study(const ScenarioText& scenario, const Settings& settings);

}  // namespace paceline

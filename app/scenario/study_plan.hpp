// A study before its points are read: its scenario with the sweep, the picks and the settings taken
// in, and the JSON of each point.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "app/json/config_error.hpp"
#include "app/json/json_file.hpp"
#include "app/scenario/faults.hpp"
#include "app/scenario/scenario.hpp"
#include "app/scenario/sweep.hpp"

namespace paceline {

/// What is wrong with a study itself, before its points are read.
struct PlanFaults {
    std::vector<ConfigError> faults{};
    std::vector<Doubt> doubts{};          // about what was to be changed or swept, and is not
    bool nothing_is_certain = false;      // it may be anything that was to be changed
    std::vector<std::string> barriers{};  // values that are no objects, and bar the way to others
};

/// A study before its points are read.
struct StudyPlan {
    std::string file;
    std::string title;
    Sources sources;
    KnownOptions options = KnownOptions::of_the_table;
    Sweep sweep;
    std::vector<std::size_t> order;  // of the axes, as they are applied
    std::vector<Setting> changes;    // of every point
    std::shared_ptr<Json> json;      // without "sweep" and "title"
    std::size_t points = 1;
};

/// The parts of a study that are wrong are left out.
StudyPlan make_study_plan(const ScenarioText& scenario, const Settings& settings,
                          const Picks& picks, PlanFaults& wrong);

/// Returns a point, by the index of each axis' value.
Json resolve_point(const StudyPlan& plan, const std::vector<std::size_t>& choice,
                   PlanFaults& wrong);
std::string resolved_text(const Json& resolved);

}  // namespace paceline

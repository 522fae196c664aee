// The manifest of a study: what was run, by which program, and at what cost.
#pragma once

#include <string>
#include <vector>

#include "app/run/results.hpp"
#include "app/scenario/study.hpp"

namespace paceline {

struct RunInfo {
    int jobs;
    double wall_clock_s;
    bool complete = true;  // no point of the study is missing
};

/// Returns manifest.json. It is the only file in which two runs of a study may differ.
std::string manifest_json(const Study& study, const std::vector<PointResult>& results,
                          const RunInfo& info);

}  // namespace paceline

// The warnings of a study whose points nobody runs.
#pragma once

#include <string>
#include <vector>

#include "app/questions/warnings/warnings.hpp"

namespace paceline {

/// Returns the lines of a whole study. Looks at each point once.
inline std::vector<std::string> warnings_of(const Study& study) {
    Warnings warnings;
    for (const Point& point : study.points) warnings.see(point);
    return warnings.lines(study.axes);
}

}  // namespace paceline

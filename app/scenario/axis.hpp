// An axis of a study's sweep, as results show it. sweep.hpp says how axes are written.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace paceline {

struct Axis {
    std::string path;
    std::vector<std::string> names;    // of its values, as CSV and tables show them
    std::optional<std::size_t> zip{};  // axes of one zip advance together
};

/// Changes of a scenario from the command line, each as it is written there: the arguments of --set
/// (path=value) and of --pick (axis=label).
using Settings = std::vector<std::string>;
using Picks = std::vector<std::string>;

}  // namespace paceline

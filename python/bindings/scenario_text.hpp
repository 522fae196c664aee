// A scenario as Python passes it: its text, what stands in place of files, and parts in Python.
//
// Python gives each object that stands in place of a file (a profile, a trace, a data set) a name
// that begins with "python:", and its content as bytes. All other names are files of this machine.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "app/scenario/study.hpp"

namespace paceline::python {

inline constexpr std::string_view prefix_of_objects = "python:";

/// Contents by name.
using Objects = std::map<std::string, std::string, std::less<>>;

/// Returns the scenario. `own` finds parts in Python (own_parts.hpp). Relative names of files are
/// relative to the folder of `file`. A file that is given whole, in memory, is read under the same
/// limits as one on a disk.
ScenarioText scenario_text(std::string file, std::string text, Objects objects, OwnParts own);

/// Returns the text of a scenario file. Throws ConfigError.
std::string text_of_file(const std::string& file);

}  // namespace paceline::python

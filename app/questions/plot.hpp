// Scripts (analysis/plots) draw the figures of a study or a testbed, using Python with matplotlib.
// This file locates a suitable Python, and reports what is missing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace paceline {

struct PlotRequest {
    std::string folder;              // of results, or the file of a testbed
    std::vector<std::string> kinds;  // none: all that apply
    std::string out;                 // empty: the folder of results, or beside the file
    std::string formats;             // "svg,png,pdf"
    std::vector<std::string> where;  // "AXIS=VALUE"
    std::optional<std::vector<std::string>> panels;
    std::vector<std::string> ratio;  // two algorithms, or none
    std::string x;                   // empty where not given, like the following ones
    std::string y;
    std::string value;
    std::vector<std::string> targets;  // "NUMBER" or "COLUMN=NUMBER"
    std::string band;
    std::string scale;
    std::string width;
    std::optional<std::string> title;
};

/// Returns a Python that has matplotlib. If PACELINE_PYTHON is set, only the one that it names is
/// considered; otherwise python3 on the PATH, then Debian's. Throws ConfigError that says what to
/// install.
std::string plotting_python();

/// Throws ConfigError unless this is a folder with results, or a testbed of `paceline calibrate`.
void require_results(const std::filesystem::path& results);

/// Returns the command line that draws: the Python, the scripts, and the requested options.
std::vector<std::string> plot_command(const std::string& python,
                                      const std::filesystem::path& scripts,
                                      const PlotRequest& request);

}  // namespace paceline

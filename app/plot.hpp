// Figures of a study are drawn by scripts (analysis/plots) under Python with matplotlib. Here: where
// the scripts are, which Python can run them, and what is wrong when something is missing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace paceline {

struct PlotRequest {
    std::string folder;              // of results
    std::vector<std::string> kinds;  // none: all that fit
    std::string out;                 // empty: the folder of results
    std::string formats;             // "svg,png,pdf"
    std::vector<std::string> where;  // "AXIS=VALUE"
    std::optional<std::vector<std::string>> panels;
    std::vector<std::string> ratio;  // two algorithms, or none
    std::string x;                   // this and the following: empty where not given
    std::string y;
    std::string value;
    std::string scale;
    std::string width;
    std::optional<std::string> title;
};

/// The folder of scripts: ../share/paceline/plots from the folder of the program, else that of the
/// source tree it was built from. Throws ConfigError if neither is there.
std::filesystem::path plot_scripts(const std::filesystem::path& program);

/// A Python that has matplotlib: the one PACELINE_PYTHON names and no other if it is set; else
/// python3 on the PATH, else Debian's. Throws ConfigError with what to install.
std::string plotting_python();

/// Throws ConfigError unless the folder holds results.
void require_results(const std::filesystem::path& folder);

/// The command line that draws: the Python, the script, and what is asked for.
std::vector<std::string> plot_command(const std::string& python,
                                      const std::filesystem::path& scripts,
                                      const PlotRequest& request);

}  // namespace paceline

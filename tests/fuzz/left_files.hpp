// What a run of the program leaves behind.
#pragma once

#include <filesystem>
#include <string>

namespace paceline {

std::string content_of(const std::filesystem::path& file);

/// What is wrong with the files of a results folder; empty: nothing. Each is whole: JSON parses, a
/// CSV has as many fields in each line as in the first and ends in a line's end, and none is left
/// under a temporary name.
std::string fault_of_files(const std::filesystem::path& folder);

/// Runs `paceline run` on a scenario, for some seconds at most, and looks at its exit code, at what
/// it says and at what it leaves. What is wrong; empty: nothing.
std::string fault_of_process(const std::string& program, const std::filesystem::path& scenario);

}  // namespace paceline

// Checks what a run of the program leaves behind.
#pragma once

#include <filesystem>
#include <string>

namespace paceline {

std::string content_of(const std::filesystem::path& file);

/// Returns what is wrong with the files of a results folder; empty if nothing. Every file must be
/// complete: JSON parses, every line of a CSV has as many fields as its first line and ends in a
/// newline, and no file is left under a temporary name.
std::string fault_of_files(const std::filesystem::path& folder);

/// Runs `paceline run` on a scenario, for a few seconds at most, and checks its exit code, its
/// output and the files it leaves. Returns what is wrong; empty if nothing.
std::string fault_of_process(const std::string& program, const std::filesystem::path& scenario);

}  // namespace paceline

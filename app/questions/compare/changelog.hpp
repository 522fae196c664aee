// What the changelog says about numbers that moved: its sections "Results", by version.
//
// The program contains the CHANGELOG.md that it was built with, and the files changes/*.results.md
// of changes that are not released yet (changes/README.md). These are a section "Unreleased", which
// belongs to the program's own version as long as no section has that version.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/json/resources.hpp"

namespace paceline {

inline constexpr std::string_view unreleased = "Unreleased";

struct ResultsOfVersion {
    std::string version;  // "Unreleased", or such as "1.2.0"
    std::string text;     // what stands under its "Results", without line ends at the end
};

/// Returns the sections of a changelog in its order, the newest first. A version without "Results"
/// has an empty text.
std::vector<ResultsOfVersion> results_of_versions(std::string_view changelog);

/// Returns whether a version, such as "1.10.0", comes before another one. Versions are compared
/// number by number; what is no number counts as 0.
bool is_before(std::string_view version, std::string_view other);

/// Returns the sections of the versions after `older` up to `newer`. `own` is the version of the
/// program that the changelog belongs to.
std::vector<ResultsOfVersion> results_between(std::string_view changelog, std::string_view older,
                                              std::string_view newer, std::string_view own);

/// Returns a changelog whose first section, "Unreleased", lists the results of changes. `files` are
/// the released changelog and one file for each of these changes.
std::string joined_changelog(std::span<const EmbeddedFile> files);

/// Returns the joined changelog that the program was built with.
std::string own_changelog();

}  // namespace paceline

#include "app/questions/compare/changelog.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "app/host/version.hpp"

namespace paceline::questions_compare_changelog_test {
namespace {

constexpr std::string_view changelog = R"(# Changelog

## Unreleased

### Added

- A key.

### Results

- Rings are slower.
  Twice.

## 0.10.0 (2026-05-01)

### Results

- Trees are faster.

### Fixed

- A fault.

## [0.9.1] - 2026-04-01

### Fixed

- Another fault.

## 0.9.0

### Results

- Servers are fair.
)";

std::vector<std::string> between(std::string_view older, std::string_view newer,
                                 std::string_view own) {
    std::vector<std::string> versions;
    for (const ResultsOfVersion& section : results_between(changelog, older, newer, own))
        versions.push_back(section.version);
    return versions;
}

using Versions = std::vector<std::string>;

TEST_CASE("changelog: each version has what stands under its Results, and nothing else") {
    const std::vector<ResultsOfVersion> all = results_of_versions(changelog);

    REQUIRE(all.size() == 4);
    CHECK(all[0].version == "Unreleased");
    CHECK(all[0].text == "- Rings are slower.\n  Twice.");
    CHECK(all[1].version == "0.10.0");
    CHECK(all[1].text == "- Trees are faster.");
    CHECK(all[2].version == "0.9.1");
    CHECK(all[2].text.empty());
    CHECK(all[3].version == "0.9.0");
    CHECK(all[3].text == "- Servers are fair.");
}

TEST_CASE("changelog: versions are ordered number by number") {
    CHECK(is_before("0.9.0", "0.10.0"));
    CHECK_FALSE(is_before("0.10.0", "0.9.0"));
    CHECK(is_before("0.9", "0.9.1"));
    CHECK_FALSE(is_before("1.0", "1.0.0"));
    CHECK_FALSE(is_before("1.0.0", "1.0"));
    CHECK(is_before("1.9.9", "2"));
}

TEST_CASE("changelog: the versions after the older one up to the newer one are told") {
    CHECK(between("0.9.0", "0.10.0", "0.10.0") == Versions{"0.10.0", "0.9.1"});
    CHECK(between("0.9.1", "0.10.0", "0.10.0") == Versions{"0.10.0"});
    CHECK(between("0.8.0", "0.9.0", "0.10.0") == Versions{"0.9.0"});
    CHECK(between("0.10.0", "0.10.0", "0.10.0").empty());
}

TEST_CASE(
    "changelog: what is not released belongs to the program's version, if no section has it") {
    CHECK(between("0.10.0", "0.11.0", "0.11.0") == Versions{"Unreleased"});
    CHECK(between("0.9.1", "0.11.0", "0.11.0") == Versions{"Unreleased", "0.10.0"});
    CHECK(between("0.9.1", "0.10.0", "0.11.0") == Versions{"0.10.0"});
    CHECK(between("0.9.1", "0.11.0", "0.10.0") == Versions{"0.10.0"});
}

TEST_CASE("changelog: the results of changes are unreleased, each an entry of its own") {
    const std::vector<EmbeddedFile> files{
        {"CHANGELOG.md", "# Changelog\n\n## 0.10.0\n"},
        {"changes/rings.results.md", "Rings are slower.\nTwice.\n"},
        {"changes/trees.results.md", "Trees are faster."}};
    const std::vector<ResultsOfVersion> all = results_of_versions(joined_changelog(files));

    REQUIRE(all.size() == 2);
    CHECK(all[0].version == "Unreleased");
    CHECK(all[0].text == "- Rings are slower.\n  Twice.\n- Trees are faster.");
    CHECK(all[1].version == "0.10.0");
    CHECK(joined_changelog(std::span(files).first(1)) == files[0].text);
}

TEST_CASE("changelog: the program has its own, which tells of Results") {
    const std::vector<ResultsOfVersion> all = results_of_versions(own_changelog());

    REQUIRE_FALSE(all.empty());
    CHECK(std::ranges::any_of(all, [](const auto& section) { return !section.text.empty(); }));
    CHECK(std::ranges::count(all, version, &ResultsOfVersion::version) == 1);
    CHECK_FALSE(results_between(own_changelog(), "0.0.0", version, version).empty());
}

}  // namespace
}  // namespace paceline::questions_compare_changelog_test

#include "app/questions/compare/changelog.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include <fmt/format.h>

namespace paceline {

std::span<const EmbeddedFile> changelog_files();  // made by cmake/EmbedResources.cmake

namespace {

std::string_view take_line(std::string_view& text) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    return line;
}

// Returns the version of a heading such as "1.2.0 (2026-05-01)" or "[1.2.0] - 2026-05-01".
std::string version_of(std::string_view heading) {
    if (heading.starts_with('[')) heading.remove_prefix(1);
    return std::string(heading.substr(0, heading.find_first_of(" ]")));
}

std::uint64_t take_number(std::string_view& version) {
    const std::string_view part = version.substr(0, version.find('.'));
    version.remove_prefix(std::min(version.size(), part.size() + 1));
    std::uint64_t number = 0;
    std::from_chars(part.data(), part.data() + part.size(), number);
    return number;
}

}  // namespace

std::vector<ResultsOfVersion> results_of_versions(std::string_view changelog) {
    std::vector<ResultsOfVersion> sections;
    bool in_results = false;
    while (!changelog.empty()) {
        const std::string_view line = take_line(changelog);
        if (line.starts_with("## ")) sections.push_back({version_of(line.substr(3)), ""});
        if (line.starts_with('#')) in_results = line == "### Results" && !sections.empty();
        if (line.starts_with('#') || !in_results) continue;
        std::string& text = sections.back().text;
        if (!line.empty() || !text.empty()) text.append(line).append("\n");
    }
    for (ResultsOfVersion& section : sections)
        section.text.erase(section.text.find_last_not_of('\n') + 1);
    return sections;
}

bool is_before(std::string_view version, std::string_view other) {
    while (!version.empty() || !other.empty()) {
        const std::uint64_t ours = take_number(version);
        const std::uint64_t theirs = take_number(other);
        if (ours != theirs) return ours < theirs;
    }
    return false;
}

std::vector<ResultsOfVersion> results_between(std::string_view changelog, std::string_view older,
                                              std::string_view newer, std::string_view own) {
    std::vector<ResultsOfVersion> all = results_of_versions(changelog);
    const bool own_is_released =
        std::ranges::find(all, own, &ResultsOfVersion::version) != all.end();
    std::erase_if(all, [&](const ResultsOfVersion& section) {
        if (section.version == unreleased && own_is_released) return true;
        const std::string_view version = section.version == unreleased ? own : section.version;
        return !is_before(older, version) || is_before(newer, version);
    });
    return all;
}

std::string joined_changelog(std::span<const EmbeddedFile> files) {
    std::string joined;
    for (const EmbeddedFile& change : files.subspan(1)) {
        if (joined.empty()) joined = fmt::format("## {}\n\n### Results\n\n", unreleased);
        std::string_view mark = "- ";
        for (std::string_view text = change.text; !text.empty(); mark = "  ")
            joined.append(mark).append(take_line(text)).append("\n");
    }
    return joined + std::string(files.front().text);
}

std::string own_changelog() {
    return joined_changelog(changelog_files());
}

}  // namespace paceline

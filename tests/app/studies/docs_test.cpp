// Compares pages of docs/ that list the program's output with the program.
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/run/results.hpp"
#include "app/scenario/study.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline::docs_test {
namespace {

// Two seeds of a scenario with another job, in the state before anything has run.
struct EmptyStudy {
    TemporaryFolder folder;
    Study study;
    std::vector<PointResult> results;

    EmptyStudy()
        : study(read_study(folder.write("two-jobs.json", R"({
        "cluster": {"nodes": 2, "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps"}}},
        "workload": {"gradient": "4kB", "step_time": "1s"},
        "algorithm": {"kind": "dense"}, "stop": {"iterations": 1},
        "other_jobs": [{"label": "other", "nodes": [0, 1], "algorithm": {"kind": "dense"},
                        "workload": {"gradient": "4kB", "step_time": "1s"}}],
        "sweep": {"seed": [1, 2]}})"),
                           {})) {
        Metrics metrics;
        metrics.outcome = "finished";
        metrics.other_jobs.resize(1);
        results.resize(study.points.size(), {metrics, 0});
    }
};

std::vector<std::string> header_of(const std::string& csv) {
    std::istringstream line(csv.substr(0, csv.find('\n')));
    std::vector<std::string> names;
    for (std::string name; std::getline(line, name, ',');) names.push_back(name);
    return names;
}

// Returns the names in the first column of a section's tables.
std::vector<std::string> names_in(const std::string& page, const std::string& heading) {
    const std::size_t begin = page.find("\n## " + heading + "\n");
    REQUIRE(begin != std::string::npos);
    std::istringstream lines(page.substr(begin + 1, page.find("\n## ", begin + 1) - begin));
    std::vector<std::string> names;
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("| `")) names.push_back(line.substr(3, line.find('`', 3) - 3));
    return names;
}

std::string page_of_results() {
    return content(std::filesystem::path(PACELINE_SOURCE_DIR) / "docs" / "results.md");
}

TEST_CASE("docs: the columns of results.csv are those of docs/results.md, in the same order") {
    const EmptyStudy empty;
    std::vector<std::string> columns = header_of(results_csv({empty.study, empty.results}));
    std::erase(columns, "seed");  // an axis

    CHECK(columns == names_in(page_of_results(), "Columns of results.csv"));
}

TEST_CASE("docs: the columns of timeline.csv are those of docs/results.md, in the same order") {
    const EmptyStudy empty;

    std::vector<std::string> columns = header_of(timeline_csv({empty.study, empty.results}));
    std::erase(columns, "seed");  // an axis

    CHECK(columns == names_in(page_of_results(), "Columns of timeline.csv"));
}

TEST_CASE("docs: summary.csv has three columns for each number of results.csv") {
    const EmptyStudy empty;
    std::vector<std::string> expected{"job", "algorithm", "nodes", "points"};
    bool is_number = false;  // columns after the outcome are numbers
    for (const std::string& name : header_of(results_csv({empty.study, empty.results}))) {
        if (is_number)
            for (const char* what : {"mean", "sd", "count"})
                expected.push_back(fmt::format("{}_{}", name, what));
        is_number |= name == "outcome";
    }
    const auto summary = summary_csv({empty.study, empty.results});

    REQUIRE(summary.has_value());
    CHECK(header_of(*summary) == expected);
}

}  // namespace
}  // namespace paceline::docs_test

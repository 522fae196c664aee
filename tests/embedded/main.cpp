// Runs a study from a text in memory, without files and threads, as a page in a browser does.
//
// Usage: paceline_embedded SCENARIO, the name of a scenario that is compiled in. Prints its
// results.csv.
#include <cstdio>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "app/json/resources.hpp"
#include "app/run/results.hpp"
#include "app/run/run_point.hpp"
#include "app/scenario/study.hpp"
#include "tests/app/json/in_memory.hpp"

namespace paceline {

std::span<const EmbeddedFile> embedded_files();  // made by CMake

namespace {

std::string results_of(const std::string& scenario) {
    std::map<std::string, std::string> texts;
    for (const EmbeddedFile& file : embedded_files()) texts.emplace(file.name, file.text);
    const Sources sources = in_memory(std::move(texts));
    const Study study = read_study({scenario, sources.text(scenario), sources}, {});
    std::vector<PointResult> results;
    for (const Point& point : study.points)
        results.push_back({run_point(point.scenario, nullptr), 0});
    return results_csv({study, results});
}

}  // namespace
}  // namespace paceline

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    try {
        std::fputs(paceline::results_of(argv[1]).c_str(), stdout);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}

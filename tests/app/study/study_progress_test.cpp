#include "app/study/study_progress.hpp"

#include <regex>

#include <doctest/doctest.h>

#include "tests/app/studies/training_study.hpp"

namespace paceline::study_progress_test {
namespace {

const TrainingStudy study;

// Returns the line of a study of two points, of which so many were kept and so many have ended.
std::string line_after(const std::vector<std::string>& settings, std::size_t kept,
                       std::size_t ended) {
    std::vector<std::string> all = settings;
    all.emplace_back("seed=1");
    std::string json(small_training);
    json.insert(json.rfind('}'), R"(, "sweep": {"cluster.nodes": [2, 4]})");
    const Study two = read_study(study.folder.write("two.json", json), all);
    const StudyRuns runs(two);
    StudyProgress progress(runs, 1, Telling::nothing);
    progress.begin(kept);
    std::vector<std::size_t> rest;
    for (std::size_t run = kept; run < 2; ++run) rest.push_back(run);
    progress.expects(rest);
    for (std::size_t run = kept; run < kept + ended; ++run) progress.finished(run, {});
    return progress.line();
}

TEST_CASE("study progress: the time left is a time, whatever is kept and whatever has ended") {
    const std::regex time(R"(.* (at most )?(\d+ h )?(\d+ min )?(\d+ s )?left)");
    for (std::size_t kept = 0; kept <= 2; ++kept)
        for (std::size_t ended = 0; ended + kept <= 2; ++ended) {
            CAPTURE(kept);
            CAPTURE(ended);
            const std::string line = line_after({}, kept, ended);
            CHECK_MESSAGE(std::regex_match(line, time), line);
            if (kept + ended == 2) CHECK(line.ends_with(" 0 s left"));
        }
}

TEST_CASE(
    "study progress: of runs that may end at a target, the time left is said to be the most") {
    CHECK(line_after({}, 0, 0).find("at most") == std::string::npos);
    CHECK(line_after({"stop.target_loss=0.1"}, 0, 0).find("at most") != std::string::npos);
    CHECK(line_after({"stop.target_loss=0.1"}, 0, 1).find("at most") == std::string::npos);
}

}  // namespace
}  // namespace paceline::study_progress_test

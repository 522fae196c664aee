#include "app/study/run_study.hpp"

#include <filesystem>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/host/available_memory.hpp"
#include "app/host/output.hpp"
#include "app/json/config_error.hpp"
#include "app/run/memory_check.hpp"
#include "app/run/table.hpp"
#include "app/scenario/memory_estimate.hpp"
#include "app/study/manifest.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/no_room.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/app/studies/run_points.hpp"

namespace paceline::run_study_test {
namespace {

namespace fs = std::filesystem;

Study shipped_study(const std::vector<std::string>& settings = {}) {
    return read_study((fs::path(PACELINE_SOURCE_DIR) / "scenarios" / "dgc-speedup.json").string(),
                      settings);
}

TEST_CASE("determinism: the results are the same bytes on one, two and three threads") {
    const Study study = shipped_study();

    const std::string one = results_csv({study, run_points(study, 1)});
    const std::string two = results_csv({study, run_points(study, 2)});
    const std::string three = results_csv({study, run_points(study, 3)});

    CHECK(one == two);
    CHECK(one == three);
}

TEST_CASE("determinism: a study read and run twice gives the same bytes") {
    const Study first = shipped_study();
    const Study second = shipped_study();

    const std::string once = results_csv({first, run_points(first, 2)});
    const std::string again = results_csv({second, run_points(second, 2)});
    const std::string same_study_again = results_csv({first, run_points(first, 2)});

    CHECK(once == again);
    CHECK(once == same_study_again);
}

TEST_CASE("run study: figures of other tables are removed, and those of the same stay") {
    const TemporaryFolder folder;
    const Study study = shipped_study({"cluster.nodes=[2, 4]", "algorithm={\"kind\": \"dense\"}"});
    const std::vector<PointResult> results = run_points(study, 2);
    (void)folder.write("figures.txt", "speedup.svg\n");
    (void)folder.write("speedup.svg", "of tables that are not there");

    using Names = std::vector<std::string>;
    CHECK(replace_results(folder.path(), study, results, {2, 1}) == Names{"speedup.svg"});
    (void)folder.write("figures.txt", "speedup.svg\n");
    (void)folder.write("speedup.svg", "of these");
    CHECK(replace_results(folder.path(), study, results, {2, 1}) == Names{});
    CHECK(fs::exists(folder.path() / "speedup.svg"));
    CHECK(fs::exists(folder.path() / "results.csv"));
}

TEST_CASE("run study: more threads than points do no harm") {
    const Study study = shipped_study({"cluster.nodes=2", "algorithm={\"kind\": \"dense\"}"});

    const std::vector<PointResult> results = run_points(study, 64);

    CHECK(results.size() == 6);
    for (const PointResult& result : results) CHECK(result.metrics.outcome == "finished");
}

TEST_CASE("run study: results stand in the order of the points") {
    const Study study = shipped_study();

    const std::vector<PointResult> results = run_points(study, 3);

    CHECK(results.size() == study.points.size());
    for (std::size_t i = 0; i < results.size(); ++i)
        CHECK(results[i].metrics.nodes == study.points[i].scenario.cluster.nodes);
}

TEST_CASE("run study: results, table and manifest are written, and nothing else") {
    const TemporaryFolder folder;
    const Study study = shipped_study({"cluster.nodes=2"});
    const std::vector<PointResult> results = run_points(study, 1);

    write_results(folder.path(), study, results, {1, 0.5});

    const auto files = std::distance(fs::directory_iterator(folder.path()), {});
    CHECK(files == 3);
    CHECK(content(folder.path() / "results.csv") == results_csv({study, results}));
    CHECK(content(folder.path() / "table.txt") == speedup_table({study, results}));
    CHECK(Json::parse(content(folder.path() / "manifest.json")).at("points").size() == 12);
}

TEST_CASE("run study: the manifest's scenarios are those that ran, and can be run again") {
    const TemporaryFolder folder;
    const Study study = shipped_study({"cluster.nodes=4"});
    const std::vector<PointResult> results = run_points(study, 1);
    const Json manifest = Json::parse(manifest_json(study, results, {1, 0.5}));

    for (const Json& point : manifest.at("points")) {
        const Study again = read_study(folder.write("again.json", point.at("scenario").dump()), {});
        const Metrics metrics = run_points(again, 1).front().metrics;
        const auto number = point.at("point").get<std::size_t>();

        CHECK(metrics.sim_time_s == results[number].metrics.sim_time_s);
    }
}

TEST_CASE("run study: when the disk is full the old results stay") {
    const TemporaryFolder folder;
    (void)folder.write("results.csv", "old");
    const Study study = shipped_study({"cluster.nodes=2"});
    const std::vector<PointResult> results = run_points(study, 1);

    const NoRoom no_room;
    CHECK_THROWS_AS(write_results(folder.path(), study, results, {1, 0.5}), OutputError);
    CHECK(content(folder.path() / "results.csv") == "old");
}

TEST_CASE("run study: memory is checked for the points that run at once, before any runs") {
    const Bytes of_four = estimated_memory(shipped_study({"cluster.nodes=4"}).points[0].scenario);
    const Bytes of_two = estimated_memory(shipped_study({"cluster.nodes=2"}).points[0].scenario);
    const std::int64_t per_node = (of_four.count - of_two.count) / 2;
    REQUIRE(available_memory().bytes.count > 0);
    const std::int64_t nodes =
        available_memory().bytes.count / per_node / 3;  // three points fit at once
    const Study study = shipped_study({fmt::format("cluster.nodes={}", nodes)});

    CHECK(study.points.size() == 12);
    CHECK_NOTHROW(check_memory(study, 1));
    CHECK_THROWS_AS(check_memory(study, 12), ConfigError);
}

}  // namespace
}  // namespace paceline::run_study_test

// Output of studies that train: columns, timelines, summaries and outcomes, and identical bytes
// when repeated.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>

#include "app/run/results.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/studies/run_points.hpp"
#include "tests/app/studies/training_study.hpp"

namespace paceline::training_results_test {
namespace {

namespace fs = std::filesystem;
using doctest::Approx;

using Row = std::map<std::string, std::string>;

const TrainingStudy study;

double number(const Row& row, const std::string& column) {
    return std::stod(row.at(column));
}

// Returns the study with more keys appended.
Study with(const std::string& keys, const std::vector<std::string>& settings = {}) {
    std::string json(small_training);
    json.insert(json.rfind('}'), ", " + keys);
    return read_study(study.folder.write("with.json", json), settings);
}

constexpr const char* two_algorithms = R"("sweep": {
    "algorithm": [{"label": "dense", "kind": "dense"},
                  {"label": "lam", "kind": "decentlam", "mixing": {"kind": "ring"}}],
    "seed": [1, 2, 3]})";

// --- columns ---

TEST_CASE("training results: a row has what was learned, and regression its own error") {
    const Study labels = study.read({"measure.target_loss=100"});
    const Study regression = study.read({R"(workload.model={"kind": "linear-regression"})",
                                         R"(workload.data={"kind": "linear-regression"})"});
    const std::vector<PointResult> results = run_points(labels, 1);

    const Row row = rows_of(results_csv({labels, results})).at(0);
    const Row other = rows_of(results_csv({regression, run_points(regression, 1)})).at(0);

    const Metrics& m = results[0].metrics;
    CHECK(row.at("outcome") == "finished");
    CHECK(number(row, "iterations") == 6);
    CHECK(number(row, "epochs") == Approx(6 * 4 * 8 / 256.0));
    CHECK(number(row, "train_loss") == m.train_loss.value());
    CHECK(number(row, "test_loss") == m.test_loss.value());
    CHECK(number(row, "test_accuracy") == m.test_accuracy.value());
    CHECK(number(row, "test_accuracy_local_mean") == m.test_accuracy.value());  // replicas
    CHECK(number(row, "test_accuracy_local_min") == m.test_accuracy.value());
    CHECK(number(row, "consensus_distance") == 0);
    CHECK(number(row, "time_to_target_s") == 0);
    CHECK(row.at("relative_error").empty());
    CHECK(other.at("test_accuracy").empty());
    CHECK(other.at("test_accuracy_local_mean").empty());
    CHECK(other.at("time_to_target_s").empty());
    CHECK(number(other, "relative_error") > 0);
}

TEST_CASE("training results: the timeline has a row per evaluation, the last as in the results") {
    const Study swept = with(two_algorithms);
    const std::vector<PointResult> results = run_points(swept, 2);

    const std::vector<Row> timeline = rows_of(timeline_csv({swept, results}));
    const std::vector<Row> rows = rows_of(results_csv({swept, results}));

    const std::vector<std::string> columns{"point",
                                           "seed",
                                           "algorithm",
                                           "nodes",
                                           "sim_time_s",
                                           "iteration",
                                           "epoch",
                                           "train_loss",
                                           "test_loss",
                                           "test_accuracy",
                                           "consensus_distance",
                                           "bytes_sent_per_node",
                                           "relative_error"};
    REQUIRE(timeline.size() == 6 * 4);
    REQUIRE(
        timeline_csv({swept, results}).starts_with(fmt::format("{}\n", fmt::join(columns, ","))));
    for (std::size_t i = 0; i < timeline.size(); ++i) {
        const Row& row = timeline[i];
        CHECK(row.size() == columns.size());
        CHECK(number(row, "point") == static_cast<double>(i / 4));
        for (const char* same : {"seed", "algorithm", "nodes"})
            CHECK(row.at(same) == rows[i / 4].at(same));
        CHECK(number(row, "iteration") == static_cast<double>(2 * (i % 4)));
        CHECK(number(row, "epoch") == Approx(number(row, "iteration") / 8));
        CHECK(row.at("relative_error").empty());
        if (i % 4 == 0) CHECK(number(row, "bytes_sent_per_node") == 0);
        if (i % 4 != 3) continue;
        for (const char* same : {"train_loss", "test_loss", "test_accuracy", "consensus_distance"})
            CHECK(row.at(same) == rows[i / 4].at(same));
    }
}

TEST_CASE("training results: a timeline of linear regression names every field") {
    const Study regression = study.read({R"(workload.model={"kind": "linear-regression"})",
                                         R"(workload.data={"kind": "linear-regression"})"});

    const std::vector<Row> timeline =
        rows_of(timeline_csv({regression, run_points(regression, 1)}));

    REQUIRE(timeline.size() == 4);
    CHECK_FALSE(timeline[0].contains(""));
    CHECK(number(timeline[0], "relative_error") == Approx(1));
    CHECK(number(timeline[3], "relative_error") < 1);
}

// --- summary ---

TEST_CASE("training results: a summary has mean, deviation and count over the seeds, by hand") {
    const Study swept = with(two_algorithms);
    const std::vector<PointResult> results = run_points(swept, 2);

    const std::vector<Row> summary = rows_of(summary_csv({swept, results}).value());

    REQUIRE(summary.size() == 2);
    for (std::size_t a = 0; a < 2; ++a) {
        CAPTURE(a);
        const auto loss = [&](std::size_t seed) {
            return results[3 * a + seed].metrics.train_loss.value();
        };
        const double mean = (loss(0) + loss(1) + loss(2)) / 3;
        const double squares =
            std::pow(loss(0) - mean, 2) + std::pow(loss(1) - mean, 2) + std::pow(loss(2) - mean, 2);
        CHECK(summary[a].at("algorithm") == (a == 0 ? "dense" : "lam"));
        CHECK(number(summary[a], "points") == 3);
        CHECK(number(summary[a], "nodes") == 4);
        CHECK(number(summary[a], "train_loss_mean") == Approx(mean).epsilon(1e-12));
        CHECK(number(summary[a], "train_loss_sd") == Approx(std::sqrt(squares / 2)).epsilon(1e-9));
        CHECK(squares > 0);
        CHECK(number(summary[a], "train_loss_count") == 3);
        CHECK(number(summary[a], "step_time_s_sd") == Approx(0));
        CHECK(summary[a].at("relative_error_mean").empty());
        CHECK(summary[a].at("relative_error_sd").empty());
        CHECK(number(summary[a], "relative_error_count") == 0);
    }
}

// Points with invented figures: the three seeds of one algorithm.
std::vector<PointResult> made_up(const std::vector<std::optional<double>>& times) {
    std::vector<PointResult> results;
    for (const std::optional<double>& time : times) {
        results.emplace_back();
        results.back().metrics.outcome = "finished";
        results.back().metrics.time_to_target_s = time;
    }
    return results;
}

TEST_CASE("training results: seeds that reached no target are not counted, one has no deviation") {
    const Study swept = with(R"("sweep": {"seed": [1, 2, 3]})");

    const Row all = rows_of(summary_csv({swept, made_up({1.0, 2.0, 6.0})}).value()).at(0);
    const Row two = rows_of(summary_csv({swept, made_up({1.0, std::nullopt, 2.0})}).value()).at(0);
    const Row one = rows_of(summary_csv({swept, made_up({{}, 5.0, {}})}).value()).at(0);

    CHECK(number(all, "time_to_target_s_mean") == Approx(3));
    CHECK(number(all, "time_to_target_s_sd") == Approx(std::sqrt(7.0)));  // (4 + 1 + 9) / 2
    CHECK(number(all, "time_to_target_s_count") == 3);
    CHECK(number(two, "time_to_target_s_mean") == Approx(1.5));
    CHECK(number(two, "time_to_target_s_sd") == Approx(std::sqrt(0.5)));
    CHECK(number(two, "time_to_target_s_count") == 2);
    CHECK(number(two, "points") == 3);
    CHECK(number(one, "time_to_target_s_mean") == Approx(5));
    CHECK(one.at("time_to_target_s_sd").empty());
    CHECK(number(one, "time_to_target_s_count") == 1);
}

TEST_CASE("training results: without seeds on an axis there is no summary") {
    const Study plain = study.read();

    CHECK_FALSE(summary_csv({plain, run_points(plain, 1)}).has_value());
}

// --- the folder ---

TEST_CASE("training results: a timeline or summary of an earlier study does not stay") {
    const TemporaryFolder out;
    const Study trains = with(R"("sweep": {"seed": [1, 2]})");
    const Study plain = study.read();
    const Study timed = read_study(study.folder.write("timed.json", R"({
        "cluster": {"nodes": 2, "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps"}}},
        "workload": {"gradient": "4B", "step_time": "1ms"},
        "algorithm": {"kind": "dense"}, "stop": {"iterations": 3}})"),
                                   {});
    const auto write = [&](const Study& s) {
        write_results(out.path(), s, run_points(s, 1), {1, 0.1});
    };

    write(trains);
    CHECK(fs::exists(out.path() / "timeline.csv"));
    CHECK(fs::exists(out.path() / "summary.csv"));
    write(plain);
    CHECK(fs::exists(out.path() / "timeline.csv"));
    CHECK_FALSE(fs::exists(out.path() / "summary.csv"));
    write(timed);
    CHECK_FALSE(fs::exists(out.path() / "timeline.csv"));
    CHECK(fs::exists(out.path() / "results.csv"));
}

// --- the program ---

struct Ran {
    int code;
    std::string results;
    std::string timeline;
    std::string summary;
};

Ran run_program(const std::string& file, const std::string& options) {
    const TemporaryFolder out;
    const std::string command =
        fmt::format("exec '{}' run '{}' {} --quiet --out '{}' >/dev/null 2>&1 </dev/null",
                    PACELINE_BINARY, file, options, out.path().string());
    const int status = std::system(command.c_str());  // NOLINT(cert-env33-c)
    return {WEXITSTATUS(status), content(out.path() / "results.csv"),
            content(out.path() / "timeline.csv"), content(out.path() / "summary.csv")};
}

TEST_CASE("training results: a target is an outcome, and the program has not failed") {
    const Ran ran = run_program(study.file, "--set stop.target_loss=1e6");

    CHECK(ran.code == 0);
    const Row row = rows_of(ran.results).at(0);
    CHECK(row.at("outcome") == "target");
    CHECK(number(row, "sim_time_s") == 0);
    CHECK(rows_of(ran.timeline).size() == 1);
}

TEST_CASE("training results: a target within the run ends it at the first evaluation that holds") {
    const Ran whole = run_program(study.file, "--set stop.iterations=40");
    const std::vector<Row> timeline = rows_of(whole.timeline);
    const double aim = number(timeline.at(9), "train_loss") * (1 + 1e-9);
    std::size_t first = 0;
    while (number(timeline[first], "train_loss") > aim) ++first;

    const Ran cut =
        run_program(study.file, fmt::format("--set stop.iterations=40 --set stop.target_loss={} "
                                            "--set measure.target_loss={}",
                                            aim, aim));

    const Row row = rows_of(cut.results).at(0);
    CHECK(cut.code == 0);
    CHECK(row.at("outcome") == "target");
    CHECK(first > 0);
    CHECK(number(row, "iterations") == number(timeline[first], "iteration"));
    CHECK(row.at("time_to_target_s") == timeline[first].at("sim_time_s"));
    CHECK(row.at("train_loss") == timeline[first].at("train_loss"));
}

TEST_CASE("training results: divergence is an outcome, and the program has not failed") {
    for (const char* algorithm :
         {R"({"kind": "dense"})", R"({"kind": "decentlam", "mixing": {"kind": "ring"}})",
          R"({"kind": "dgc", "density": 0.1, "warm_up": "none"})",
          R"({"kind": "gradient-dropping", "density": 0.1, "dense_steps": 0})"})
        for (const char* every : {"2 iterations", "1000 iterations", "3ms"}) {
            CAPTURE(algorithm);
            CAPTURE(every);
            const Ran ran = run_program(
                study.file,
                fmt::format("--set optimizer.learning_rate=1e8 --set stop.iterations=300 "
                            "--set 'algorithm={}' --set 'measure.every={}'",
                            algorithm, every));

            CHECK(ran.code == 0);
            REQUIRE(rows_of(ran.results).size() == 1);
            CHECK(rows_of(ran.results).at(0).at("outcome") == "diverged");
        }
}

// Every training method whose arithmetic runs beside the event loop.
constexpr const char* methods = R"("sweep": {
    "algorithm": [{"label": "dense", "kind": "dense"},
                  {"label": "overlapped", "kind": "dense-overlapped", "bucket": "1kB"},
                  {"label": "dgc", "kind": "dgc", "density": 0.05, "warm_up": "none"},
                  {"label": "lam", "kind": "decentlam", "mixing": {"kind": "ring"}},
                  {"label": "dropping", "kind": "gradient-dropping", "density": 0.05,
                   "dense_steps": 1}],
    "seed": [1, 2]})";

std::string sweep_of_methods(const std::string& name, const std::string& workload) {
    return study.folder.write(name, fmt::format(R"({{
        "cluster": {{"nodes": 4, "fabric": {{"kind": "star",
                                             "link": {{"bandwidth": "1Gbps", "latency": "5us"}}}}}},
        "workload": {}, "optimizer": {{"learning_rate": 0.1, "clip": 0}},
        "algorithm": {{"kind": "dense"}}, "measure": {{"every": "2 iterations"}},
        "stop": {{"iterations": 5}}, {}}})",
                                                workload, methods));
}

void check_same_bytes(const std::string& file) {
    const Ran first = run_program(file, "--threads 1 --jobs 1");
    CHECK(first.code == 0);
    CHECK(rows_of(first.results).size() == 10);
    CHECK(rows_of(first.timeline).size() == 40);
    for (const char* options : {"--threads 1 --jobs 1", "--threads 2 --jobs 1",
                                "--threads 4 --jobs 2", "--threads 1 --jobs 2"}) {
        CAPTURE(options);
        const Ran again = run_program(file, options);

        CHECK(again.code == 0);
        CHECK(again.results == first.results);
        CHECK(again.timeline == first.timeline);
        CHECK(again.summary == first.summary);
    }
}

TEST_CASE("determinism: MLPs train to the same bytes on any threads and jobs, and twice") {
    check_same_bytes(sweep_of_methods("mlp.json", R"({"model": {"kind": "mlp", "hidden": [64]},
            "data": {"kind": "gaussian-mixture", "train": 4096, "test": 512,
                     "partition": {"kind": "label-sorted"}},
            "batch": 96, "step_time": "1ms"})"));
}

TEST_CASE("determinism: LSTMs train to the same bytes on any threads and jobs, and twice") {
    check_same_bytes(sweep_of_methods("lstm.json", R"({"model": {"kind": "lstm", "hidden": 12},
            "data": {"kind": "artificial-language", "vocabulary": 40, "steps": 6, "train": 128,
                     "test": 32},
            "batch": 16, "step_time": "1ms", "sampling": "with-replacement"})"));
}

TEST_CASE("determinism: seeds differ in the start and the batches, and in nothing timed") {
    const Study swept = with(R"("sweep": {"seed": [1, 2]})", {"workload.data.seed=1"});
    const std::vector<PointResult> results = run_points(swept, 1);

    CHECK(results[0].metrics.train_loss != results[1].metrics.train_loss);
    CHECK(results[0].metrics.timeline[0].train_loss != results[1].metrics.timeline[0].train_loss);
    CHECK(results[0].metrics.sim_time_s == results[1].metrics.sim_time_s);
}

}  // namespace
}  // namespace paceline::training_results_test

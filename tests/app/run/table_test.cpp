#include "app/run/table.hpp"

#include <doctest/doctest.h>

namespace paceline::table_test {
namespace {

Point point(std::vector<std::size_t> choice, const std::string& algorithm, std::size_t number = 0) {
    Point made{std::move(choice), "{}", {}, number};
    made.scenario.algorithm.label = algorithm;
    return made;
}

PointResult finished(int nodes, double speedup, int devices_per_node = 1) {
    PointResult result;
    result.metrics.nodes = nodes;
    result.metrics.devices = nodes * devices_per_node;
    result.metrics.outcome = "finished";
    result.metrics.sim_time_s = 1.5;
    result.metrics.step_time_s = 0.5;
    result.metrics.model_step_time_s = 0.55;
    result.metrics.speedup = speedup;
    result.metrics.efficiency = speedup / result.metrics.devices;
    return result;
}

TEST_CASE("table: with nodes swept it has a line per algorithm, a column per size, twice") {
    const Study study{"file.json",
                      "a study",
                      {{"algorithm", {"dense", "dgc"}}, {"cluster.nodes", {"2", "4"}}},
                      {point({0, 0}, "dense"), point({0, 1}, "dense"), point({1, 0}, "dgc"),
                       point({1, 1}, "dgc")}};

    const std::string table = speedup_table(
        {study, {finished(2, 0.3), finished(4, 0.42), finished(2, 1.98), finished(4, 3.89)}});

    CHECK(table ==
          "a study\n\n"
          "speedup at nodes     2     4\n"
          "dense             0.30  0.42\n"
          "dgc               1.98  3.89\n"
          "\n"
          "efficiency % at nodes     2     4\n"
          "dense                  15.0  10.5\n"
          "dgc                    99.0  97.2\n");
}

TEST_CASE("table: an interval stands behind its value, the other way around for a rate") {
    const Study study{"file.json", "", {}, {point({}, "dense")}};
    PointResult result = finished(2, 1.5);
    result.metrics.interval = TimeInterval{0, 0, 0, 0.5, 2};
    const std::string table = speedup_table({study, {result}});
    CHECK(table.find("0.5 (0.25 to 1)") != std::string::npos);      // s of a step
    CHECK(table.find("1.50 (0.75 to 3.00)") != std::string::npos);  // speedup
    CHECK(table.ends_with("\n(a to b): 90 % prediction interval (docs/trust.md)\n"));
}

TEST_CASE("table: machines with several devices have these below the nodes, or beside them") {
    const Study swept{"file.json",
                      "",
                      {{"cluster.nodes", {"2", "4"}}},
                      {point({0}, "dense"), point({1}, "dense")}};
    const Study one{"file.json", "", {}, {point({}, "dense")}};

    CHECK(speedup_table({swept, {finished(2, 12, 8), finished(4, 20, 8)}})
              .starts_with("speedup at nodes      2      4\n"
                           "  devices            16     32\n"
                           "dense             12.00  20.00\n"));
    CHECK(
        speedup_table({one, {finished(2, 12, 8)}}) ==
        "       nodes  devices   outcome  simulated s  step s  closed form s  speedup  efficiency "
        "%\n"
        "dense      2       16  finished          1.5     0.5           0.55    12.00          "
        "75.0\n");
}

TEST_CASE("table: axes of a zip with the nodes are told by the nodes") {
    const Study study{"file.json",
                      "",
                      {{"cluster.nodes", {"2", "4"}, 0}, {"workload.batch", {"64", "32"}, 0}},
                      {point({0, 0}, "dense"), point({1, 1}, "dense")}};

    CHECK(speedup_table({study, {finished(2, 2), finished(4, 3)}})
              .starts_with("speedup at nodes     2     4\n"
                           "dense             2.00  3.00\n"));
}

TEST_CASE("table: a failed point shows its outcome in the place of its speedup") {
    PointResult failed = finished(4, 3);
    failed.metrics.outcome = "deadlock";
    const Study study{"file.json",
                      "",
                      {{"cluster.nodes", {"2", "4"}}},
                      {point({0}, "dense"), point({1}, "dense")}};

    CHECK(speedup_table({study, {finished(2, 2), failed}})
              .starts_with("speedup at nodes     2         4\n"
                           "dense             2.00  deadlock\n"));
}

TEST_CASE("table: a point without a whole step shows its outcome, whatever ended it") {
    for (const char* outcome : {"time-limit", "diverged", "out-of-range", "deadlock"}) {
        PointResult cut;
        cut.metrics.nodes = 4;
        cut.metrics.devices = 4;
        cut.metrics.iterations = 1;
        cut.metrics.outcome = outcome;
        const Study study{"file.json",
                          "",
                          {{"cluster.nodes", {"2", "4"}}},
                          {point({0}, "dense"), point({1}, "dense")}};
        const std::string table = speedup_table({study, {finished(2, 2), cut}});
        CAPTURE(table);

        CHECK(
            table.starts_with(fmt::format("speedup at nodes     2  {0:>{1}}\n"
                                          "dense             2.00  {2}\n",
                                          "4", std::string_view(outcome).size(), outcome)));
    }
}

TEST_CASE("table: points that were not run have no line") {
    const Study study{"file.json",
                      "",
                      {{"workload.batch", {"1", "2"}}},
                      {point({0}, "dense"), point({1}, "dense")}};

    CHECK(speedup_table({study, {PointResult{}, finished(2, 2)}}) ==
          "   nodes   outcome  simulated s  step s  closed form s  speedup  efficiency %\n"
          "2      2  finished          1.5     0.5           0.55     2.00         100.0\n");
}

// The mean of 1, 2 and 6 is 3, and their deviation sqrt((4 + 1 + 9) / 2) = 2.6458.
TEST_CASE("table: seeds are one line with mean, deviation, and how many have the value") {
    const Study study{"file.json",
                      "",
                      {{"seed", {"1", "2", "3"}}},
                      {point({0}, "dense"), point({1}, "dense"), point({2}, "dense")}};
    std::vector<PointResult> results{finished(8, 1), finished(8, 2), finished(8, 6)};
    results[1].metrics.step_time_s.reset();
    results[1].metrics.outcome = "target";

    CHECK(speedup_table({study, results}) ==
          "       nodes               outcome  simulated s   step s  closed form s     speedup  "
          "efficiency %\n"
          "dense      8  2 finished, 1 target          1.5  0.5 (2)           0.55  3.00 ± 2.6     "
          "37.5 ± 33\n"
          "\n"
          "means of 3 seeds ± standard deviation, omitted if all are equal; (n): only n seeds have "
          "the value\n");
}

TEST_CASE("table: seeds beside nodes share a cell, and other axes keep their lines") {
    const Study study{"file.json",
                      "",
                      {{"cluster.nodes", {"2", "4"}}, {"seed", {"1", "2"}}},
                      {point({0, 0}, "dense"), point({0, 1}, "dense"), point({1, 0}, "dense"),
                       point({1, 1}, "dense")}};

    CHECK(speedup_table({study, {finished(2, 1), finished(2, 2), finished(4, 3), finished(4, 3)}})
              .starts_with("speedup at nodes            2     4\n"
                           "dense             1.50 ± 0.71  3.00\n"
                           "\n"));
}

// A study whose main job is swept, and whose other job "B" is dense SGD.
Study two_jobs() {
    std::vector<Point> points{point({0, 0}, "dense-overlapped"), point({0, 1}, "dense-overlapped"),
                              point({1, 0}, "dgc"), point({1, 1}, "dgc")};
    for (Point& each : points) {
        Scenario& other = each.scenario.other_jobs.emplace_back();
        other.job = "B";
        other.algorithm.label = "dense";
    }
    return {"file.json",
            "",
            {{"algorithm", {"dense-overlapped", "dgc"}}, {"cluster.nodes", {"2", "4"}}},
            Points(std::move(points))};
}

TEST_CASE(
    "table: another job has lines of its own with its own algorithm, also if nodes are swept") {
    std::vector<PointResult> results(4, finished(2, 2));
    for (PointResult& result : results) {
        result.metrics.other_jobs.push_back(finished(3, 1.5).metrics);
        result.metrics.other_jobs.back().outcome = "main-ended";
    }

    const std::string table = speedup_table({two_jobs(), results});

    CHECK(table.starts_with(
        "                               job   algorithm         nodes     outcome  simulated s"));
    CHECK(
        table.find("\n2                              main  dense-overlapped      2    finished ") !=
        std::string::npos);
    CHECK(
        table.find("\n2  alongside dense-overlapped  B     dense                 3  main-ended ") !=
        std::string::npos);
    CHECK(
        table.find("\n4                              main  dgc                   2    finished ") !=
        std::string::npos);
    CHECK(
        table.find("\n4  alongside dgc               B     dense                 3  main-ended ") !=
        std::string::npos);
}

TEST_CASE("table: a point that failed by an exception has no lines of its other jobs") {
    PointResult error;
    error.metrics.outcome = "error";

    const std::string table =
        speedup_table({two_jobs(), {error, PointResult{}, PointResult{}, PointResult{}}});

    CHECK(table.find("main") != std::string::npos);
    CHECK(table.find("beside") == std::string::npos);
}

TEST_CASE("table: names in other scripts are aligned by characters, not bytes") {
    const Study study{"file.json",
                      "",
                      {{"algorithm", {"größer", "dgc"}}, {"cluster.nodes", {"2"}}},
                      {point({0, 0}, "größer"), point({1, 0}, "dgc")}};

    CHECK(speedup_table({study, {finished(2, 1), finished(2, 2)}})
              .starts_with("speedup at nodes     2\n"
                           "größer            1.00\n"
                           "dgc               2.00\n"));
}

TEST_CASE("table: only its first lines are printed if it is long") {
    CHECK(first_lines("a\nb\nc\n", 3, "t") == "a\nb\nc\n");
    CHECK(first_lines("a\nb\nc\n", 2, "t") == "a\nb\n... and 1 more lines in t\n");
    CHECK(first_lines("", 2, "t").empty());
}

}  // namespace
}  // namespace paceline::table_test

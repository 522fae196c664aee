#include "app/run/step_costs.hpp"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/study/study_file.hpp"
#include "tests/app/study/small_study.hpp"

namespace paceline::step_costs_test {
namespace {

Scenario scenario_of(const std::string& algorithm) {
    const SmallStudy study(4, 1);
    return read_study(study.file, {"algorithm=" + algorithm}).points.front().scenario;
}

TEST_CASE("step costs: whole steps of a method without stages are multiples of its period") {
    const Scenario scenario = scenario_of(R"({"kind": "local-sgd", "period": 8})");
    for (const auto& [steps, whole, up] :
         std::vector<std::array<std::int64_t, 3>>{{1, 0, 8},
                                                  {7, 0, 8},
                                                  {8, 8, 8},
                                                  {9, 8, 16},
                                                  {16, 16, 16},
                                                  {1'000'001, 1'000'000, 1'000'008}}) {
        CAPTURE(steps);
        CHECK(whole_steps(scenario, steps) == whole);
        CHECK(steps_to_whole(scenario, steps) == up);
        CHECK(rated_steps(scenario, steps) == (whole > 0 ? whole : steps));
    }
}

TEST_CASE("step costs: every step of a method without a period is whole") {
    const Scenario scenario = scenario_of(R"({"kind": "dense"})");
    for (const std::int64_t steps : {1, 2, 7, 1'000'000'007}) {
        CHECK(whole_steps(scenario, steps) == steps);
        CHECK(steps_to_whole(scenario, steps) == steps);
    }
}

TEST_CASE("step costs: periods begin with their stage, and the end of a stage is whole") {
    const Scenario scenario =
        scenario_of(R"({"kind": "post-local-sgd", "period": 4, "switch_step": 5})");
    const std::vector<std::int64_t> whole{0, 1, 2, 3, 4, 5, 5, 5, 5, 9, 9, 9, 9, 13};
    for (std::int64_t steps = 0; steps < std::ssize(whole); ++steps)
        CHECK(whole_steps(scenario, steps) == whole[static_cast<std::size_t>(steps)]);
    CHECK(steps_to_whole(scenario, 6) == 9);
    CHECK(begin_of_last_stage(scenario) == 5);
    CHECK_FALSE(is_in_last_stage(scenario, 4));
    CHECK(is_in_last_stage(scenario, 5));
}

TEST_CASE("step costs: the last stage of a warm-up begins where its options say") {
    CHECK(begin_of_last_stage(scenario_of(R"({"kind": "one-bit-adam"})")) == 100'000);
    CHECK(begin_of_last_stage(
              scenario_of(R"({"kind": "gradient-dropping", "dense_steps": 321})")) == 321);
    CHECK(begin_of_last_stage(scenario_of(
              R"({"kind": "dgc", "warm_up": {"densities": [0.25, 0.1], "steps_each": 7}})")) == 14);
    CHECK(begin_of_last_stage(scenario_of(R"({"kind": "dense"})")) == 0);
}

TEST_CASE("step costs: the ratio of a run with a warm-up is that of its bytes") {
    const Scenario scenario =
        scenario_of(R"({"kind": "post-local-sgd", "period": 4, "switch_step": 5})");
    CHECK(compression_ratio(scenario, 0, 5) == 1);
    CHECK(compression_ratio(scenario, 0, 13).value() == doctest::Approx(13 / (5 + 8 / 4.0)));
    CHECK(compression_ratio(scenario, 5, 13).value() == doctest::Approx(4));
}

// Vectors that the members do not divide, on a link so slow that a byte is felt.
TEST_CASE("step costs: momentum tracking's first ring is no longer than its form, by any rest") {
    for (const int nodes : {3, 4, 5, 6, 7})
        for (int entries = 60; entries < 80; ++entries) {
            CAPTURE(nodes);
            CAPTURE(entries);
            const SmallStudy study(nodes, 1);
            const Metrics m =
                study.run({R"(algorithm={"kind": "momentum-tracking", "mixing": {"kind": "ring"}})",
                           R"(cluster.fabric={"kind": "star", "link": {"bandwidth": "20Mbps"}})",
                           fmt::format(R"(workload={{"gradient": "{}B", "step_time": "20us"}})",
                                       4 * entries)});
            const double form = m.model_step_time_s.value();
            CHECK(m.step_time_s.value() <= form * (1 + 1e-9));
            CHECK(m.step_time_s.value() >= form * 0.97);
        }
}

}  // namespace
}  // namespace paceline::step_costs_test

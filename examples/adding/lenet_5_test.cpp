// The profile lenet-5.json, read as the program reads it.
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "app/host/files.hpp"
#include "app/run/run_point.hpp"
#include "app/scenario/workload/profiles.hpp"
#include "app/study/study_file.hpp"

namespace paceline::lenet_5_test {
namespace {

const std::string file = PACELINE_SOURCE_DIR "/examples/adding/lenet-5.json";

Profile lenet_5() {
    return read_profile(parse_json(read_text(file), file), file);
}

TEST_CASE("lenet-5: it has the known number of parameters, and the work of its shapes") {
    const Profile net = lenet_5();

    CHECK(net.layout()->entries() == 61'706);
    CHECK(net.macs() == 6 * 28 * 28 * (1 * 5 * 5)         // conv1: outputs x their inputs
                            + 16 * 10 * 10 * (6 * 5 * 5)  // conv2
                            + 400 * 120 + 120 * 84 + 84 * 10);
}

TEST_CASE("lenet-5: its study takes the time of the closed form") {
    const Study study =
        read_study(open_scenario(PACELINE_SOURCE_DIR "/examples/adding/lenet-5-study.json"), {});
    const Metrics metrics = run_point(study.points.front().scenario, nullptr);

    CHECK(metrics.outcome == "finished");
    REQUIRE(metrics.model_step_time_s.has_value());
    CHECK(metrics.step_time_s == doctest::Approx(*metrics.model_step_time_s).epsilon(1e-12));
}

}  // namespace
}  // namespace paceline::lenet_5_test

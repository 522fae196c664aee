#include "app/study/manifest.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "app/host/commit.hpp"
#include "app/host/version.hpp"
#include "app/study/point_key.hpp"

namespace paceline::manifest_test {
namespace {

TEST_CASE("manifest: it has the resolved scenario, seed and outcome of each point") {
    const Point point{{}, R"({"seed":7,"cluster":{"nodes":2}})", {}, 0};
    const Study study{"file.json", "a study", {}, {point}};
    PointResult result{{}, 0.25};
    result.metrics.outcome = "deadlock";
    result.metrics.outcome_details = "node 0 waits for node 1";

    const Json json = Json::parse(manifest_json(study, {result}, {2, 0.5}));

    CHECK(json.at("version") == version);
    CHECK(json.at("commit") == commit());
    CHECK(json.at("build") == program_hash());
    CHECK(json.at("scenario") == "file.json");
    CHECK(json.at("jobs") == 2);
    CHECK(json.at("wall_clock_s") == 0.5);
    CHECK(json.at("peak_memory_bytes") > 1'000'000);
    CHECK(json.at("points").size() == 1);
    CHECK(json.at("points")[0].at("scenario").at("cluster").at("nodes") == 2);
    CHECK(json.at("points")[0].at("seed") == 7);
    CHECK(json.at("points")[0].at("outcome") == "deadlock");
    CHECK(json.at("points")[0].at("details") == "node 0 waits for node 1");
    CHECK(json.at("points")[0].at("wall_clock_s") == 0.25);
}

}  // namespace
}  // namespace paceline::manifest_test

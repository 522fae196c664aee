#include "app/scenario/pieces.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "algorithms/exchange/piece.hpp"
#include "app/json/config_error.hpp"
#include "app/run/step_costs.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline::pieces_test {
namespace {

constexpr std::string_view timing = R"({"version": 2,
  "cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"bandwidth": "10Gbps"}}},
  "workload": {"profile": "resnet-50", "step_time": "100ms"},
  "algorithm": {"kind": "sgd"}, "stop": {"iterations": 1}})";

Scenario scenario_of(const std::string& profile, const std::string& schedule) {
    const TemporaryFolder folder;
    return read_study(folder.write("pieces.json", timing),
                      {"workload.profile=" + profile, "algorithm.schedule=" + schedule})
        .points.front()
        .scenario;
}

TEST_CASE("pieces: the most that there may be are those that a run cuts, or few more") {
    for (const char* profile : {"alexnet", "resnet-50", "gpt2", "vgg-16"})
        for (const char* pieces : {"whole", "tensors", "1MB", "25MiB", "1GB"})
            for (const char* partition : {"", "4MB", "300kB", "10kB"}) {
                CAPTURE(profile);
                CAPTURE(pieces);
                CAPTURE(partition);
                const Scenario scenario = scenario_of(
                    profile, fmt::format(R"({{"pieces": "{}"{}}})", pieces,
                                         *partition == 0
                                             ? std::string()
                                             : fmt::format(R"(, "partition": "{}")", partition)));
                const auto buckets = step_timing(scenario).buckets;
                const auto& cut = scenario.algorithm.exchange->schedule.partition;
                LayoutParts layouts;
                const auto count = std::ssize(
                    cut_pieces(scenario.workload.layout, scenario.workload.layout, buckets,
                               cut ? std::optional(cut->count / 4) : std::nullopt, layouts));
                const std::int64_t most =
                    most_pieces(scenario.algorithm, *scenario.workload.layout);
                CHECK(most >= count);
                CHECK(most <= count + std::ssize(scenario.workload.layout->tensors()));
            }
}

TEST_CASE("pieces: more than ten million of all workers are refused where they are cut") {
    // 25.5 million entries are 102 MB: 4 x 250,000 partitions of 408 B, and of 40 B ten times more.
    CHECK_NOTHROW((void)scenario_of("resnet-50", R"({"pieces": "whole", "partition": "408B"})"));
    try {
        (void)scenario_of("resnet-50", R"({"pieces": "whole", "partition": "40B"})");
        FAIL("they are refused");
    } catch (const ConfigError& error) {
        CHECK(error.path() == "--set algorithm.schedule.partition");
        CHECK(error.problem().find("for each of 4 workers") != std::string::npos);
    }
}

}  // namespace
}  // namespace paceline::pieces_test

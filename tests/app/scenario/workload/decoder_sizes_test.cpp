#include "app/scenario/workload/decoder_sizes.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/json/json_file.hpp"
#include "app/scenario/study.hpp"
#include "app/scenario/workload/workload.hpp"
#include "app/study/study_file.hpp"
#include "sim/engine/units.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline::decoder_sizes_test {
namespace {

using doctest::Approx;

std::string scenario_with(std::string_view workload) {
    return fmt::format(
        R"({{"cluster": {{"nodes": 2, "fabric": {{"kind": "star",
                                                "link": {{"bandwidth": "1Gbps"}}}}}},
             "workload": {}, "algorithm": {{"kind": "dense"}}, "stop": {{"iterations": 1}}}})",
        workload);
}

constexpr std::string_view gpt2 =
    R"({"transformer": {"layers": 12, "width": 768, "heads": 12, "vocabulary": 50257,
                        "context": 1024}})";

Study study_with(std::string_view workload, const std::vector<std::string>& settings = {}) {
    const TemporaryFolder folder;
    return read_study(folder.write("scenario.json", scenario_with(workload)), settings);
}

// 8 sequences, three times two operations per multiply-accumulate, on a device of 100 Tflop/s that
// reaches half of it.
TEST_CASE("decoder sizes: a transformer by its sizes is charged for its parameters and its work") {
    const Study study = study_with(fmt::format(
        R"({{"profile": {}, "batch": 8, "device": {{"peak_flops": 1e14, "efficiency": 0.5}}}})",
        gpt2));
    const Workload& workload = study.points.front().scenario.workload;

    CHECK(workload.layout->entries() == 124'439'808);
    CHECK(workload.name == "transformer 12 x 768");
    const double macs = 1024 * (12 * 12 * 768. * 768 + 50257 * 768.) + 24 * 1024. * 1024 * 768;
    CHECK(to_seconds(workload.step()) == Approx(8 * 6 * macs / 5e13).epsilon(1e-9));
}

// Scenarios with the sizes of GPT-2, but for these.
Study study_of_sizes(const Json& changes, const std::string& profile = "transformer") {
    Json sizes = Json::parse(gpt2);
    sizes["transformer"].update(changes);
    Json scenario = Json::parse(scenario_with(R"({"step_time": "1ms"})"));
    scenario["workload"]["profile"][profile] = sizes["transformer"];
    const TemporaryFolder folder;
    return read_study(folder.write("scenario.json", scenario.dump()), {});
}

std::int64_t entries_of_sizes(const Json& changes) {
    return study_of_sizes(changes).points.front().scenario.workload.layout->entries();
}

TEST_CASE("decoder sizes: sizes have defaults") {
    CHECK(entries_of_sizes({{"layers", 2}}) - entries_of_sizes({{"layers", 1}}) ==
          12 * 768 * 768 + 13 * 768);
    CHECK(entries_of_sizes({{"inner", 3072}, {"tied", true}}) == 124'439'808);
    CHECK(entries_of_sizes({{"tied", false}}) == 124'439'808 + 50257 * 768);
}

// GPT-2 of 12 layers of 768, V = 50257, T = 1024, f = 3072. Each part is changed alone.
TEST_CASE("decoder sizes: each part of a transformer changes what it consists of") {
    constexpr std::int64_t whole = 124'439'808;
    constexpr std::int64_t matrix = 768 * 768;
    const auto more = [&](const Json& changes) { return entries_of_sizes(changes) - whole; };

    CHECK(more({{"key_value_heads", 12}}) == 0);
    CHECK(more({{"key_value_heads", 3}}) == -12 * (2 * matrix + 2 * 768) * 3 / 4);
    CHECK(more({{"mlp", "swiglu"}, {"inner", 3072}}) == 12 * (768 * 3072 + 3072));
    CHECK(more({{"norm", "rms"}}) == -25 * 768);
    CHECK(more({{"positions", "rotary"}}) == -1024 * 768);
    CHECK(more({{"biases", false}}) == -12 * (5 * 768 + 3072) - 25 * 768);
    CHECK(more({{"mlp", "gelu"}, {"norm", "layer"}, {"positions", "learned"}, {"biases", true}}) ==
          0);
}

TEST_CASE("decoder sizes: sizes are swept as any other key") {
    Json scenario = Json::parse(scenario_with(R"({"step_time": "1ms"})"));
    scenario["workload"]["profile"] = Json::parse(gpt2);
    scenario["sweep"] = {{"workload.profile.transformer.layers", {1, 12}}};
    const TemporaryFolder folder;
    const Study study = read_study(folder.write("scenario.json", scenario.dump()), {});

    REQUIRE(study.points.size() == 2);
    CHECK(study.points[1].scenario.workload.layout->entries() == 124'439'808);
}

TEST_CASE("decoder sizes: sizes that are wrong are refused at their place") {
    const auto refusal = [](const Json& changes, const std::string& profile = "transformer") {
        try {
            (void)study_of_sizes(changes, profile);
        } catch (const ConfigError& error) {
            return error.path() + ": " + error.problem();
        }
        return std::string("accepted");
    };
    const std::string at = "workload.profile.transformer";

    CHECK(refusal({{"heads", 7}}) == at + ".heads: 7 heads do not divide the width, 768");
    CHECK(refusal({{"layers", 0}}).starts_with(at + ".layers: "));
    CHECK(refusal({{"depth", 3}}).starts_with(at + ".depth: \"depth\" is not a key here"));
    CHECK(refusal({{"layers", nullptr}}).starts_with(at + ".layers: "));
    CHECK(refusal({{"vocabulary", 100'000'000},
                   {"width", 1'000'000},
                   {"layers", 10'000},
                   {"heads", 1},
                   {"inner", 100'000'000}})
              .starts_with(at + ": a net has at most"));
    CHECK(refusal(Json::object(), "decoder").starts_with("workload.profile.decoder: "));
    CHECK(refusal({{"key_value_heads", 5}}) ==
          at + ".key_value_heads: 5 key-value heads do not divide the 12 heads, which share them "
               "equally");
    CHECK(refusal({{"key_value_heads", 24}}).starts_with(at + ".key_value_heads: "));
    CHECK(
        refusal({{"mlp", "swiglu"}}).starts_with(at + ": \"inner\" is missing: the width of gate"));
    CHECK(refusal({{"mlp", "relu"}}) == at + ".mlp: \"relu\" is not a feed-forward part; did you "
                                             "mean \"gelu\"? known: gelu, swiglu");
    CHECK(refusal({{"norm", "batch"}}).starts_with(at + ".norm: "));
    CHECK(refusal({{"positions", "absolute"}}).starts_with(at + ".positions: "));
    CHECK(refusal({{"biases", "none"}}).starts_with(at + ".biases: "));
}

}  // namespace
}  // namespace paceline::decoder_sizes_test

// The local family through scenarios: what is read is what runs, and predictions are reported
// beside results.
#include <cmath>

#include <doctest/doctest.h>

#include "app/run/run_point.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/studies/training_study.hpp"

namespace paceline::app_local_family_test {
namespace {

using doctest::Approx;

const TrainingStudy study;

const std::vector<std::string> algorithms{
    R"({"kind": "local-sgd", "period": 3})",
    R"({"kind": "local-sgd", "period": 3, "all_reduce": "halving-doubling", "wire": "fp16"})",
    R"({"kind": "post-local-sgd", "switch_step": 6, "period": 2})",
    R"({"kind": "slowmo", "period": 3})",
    R"({"kind": "slowmo", "period": 4, "base": "sgp", "mixing": {"kind": "one-peer-exponential"}})",
    R"({"kind": "slowmo", "period": 3, "base": "dsgd", "mixing": {"kind": "ring"},
        "average": false})",
    R"({"kind": "slowmo", "period": 3, "base": "all-reduce"})",
    R"({"kind": "slowmo", "period": 3, "base": "all-reduce", "average": true})",
    R"({"kind": "slowmo", "period": 3, "base": "local-adam", "buffers": "average",
        "optimizer": {"learning_rate": 0.01}})",
    R"({"kind": "bmuf", "period": 3, "form": "nesterov-folded", "block_momentum": 0.5})",
    R"({"kind": "diloco", "period": 3, "optimizer": {"learning_rate": 0.01}})",
    R"({"kind": "diloco", "period": 3, "codec": {"kind": "qsgd", "levels": 7},
        "optimizer": {"learning_rate": 0.01}})",
    R"({"kind": "streaming-diloco", "period": 4, "fragments": 2, "delay": 0,
        "optimizer": {"learning_rate": 0.01}})",
    R"({"kind": "streaming-diloco", "period": 4, "fragments": 2, "delay": 1,
        "optimizer": {"learning_rate": 0.01}})",
    R"({"kind": "streaming-diloco", "period": 6, "fragments": 1, "delay": 4,
        "codec": {"kind": "qsgd", "levels": 7}, "optimizer": {"learning_rate": 0.01}})",
    R"({"kind": "local-adam", "period": 3, "optimizer": {"learning_rate": 0.01}})",
    R"({"kind": "local-adam", "period": 3, "buffers": "average",
        "optimizer": {"learning_rate": 0.01}})",
    R"({"kind": "sparta", "share": 0.3, "optimizer": {"learning_rate": 0.01}})",
    R"({"kind": "easgd", "period": 3})",
    R"({"kind": "cocod-sgd", "period": 3})",
    R"({"kind": "overlap-local-sgd", "period": 3})",
    R"({"kind": "diloco", "period": 3, "outer": "none", "inner": "sgd"})",
    R"({"kind": "sparseloco", "period": 3, "optimizer": {"learning_rate": 0.01}})",
    R"({"kind": "noloco", "period": 3, "mixing": {"kind": "random-matching"},
        "optimizer": {"learning_rate": 0.01}})"};

Metrics run(const std::string& algorithm, const std::vector<std::string>& more = {}) {
    std::vector<std::string> settings{"algorithm=" + algorithm, "stop.iterations=12"};
    settings.insert(settings.end(), more.begin(), more.end());
    return study.run(settings);
}

TEST_CASE("local family: the step of a run is the one predicted, on an idle star of four") {
    for (const std::string& algorithm : algorithms)
        for (const char* step : {"10us", "1ms"}) {  // shorter and longer than an average
            CAPTURE(algorithm);
            CAPTURE(step);

            const Metrics m = run(
                algorithm, {std::string("workload.step_time=") + step, "workload.update_time=3us"});

            CHECK(m.outcome == "finished");
            REQUIRE(m.model_step_time_s.has_value());
            CHECK(*m.step_time_s == Approx(*m.model_step_time_s).epsilon(1e-9));
            CHECK(m.train_loss.has_value());
        }
}

TEST_CASE("local family: what a worker contributes is amortized over a block") {
    const double dense = *run(R"({"kind": "dense"})").compression_ratio;
    CHECK(*run(algorithms[0]).compression_ratio == Approx(3 * dense));
    CHECK(*run(algorithms[1]).compression_ratio == Approx(6 * dense));
    // Six steps each send a model, then six every other one.
    CHECK(*run(algorithms[2]).compression_ratio == Approx(12.0 / (6 + 3) * dense));
    CHECK(*run(algorithms[6]).compression_ratio == Approx(dense));
    CHECK(*run(algorithms[7]).compression_ratio == Approx(dense / (4 / 3.0)));
    CHECK(*run(algorithms[8]).compression_ratio == Approx(dense));
}

TEST_CASE("local family: a codec shrinks what a worker contributes, whatever the period") {
    const double dense = *run(R"({"kind": "dense"})").compression_ratio;
    for (const char* kind : {"local-sgd", "bmuf", "easgd", "diloco", "slowmo"})
        CHECK(*run(std::string(R"({"period": 3, "codec": "fp16", "kind": ")") + kind + "\"}")
                   .compression_ratio == Approx(6 * dense));
    CHECK(*run(R"({"kind": "post-local-sgd", "switch_step": 6, "period": 2, "codec": "fp16"})")
               .compression_ratio == Approx(2 * 12.0 / (6 + 3) * dense));
}

// Rings of four send 24 messages per average, one peer 4 messages per step, and a mixing ring 8 per
// step.
TEST_CASE("local family: messages are counted before a run") {
    const std::vector<double> expected{
        4 * 24,     4 * 16,  (6 + 3) * 24, 4 * 24, 12 * 4 + 3 * 24, 12 * 8, 12 * 24, (12 + 4) * 24,
        4 * 3 * 24, 4 * 24,  4 * 24,       4 * 12, 6 * 24,          6 * 24, 2 * 12,  4 * 24,
        12 * 24,    12 * 24, 4 * 24,       4 * 24, 3 * 24,          4 * 24, 4 * 12,  4 * 2 * 4};
    for (std::size_t i = 0; i < algorithms.size(); ++i) {
        CAPTURE(algorithms[i]);
        const Scenario scenario =
            study.scenario({"algorithm=" + algorithms[i], "stop.iterations=12"});

        CHECK(messages_of_run(scenario) == expected[i]);
    }
}

TEST_CASE("local family: averaged in every step they are dense SGD, to the digits of sums") {
    const std::vector<std::string> in_double{R"(workload.model={"kind": "softmax-regression"})",
                                             "optimizer.nesterov=true",
                                             "optimizer.weight_decay=0.01"};
    const Metrics dense = run(R"({"kind": "dense"})", in_double);
    for (const char* algorithm :
         {R"({"kind": "local-sgd", "period": 1})",
          R"({"kind": "post-local-sgd", "switch_step": 12})",
          R"({"kind": "slowmo", "beta": 0, "period": 1, "buffers": "maintain"})",
          R"({"kind": "slowmo", "beta": 0, "base": "all-reduce", "buffers": "maintain"})",
          R"({"kind": "slowmo", "beta": 0, "period": 5, "buffers": "maintain", "base": "sgp",
              "mixing": {"kind": "complete"}})"}) {
        CAPTURE(algorithm);

        CHECK(*run(algorithm, in_double).train_loss == Approx(*dense.train_loss).epsilon(1e-10));
    }
}

// Published: 34.6 % and 1.5 % (ResNet-18, 16 nodes, 40 Gbps). The scenario's step time was chosen
// to match the first.
TEST_CASE("local family: synchronous SGD shows the published communication, overlapped less") {
    const Study shipped = read_study(PACELINE_SOURCE_DIR "/scenarios/overlap-local-sgd.json", {});
    const auto shown = [&](const std::string& label) {
        for (const auto& point : shipped.points)
            if (point.scenario.algorithm.label == label)
                return to_seconds(*model_step_time(point.scenario, 480)) / 9.22528e-3 - 1;
        return -1.0;
    };

    CHECK(shown("synchronous") == Approx(0.346).epsilon(1e-4));
    CHECK(shown("local SGD, tau 2") == Approx(0.173).epsilon(1e-4));
    for (const char* label : {"overlap, tau 1", "overlap, tau 2", "overlap, tau 24"}) {
        CAPTURE(label);
        CHECK(std::abs(shown(label)) < 1e-12);
    }
}

TEST_CASE("local family: defaults that depend on the number of workers") {
    CHECK(*run(R"({"kind": "bmuf", "period": 2})").train_loss ==
          *run(R"({"kind": "bmuf", "period": 2, "block_momentum": 0.75})").train_loss);
    CHECK(*run(R"({"kind": "easgd", "period": 2})").train_loss ==
          *run(R"({"kind": "easgd", "period": 2, "alpha": 0.225})").train_loss);
}

}  // namespace
}  // namespace paceline::app_local_family_test

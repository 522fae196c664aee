// The adaptive family as scenarios name it: closed forms of both stages against the simulation, and
// what a run reports.
#include <cmath>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/study/study_file.hpp"
#include "tests/app/studies/run_points.hpp"
#include "tests/app/studies/training_study.hpp"
#include "tests/app/study/small_study.hpp"

namespace paceline::adaptive_algorithms_test {
namespace {

using doctest::Approx;

const TrainingStudy study;

Metrics timing_of(const std::string& algorithm, int nodes, int steps) {
    const std::string file = study.folder.write("timing.json", R"({
        "cluster": {"nodes": 4, "fabric": {"kind": "star",
                                           "link": {"bandwidth": "1Gbps", "latency": "5us"}}},
        "workload": {"gradient": "400000B", "step_time": "3ms", "update_time": "1ms"},
        "algorithm": {"kind": "dense"}, "stop": {"iterations": 6}})");
    return run_points(
               read_study(file, {"algorithm=" + algorithm, "cluster.nodes=" + std::to_string(nodes),
                                 "stop.iterations=" + std::to_string(steps)}),
               1)
        .front()
        .metrics;
}

TEST_CASE("adaptive family: step times are those of the closed form, over warm-up and all") {
    for (const char* algorithm :
         {R"({"kind": "adam"})", R"({"kind": "lamb", "wire": "fp16"})",
          R"({"kind": "one-bit-adam", "freeze_step": 7})",
          R"({"kind": "one-bit-adam", "freeze_step": 7, "fused": true, "wire": "fp16"})",
          R"({"kind": "one-bit-lamb", "freeze_step": 3, "all_reduce": "halving-doubling"})",
          R"({"kind": "zero-one-adam", "var_freeze_step": 30, "var_update_scaler": 4,
              "local_step_scaler": 11, "local_step_clipper": 4, "coding_step": "50ps"})",
          R"({"kind": "one-bit-sgd", "coding_step": "20ps"})"})
        for (const int nodes : {1, 2, 4, 8})
            for (const int steps : {5, 20, 83}) {
                CAPTURE(algorithm);
                CAPTURE(nodes);
                CAPTURE(steps);

                const Metrics m = timing_of(algorithm, nodes, steps);

                REQUIRE(m.model_step_time_s.has_value());
                if (std::string(algorithm).find("sgd") != std::string::npos)
                    CHECK(*m.step_time_s <= *m.model_step_time_s * (1 + 1e-9));
                else
                    CHECK(*m.step_time_s == Approx(*m.model_step_time_s).epsilon(1e-9));
            }
}

TEST_CASE("adaptive family: the volume of a whole run is w + (1 - w) / 16 of an fp16 wire's") {
    const Metrics dense = timing_of(R"({"kind": "lamb", "wire": "fp16"})", 4, 40);
    const Metrics half =
        timing_of(R"({"kind": "one-bit-lamb", "wire": "fp16", "freeze_step": 10})", 4, 40);
    const Metrics whole = timing_of(R"({"kind": "one-bit-lamb", "freeze_step": 10})", 4, 40);
    const double w = 0.25;

    const double bytes = *dense.bytes_sent_per_node_per_step;
    CHECK(*half.bytes_sent_per_node_per_step / bytes == Approx(w + (1 - w) / 16).epsilon(1e-3));
    CHECK(*whole.bytes_sent_per_node_per_step / (2 * bytes) ==
          Approx(w + (1 - w) / 32).epsilon(1e-3));
}

TEST_CASE("adaptive family: the compression ratio is that of the steps taken, warm-up included") {
    const auto ratio = [](const char* algorithm, int steps) {
        return *timing_of(algorithm, 4, steps).compression_ratio;
    };
    CHECK(ratio(R"({"kind": "adam"})", 1) == 1);
    CHECK(ratio(R"({"kind": "adam", "wire": "fp16"})", 1) == 2);
    for (const char* kind : {"one-bit-adam", "one-bit-lamb", "zero-one-adam"})
        CHECK(ratio(fmt::format(R"({{"kind": "{}"}})", kind).c_str(), 10) == 1);  // 1e5 dense steps
    // Dense bytes over dense bytes in the warm-up, and over those of one bit per entry later.
    for (const int warm : {1, 4, 10})
        CHECK(ratio(fmt::format(R"({{"kind": "one-bit-lamb", "freeze_step": {}}})", warm).c_str(),
                    40) == Approx(40 / (warm + (40 - warm) / 32.0)).epsilon(2e-3));
}

TEST_CASE("adaptive family: a compression ratio is a number, however little a step sends") {
    const SmallStudy of_one_entry(2, 64);  // five bytes in sixteen steps count as one byte a step
    const std::string local_from_the_start =
        R"(algorithm={"kind": "zero-one-adam", "var_freeze_step": 0, "local_step_scaler": 1})";

    const double ratio = *of_one_entry.run({local_from_the_start}).compression_ratio;

    CHECK(std::isfinite(ratio));
    CHECK(ratio > 1);
    CHECK(ratio <= 4);
}

TEST_CASE("adaptive family: weight decay is its own, and its optimizer may be, too") {
    const auto loss = [&](const std::string& algorithm, const std::string& decay) {
        return study.run({"algorithm=" + algorithm, "optimizer.weight_decay=" + decay})
            .train_loss.value();
    };
    for (const char* algorithm : {R"({"kind": "adam"})", R"({"kind": "lamb"})",
                                  R"({"kind": "one-bit-adam", "freeze_step": 3})",
                                  R"({"kind": "one-bit-lamb", "freeze_step": 3})",
                                  R"({"kind": "zero-one-adam"})", R"({"kind": "one-bit-sgd"})"}) {
        CAPTURE(algorithm);
        CHECK(study.run({std::string("algorithm=") + algorithm}).outcome == "finished");
        CHECK(loss(algorithm, "0") != loss(algorithm, "0.5"));
    }
    CHECK(loss(R"({"kind": "adam", "optimizer": {"weight_decay": 0}})", "0.5") ==
          loss(R"({"kind": "adam"})", "0"));
}

}  // namespace
}  // namespace paceline::adaptive_algorithms_test

// The compressing methods as scenarios name them, in all modes, with the closed forms and bytes
// that are reported beside the simulated ones.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/app/studies/published_study.hpp"

namespace paceline::compressed_family_names_test {
namespace {

using doctest::Approx;

const PublishedStudy study;  // the sizes of its messages are computed by hand below

std::string compressed(const std::string& compressor, const std::string& more = "") {
    return R"(algorithm={"kind": "compressed-sgd", "compressor": )" + compressor + more + "}";
}

struct Named {
    std::string algorithm;
    double sent;  // bytes that each of four workers sends in a step; messages of 100050 entries
};

std::vector<Named> all_named() {
    return {
        {compressed(R"({"kind": "top-k", "density": 0.01})"), 3.0 * 8 * (1000 + 1)},
        {compressed(R"({"kind": "random-k", "density": 0.02})"), 1.5 * 4 * (2000 + 1)},
        {compressed(R"({"kind": "random-block"})", R"(, "exchange": "recursive-doubling")"),
         2.0 * 4 * (1000 + 1)},
        {compressed(R"({"kind": "qsgd"})"), 3.0 * (100050 + 4 * (196 + 1))},
        {compressed(R"({"kind": "qsgd", "levels": 7, "bucket": 1000})",
                    R"(, "exchange": "all-gather-bruck")"),
         3.0 * (50025 + 4 * 101)},
        {compressed(R"({"kind": "terngrad"})"), 3.0 * 25021},  // 200164 bits
        {compressed(R"({"kind": "sign"})", R"(, "error_feedback": false)"), 3.0 * 12507},
        {compressed(R"({"kind": "scaled-sign"})"), 3.0 * 12515},
        {compressed(R"({"kind": "natural"})"), 3.0 * 112557},  // 900450 bits
        {compressed(R"({"kind": "fp16"})"), 1.5 * 2 * 100050},
        {R"(algorithm={"kind": "sign-sgd"})", 3.0 * 12507},
        {R"(algorithm={"kind": "ef-sign-sgd", "exchange": "all-gather-bruck"})", 3.0 * 12515},
        {R"(algorithm={"kind": "power-sgd", "rank": 4})", 1.5 * 4 * (4 * (200 + 500) + 50)},
        // two neighbors; the first of six steps sends no message
        {R"(algorithm={"kind": "choco-sgd", "mixing": {"kind": "ring"},
            "compressor": {"kind": "scaled-sign"}})",
         5.0 / 6 * 2 * 12515},
    };
}

TEST_CASE("compressed family: by name, bytes are those counted by hand, in stand-ins and without") {
    for (const auto& [algorithm, sent] : all_named()) {
        CAPTURE(algorithm);
        const Metrics trained = study.stand_in({algorithm});
        const Metrics timed = study.timing_only({algorithm});

        CHECK(trained.bytes_sent_per_node_per_step.value() == Approx(sent));
        CHECK(timed.bytes_sent_per_node_per_step == trained.bytes_sent_per_node_per_step);
        CHECK(timed.step_time_s == trained.step_time_s);
    }
}

TEST_CASE("compressed family: by name, simulated steps are what the closed form says") {
    for (const auto& [algorithm, sent] : all_named()) {
        CAPTURE(algorithm);
        const Metrics small = study.run({algorithm});
        const Metrics timed = study.timing_only({algorithm});

        for (const Metrics& m : {small, timed})
            CHECK(m.step_time_s.value() == Approx(m.model_step_time_s.value()).epsilon(1e-4));
    }
}

TEST_CASE("compressed family: by name, they train") {
    for (const auto& [algorithm, sent] : all_named()) {
        CAPTURE(algorithm);
        // A vote moves every entry by the learning rate, however small its gradient is; entries
        // that wait for a random draw lag behind.
        const bool by_signs = algorithm.find(R"("sign)") != std::string::npos;
        const bool at_random = algorithm.find("random") != std::string::npos;
        const std::string rate = by_signs ? "0.0005" : (at_random ? "0.005" : "0.02");
        const std::vector<std::string> more{algorithm, "stop.iterations=600",
                                            "optimizer.learning_rate=" + rate,
                                            "measure.every=300 iterations"};
        const Metrics m = study.run(more);

        CHECK(m.outcome == "finished");
        CHECK(m.train_loss.value() < 0.9 * std::log(10.0));
    }
}

TEST_CASE("compressed family: the compression ratio counts a message") {
    const Metrics m = study.timing_only({compressed(R"({"kind": "fp16"})")});

    CHECK(m.compression_ratio.value() == Approx(2));
}

TEST_CASE("compressed family: error feedback is on for biased compressors, and off for others") {
    for (const auto& [compressor, feedback] : std::vector<std::pair<std::string, std::string>>{
             {R"({"kind": "top-k"})", "true"},
             {R"({"kind": "random-k"})", "true"},
             {R"({"kind": "random-k", "unbiased": true})", "false"},
             {R"({"kind": "qsgd"})", "false"},
             {R"({"kind": "scaled-sign"})", "true"}}) {
        CAPTURE(compressor);
        const auto loss = [&](const std::string& more) {
            return study.run({compressed(compressor, more)}).train_loss;
        };
        const std::string other = feedback == "true" ? "false" : "true";

        CHECK(loss("") == loss(R"(, "error_feedback": )" + feedback));
        CHECK(loss("") != loss(R"(, "error_feedback": )" + other));
    }
}

}  // namespace
}  // namespace paceline::compressed_family_names_test

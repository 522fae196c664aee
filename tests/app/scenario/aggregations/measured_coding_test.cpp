#include "app/scenario/aggregations/measured_coding.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/json/config_error.hpp"
#include "app/run/run_point.hpp"
#include "tests/app/study/small_study.hpp"

namespace paceline::measured_coding_test {
namespace {

using doctest::Approx;

// AlexNet: 8 matrices and 8 vectors of 60,965,224 entries.
constexpr double entries = 60'965'224;
constexpr double in_matrices = 60'965'224 - 10'568;
const std::string net = R"(workload={"profile": "alexnet", "step_time": "100ms"})";
const std::string measured =
    R"("coding": {"encode": {"per_tensor": "3ms", "per_entry": "50ps"},
                  "decode": {"per_tensor": "1ms", "per_entry": "20ps"}})";
const std::string uncoded = R"("coding": {})";

Metrics run(int nodes, const std::string& codec, const std::string& coding,
            const std::string& rest = "") {
    const SmallStudy study(nodes, 2);
    return study.run({net, fmt::format(R"(algorithm={{"kind": "sgd", "codec": {{{}, {}}} {}}})",
                                       codec, coding, rest)});
}

double coding_of(int nodes, const std::string& codec, const std::string& rest = "") {
    const Metrics coded = run(nodes, codec, measured, rest);
    CHECK(coded.step_time_s.value() == Approx(coded.model_step_time_s.value()).epsilon(1e-9));
    return coded.step_time_s.value() - run(nodes, codec, uncoded, rest).step_time_s.value();
}

TEST_CASE(
    "measured coding: a gathered message costs encoding once, and decoding for each message") {
    for (const int n : {2, 3, 5})
        for (const char* codec : {R"("kind": "sign")", R"("kind": "terngrad")", R"("kind": "qsgd")",
                                  R"("kind": "8-bit", "error_feedback": true)"}) {
            CAPTURE(codec);
            CHECK(coding_of(n, codec) ==
                  Approx(16 * 3e-3 + entries * 50e-12 + n * (16 * 1e-3 + entries * 20e-12)));
        }
}

TEST_CASE("measured coding: a sparse message is decoded by the entries that it holds") {
    const double kept = 0.1;
    CHECK(coding_of(4, R"("kind": "top-k", "density": 0.1)") ==
          Approx(16 * 3e-3 + entries * 50e-12 + 4 * (16 * 1e-3 + kept * entries * 20e-12))
              .epsilon(1e-6));
    CHECK(coding_of(4, R"("kind": "random-k", "density": 0.1)") ==
          Approx(16 * 3e-3 + entries * 50e-12 + 16 * 1e-3 + kept * entries * 20e-12).epsilon(1e-6));
    // DGC selects from the matrices alone.
    CHECK(coding_of(4, R"("kind": "dgc", "density": 0.01)") ==
          Approx(8 * 3e-3 + in_matrices * 50e-12 + 4 * (8 * 1e-3 + 0.01 * in_matrices * 20e-12))
              .epsilon(1e-6));
}

TEST_CASE("measured coding: two factors are encoded once and decoded once") {
    CHECK(coding_of(4, R"("kind": "power-sgd", "rank": 1)") ==
          Approx(16 * (3e-3 + 1e-3) + entries * (50e-12 + 20e-12)));
}

TEST_CASE("measured coding: it counts tensors of pieces, also beside backward and by machine") {
    const std::string tensors = R"(, "schedule": {"pieces": "tensors", "begin": "in-phases"})";
    CHECK(coding_of(3, R"("kind": "sign")", tensors) ==
          Approx(16 * 3e-3 + entries * 50e-12 + 3 * (16 * 1e-3 + entries * 20e-12)));
    CHECK(coding_of(3, R"("kind": "sign")", R"(, "schedule": "tensors")") > 0);
}

TEST_CASE("measured coding: every known row is a codec with a time and a source") {
    CHECK(known_codings().size() >= 10);
    for (const KnownCoding& row : known_codings()) {
        CAPTURE(row.codec);
        CHECK(row.times.encode.per_entry > Duration::zero());
        CHECK_FALSE(row.source.empty());
        const std::string named = fmt::format(R"("coding": "{}")", row.device);
        const std::string codec = fmt::format(R"("kind": "{}")", row.codec);
        CHECK(run(3, codec, named).step_time_s.value() >
              run(3, codec, uncoded).step_time_s.value());
    }
}

TEST_CASE("measured coding: faults are told") {
    const auto refused = [](const std::string& codec, const std::string& coding,
                            const char* sentence) {
        CHECK_THROWS_WITH_AS(static_cast<void>(run(2, codec, coding)), doctest::Contains(sentence),
                             ConfigError);
    };
    refused(R"("kind": "sign", "coding_step": "1ps")", measured,
            "replaces the estimate by \"coding_step\"; give one of them");
    refused(R"("kind": "dgc", "selection": "exact")", measured,
            "replaces the estimate by \"selection\"; give one of them");
    refused(R"("kind": "sign")", R"("coding": "v100-tensorflw")",
            "did you mean \"v100-tensorflow\"?");
    refused(R"("kind": "fp16")", R"("coding": "v100-tensorflow")",
            "the coding of \"fp16\" was not measured on v100-tensorflow; measured there: top-k");
    refused(R"("kind": "sign")", R"("coding": {"encode": "3ms"})", "algorithm.codec.coding.encode");
}

}  // namespace
}  // namespace paceline::measured_coding_test

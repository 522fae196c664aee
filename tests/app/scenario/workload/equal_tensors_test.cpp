// A gradient of k equal tensors.
#include <numeric>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/json/config_error.hpp"
#include "app/run/run_point.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/study/small_study.hpp"

namespace paceline::equal_tensors_test {
namespace {

using doctest::Approx;

std::string gradient(int tensors) {
    return fmt::format(R"(workload={{"gradient": "4004B", "tensors": {}, "step_time": "1ms"}})",
                       tensors);
}

TEST_CASE("equal tensors: sizes differ by an entry at most and add up to the gradient") {
    const SmallStudy study(2, 1);
    for (const int k : {1, 2, 3, 10, 1000, 1001}) {
        CAPTURE(k);
        const Study read = read_study(study.file, {gradient(k)});
        const LayoutPtr held = read.points.front().scenario.workload.layout;
        const Layout& layout = *held;
        CHECK(layout.entries() == 1001);
        REQUIRE(layout.tensors().size() == static_cast<std::size_t>(k));
        for (const Tensor& tensor : layout.tensors()) {
            CHECK(tensor.compressible());
            CHECK(tensor.entries() >= 1001 / k);
            CHECK(tensor.entries() <= 1001 / k + 1);
        }
    }
}

TEST_CASE("equal tensors: one collective each, so each pays the latencies of its own") {
    const SmallStudy study(4, 2);
    const auto step = [&](int k) {
        return study
            .run(
                {fmt::format(
                     R"(workload={{"gradient": "12MB", "tensors": {}, "step_time": "1ms"}})", k),
                 R"(cluster.fabric.link.latency="1ms")",
                 R"(algorithm={"kind": "sgd", "schedule": {"pieces": "tensors", "begin": "after-backward"}})"})
            .step_time_s.value();
    };
    for (const int k : {2, 5, 10})
        CHECK(step(k) - step(1) == Approx((k - 1) * 6 * 2e-3).epsilon(1e-6));
}

TEST_CASE("equal tensors: faults are told") {
    const SmallStudy study(2, 1);
    CHECK_THROWS_WITH_AS(static_cast<void>(study.run({gradient(1002)})),
                         doctest::Contains("workload.tensors: a tensor has an entry or more"),
                         ConfigError);
    CHECK_THROWS_WITH_AS(
        static_cast<void>(
            study.run({R"(workload={"profile": "alexnet", "tensors": 3, "step_time": "1ms"})"})),
        doctest::Contains("workload.tensors: cuts a \"gradient\" of so many bytes"), ConfigError);
}

}  // namespace
}  // namespace paceline::equal_tensors_test

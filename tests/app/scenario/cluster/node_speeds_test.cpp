#include "app/scenario/cluster/node_speeds.hpp"

#include <cmath>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "app/run/run_point.hpp"
#include "app/scenario/study.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/app/study/small_study.hpp"

namespace paceline::app_node_speeds_test {
namespace {

using doctest::Approx;

struct Small : SmallStudy {
    Small() : SmallStudy(8, 100) {}
};

TEST_CASE("node speeds: a list states each node's, and an all-reduce has the slowest's pace") {
    const Small small;
    const Metrics m =
        small.run({R"(cluster.speeds={"kind": "list", "values": [1, 2, 4, 1, 0.5, 1, 1, 1]})"});

    CHECK(m.step_time_s.value() == Approx(2e-3).epsilon(1e-3));
    CHECK(m.compute_s.value() == Approx((5 * 1 + 0.5 + 0.25 + 2) * 1e-3 / 8));
    CHECK(m.waiting_stragglers_share.value() ==
          Approx(1 - (5 * 1 + 0.5 + 0.25 + 2) / (8 * 2)).epsilon(1e-3));
    CHECK_FALSE(m.model_step_time_s.has_value());
}

TEST_CASE("node speeds: objects of a list are multiplied") {
    const Small small;
    const Metrics m = small.run({R"(cluster.speeds=[
        {"kind": "list", "values": [1, 2, 4, 1, 0.5, 1, 1, 1]},
        {"kind": "list", "values": [1, 1, 1, 1, 2, 1, 1, 0.25]}])"});

    CHECK(m.compute_s.value() == Approx((5 * 1 + 0.5 + 0.25 + 4) * 1e-3 / 8));
}

TEST_CASE("node speeds: half of the nodes half as fast") {
    const Small small;
    const Metrics m =
        small.run({R"(cluster.speeds={"kind": "two-classes", "share": 0.5, "speed": 0.5})"});

    CHECK(m.compute_s.value() == Approx(1.5e-3));
    CHECK(m.step_time_s.value() == Approx(2e-3).epsilon(1e-3));
}

TEST_CASE("node speeds: drawn speeds are the same for every algorithm") {
    const Small small;
    for (const char* speeds : {R"(cluster.speeds={"kind": "log-normal", "sigma": 0.5})",
                               R"(cluster.speeds={"kind": "uniform", "low": 0.5, "high": 2})",
                               R"(cluster.compute_jitter={"kind": "pareto", "shape": 3})"}) {
        CAPTURE(speeds);
        const Metrics dense = small.run({speeds});
        const Metrics gossip = small.run({speeds, R"(algorithm={"kind": "ad-psgd"})"});

        CHECK(dense.compute_s.value() == Approx(gossip.compute_s.value()).epsilon(1e-12));
        CHECK(dense.step_time_s.value() > gossip.step_time_s.value());
        CHECK(small.run({speeds, "seed=2"}).sim_time_s != dense.sim_time_s);
    }
}

// Throughputs from models/profiles/resnet-50.json at batch 32: 298.51 images/s for a V100, the
// first row, and 45.52 for a K80.
TEST_CASE("node speeds: a device takes what was measured on it, and the speedup is of the other") {
    const Small small;
    const std::string v100 = R"(workload={"profile": "resnet-50", "device": "v100", "batch": 32})";
    const Metrics m =
        small.run({v100, R"(cluster.speeds={"kind": "device", "device": "k80", "nodes": [2, 5]})",
                   R"(algorithm={"kind": "swarm-sgd", "mixing": {"kind": "complete"}})"});

    CHECK(m.compute_s.value() == Approx((6 * 32 / 298.51 + 2 * 32 / 45.52) / 8).epsilon(1e-9));
    CHECK(m.speedup.value() == Approx(8 * 32 / 298.51 / m.step_time_s.value()).epsilon(1e-9));
}

// An estimated time is inversely proportional to the share of the peak; the peaks are 10.6 and 15.7
// Tflops.
TEST_CASE("node speeds: at shares of their peaks devices differ as their peaks do") {
    const Small small;
    const std::string p100 =
        R"(workload={"profile": "resnet-50", "device": "p100", "batch": 8, "efficiency": 0.4})";
    const auto compute_s = [&](const std::string& device, const std::string& share) {
        return small
            .run({p100, R"(cluster.speeds={"kind": "device", "device": ")" + device +
                            R"(", "nodes": [0, 1, 2, 3, 4, 5, 6, 7], "efficiency": )" + share +
                            "}"})
            .compute_s.value();
    };

    CHECK(compute_s("p100", "0.2") == Approx(2 * small.run({p100}).compute_s.value()));
    CHECK(compute_s("p100", "0.4") == Approx(small.run({p100}).compute_s.value()));
    CHECK(compute_s("v100", "0.4") == Approx(10.6 / 15.7 * compute_s("p100", "0.4")));
}

// resnet-50.json: images per second of an A100 (80 GB) are 938 in tf32 and 2470 in fp16, those of a
// V100 1200 in fp16.
TEST_CASE("node speeds: a device has the workload's precision, unless it states its own") {
    const Small small;
    const std::string v100 =
        R"(workload={"profile": "resnet-50", "device": "v100", "batch": 8, "precision": "fp16"})";
    const auto compute_s = [&](const std::string& precision) {
        return small
            .run({v100, R"(cluster.speeds={"kind": "device", "device": "a100-80gb",
                           "nodes": [0, 1, 2, 3, 4, 5, 6, 7])" +
                            precision + "}"})
            .compute_s.value();
    };
    const double whole = small.run({v100}).compute_s.value();

    CHECK(compute_s("") == Approx(whole * 1200 / 2470).epsilon(1e-9));
    CHECK(compute_s(R"(, "precision": "tf32")") == Approx(whole * 1200 / 938).epsilon(1e-9));
    CHECK_THROWS_WITH_AS(
        static_cast<void>(small.run({v100, R"(cluster.speeds={"kind": "device", "device": "k80",
                                              "efficiency": 0.5, "nodes": [1]})"})),
        doctest::Contains("cluster.speeds.device: k80 has no peak in fp16; it has one in fp32"),
        ConfigError);
}

TEST_CASE("node speeds: backward in buckets is scaled as a whole") {
    const Small small;
    const Metrics m =
        small.run({R"(cluster.speeds={"kind": "list", "values": [2, 2, 2, 2, 2, 2, 2, 2]})",
                   R"(algorithm={"kind": "dense-overlapped"})"});

    CHECK(m.compute_s.value() == Approx(0.5e-3));
    CHECK(m.step_time_s.value() == Approx(0.5e-3).epsilon(1e-2));
}

// The longest of 8 factors 1 + E/2 has mean 1 + H_8 / 2 and variance (1 + 1/4 + .. + 1/64)/4.
TEST_CASE("compute jitter: an all-reduce waits for the longest of n gradients") {
    const Small small;
    constexpr int steps = 2000;
    const Metrics m = small.run({R"(cluster.compute_jitter={"kind": "exponential", "excess": 0.5})",
                                 "stop.iterations=2000"});
    double harmonic = 0;
    double variance = 0;
    for (int i = 1; i <= 8; ++i) {
        harmonic += 1.0 / i;
        variance += 0.25 / (i * i);
    }
    CHECK(std::abs(m.step_time_s.value() * 1e3 - (1 + harmonic / 2)) <
          5 * std::sqrt(variance / steps) + 1e-4);
    CHECK(m.compute_s.value() == Approx(1.5e-3).epsilon(5 * 0.5 / 1.5 / std::sqrt(8.0 * steps)));
}

TEST_CASE("stragglers: objects of a list are multiplied, and draw for themselves") {
    const Small small;
    const Metrics both = small.run({R"(cluster.stragglers=[{"factor": 2, "nodes": [0]},
                                                           {"factor": 3, "nodes": [0, 1]}])"});
    const Metrics twice = small.run({R"(cluster.stragglers=[{"factor": 2, "share": 0.5},
                                                            {"factor": 2, "share": 0.5}])"});

    CHECK(both.compute_s.value() == Approx((6 + 6 + 3) * 1e-3 / 8));
    // (1 + 1/2)^2 on average if the two are independent; 2.5 if they were the same draw.
    CHECK(twice.compute_s.value() == Approx(2.25e-3).epsilon(0.08));
}

TEST_CASE("stragglers: every tenth step, and five of every ten milliseconds") {
    const Small small;
    const Metrics steps =
        small.run({R"(cluster.stragglers={"factor": 4, "every": 10, "first": 3})"});
    const Metrics times =
        small.run({R"(cluster.stragglers={"factor": 4, "period": "10ms", "for": "5ms"})",
                   R"(algorithm={"kind": "swarm-sgd", "mixing": {"kind": "complete"}})"});

    CHECK(steps.compute_s.value() == Approx(1.3e-3));
    // Every 10 ms complete 5 + 5/4 ms of work: 100 ms of work take exactly 16 periods.
    CHECK(times.sim_time_s == Approx(160e-3).epsilon(1e-6));
}

}  // namespace
}  // namespace paceline::app_node_speeds_test

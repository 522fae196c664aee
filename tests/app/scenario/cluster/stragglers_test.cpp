#include "app/scenario/cluster/stragglers.hpp"

#include <cmath>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "app/run/run_point.hpp"
#include "app/scenario/study.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/app/study/small_study.hpp"

namespace paceline::stragglers_test {
namespace {

using doctest::Approx;

struct Small : SmallStudy {
    Small() : SmallStudy(16, 200) {}
};

TEST_CASE("stragglers: an all-reduce waits for the one slow node, and has no closed form then") {
    const Small small;
    const Metrics m = small.run({R"(cluster.stragglers={"factor": 4, "nodes": [5]})"});

    CHECK(m.step_time_s.value() == Approx(4e-3).epsilon(1e-3));
    CHECK(m.compute_s.value() == Approx((15 * 1e-3 + 4e-3) / 16));
    CHECK_FALSE(m.model_step_time_s.has_value());
    CHECK(m.speedup.value() == Approx(16 / 4.0).epsilon(1e-3));
}

TEST_CASE("stragglers: a factor of 1 slows nothing") {
    const Small small;

    CHECK(small.run({R"(cluster.stragglers={"factor": 1})"}).sim_time_s ==
          small.run({}).sim_time_s);
}

TEST_CASE("stragglers: backward in buckets is slowed as a whole") {
    const Small small;
    const Metrics m = small.run(
        {R"(cluster.stragglers={"factor": 2.5})", R"(algorithm={"kind": "dense-overlapped"})"});

    CHECK(m.compute_s.value() == Approx(2.5e-3));
    CHECK(m.step_time_s.value() == Approx(2.5e-3).epsilon(1e-3));
}

// All-reduce waits for the slowest of 16 gradients, which is slow with probability 1 - 0.98^16 =
// 0.276. Workers that wait for nobody take the mean, 1.06 ms, and slightly longer for their last
// gradient.
TEST_CASE("stragglers: random ones slow all-reduce down to the slowest, and gossip hardly") {
    const Small small;
    const std::string slow = R"(cluster.stragglers={"factor": 4, "share": 0.02})";
    const Metrics dense = small.run({slow, "stop.iterations=2000"});
    const Metrics swarm =
        small.run({slow, "stop.iterations=2000",
                   R"(algorithm={"kind": "swarm-sgd", "mixing": {"kind": "complete"}})"});

    CHECK(dense.step_time_s.value() ==
          Approx(1e-3 * (1 + 3 * (1 - std::pow(0.98, 16)))).epsilon(0.05));
    CHECK(swarm.step_time_s.value() < 1.12e-3);
    CHECK(swarm.compute_s.value() == Approx(1.06e-3).epsilon(0.01));
}

TEST_CASE("waiting: computing and the shares of waiting sum to 1, whatever the algorithm") {
    const Small small;
    for (const char* algorithm :
         {R"({"kind": "dense"})", R"({"kind": "dense-overlapped"})",
          R"({"kind": "dsgd", "mixing": {"kind": "ring"}})", R"({"kind": "ad-psgd"})",
          R"({"kind": "ps-async"})", R"({"kind": "fedavg", "fraction": 0.5, "local_steps": 4})",
          R"({"kind": "overlap-local-sgd"})", R"({"kind": "dgc"})"}) {
        CAPTURE(algorithm);
        const Metrics m = small.run({R"(cluster.stragglers={"factor": 4, "share": 0.1})",
                                     "algorithm=" + std::string(algorithm)});

        CHECK(*m.compute_s / *m.step_time_s + *m.waiting_stragglers_share +
                  *m.waiting_network_share + *m.waiting_dead_share ==
              Approx(1).epsilon(1e-9));
        CHECK(*m.waiting_dead_share == 0);
    }
}

TEST_CASE("waiting: without a step there are no shares, and a cut step counts as computing") {
    const Small small;
    const Metrics none = small.run({"stop={\"time\": \"0.5ms\"}"});
    const Metrics cut = small.run({"stop={\"time\": \"1.5ms\"}"});

    CHECK_FALSE(none.waiting_network_share.has_value());
    // Everything except the messages of one step: 30 messages of a byte or less at 10 Gbps.
    CHECK(cut.waiting_network_share.value() < 1e-3);
    CHECK(cut.waiting_stragglers_share.value() == Approx(0).scale(1).epsilon(1e-3));
}

}  // namespace
}  // namespace paceline::stragglers_test

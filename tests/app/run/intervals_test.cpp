// "interval" of "measure": what is asked of the simulator, held against closed forms, and what it
// leaves alone.
#include "app/run/intervals.hpp"

#include <cmath>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/json/json_file.hpp"
#include "app/run/results.hpp"
#include "app/run/run_point.hpp"
#include "app/scenario/study.hpp"
#include "tests/app/json/in_memory.hpp"

namespace paceline::intervals_test {
namespace {

using doctest::Approx;

// A ring of 2 nodes sends 100 MB each way in 0.8 s at 1 Gbps; the gradient takes 200 ms.
Metrics run(const std::string& changes) {
    Json json = Json::parse(R"({"cluster": {"nodes": 2, "fabric": {"kind": "star",
                                    "link": {"bandwidth": "1Gbps", "latency": "0s"}}},
                                "workload": {"gradient": "100MB", "gradient_time": "200ms",
                                             "batch": 1},
                                "algorithm": {"kind": "dense"}, "stop": {"iterations": 4},
                                "measure": {"interval": true}})");
    json.merge_patch(Json::parse(changes));
    return run_point(read_study({"s.json", json.dump(), in_memory({})}, {}).points[0].scenario,
                     nullptr);
}

double end(const Metrics& m, const std::string& name) {
    const auto value = column_value(name, m);
    REQUIRE(value);
    return *value;
}

TEST_CASE("intervals: hidden is what ends behind computing, by the closed form") {
    CHECK(run("{}").interval->hidden == Approx(0).epsilon(1e-9));
    // Overlapped in two phases, 100 MB of the last bucket stay: with all of it in one bucket, none
    // of it can begin before backward ends.
    const Metrics hidden = run(R"({"cluster": {"fabric": {"link": {"bandwidth": "40Gbps"}}},
                                   "workload": null, "algorithm": {"kind": "ddp"},
                                   "workload": {"profile": "vgg-16", "gradient_time": "2s",
                                                "gradient": null}})");
    // VGG-16 has 553 MB: 110 ms at 40 Gbps, of which the share that is not exposed is hidden.
    const double communication = 138'357'544.0 * 4 * 8 / 40e9;
    CHECK(hidden.interval->hidden ==
          Approx((communication - *hidden.exposed_comm_s) / *hidden.step_time_s).epsilon(0.01));
    CHECK(hidden.interval->hidden > 0.02);
}

TEST_CASE("intervals: unstated costs of TCP are those of the two changes, and none if stated") {
    const std::string tcp = R"({"cluster": {"transport": {"kind": "tcp", "goodput": 1,
        "duplex_share": 1, "first_window": "0B"}, "fabric": {"link": {"bandwidth": "10Gbps"}}}})";
    // 80 ms at 10 Gbps: two messages of 250 us, and 160 ms at 5 Gbps.
    const double expected = std::log(0.2805 / 0.28) + std::log(0.36 / 0.28);
    CHECK(run(tcp).interval->unstated == Approx(expected).epsilon(1e-6));
    Json stated = Json::parse(tcp);
    stated["cluster"]["transport"]["flow_rate"] = "9Gbps";
    stated["cluster"]["transport"]["message_cost"] = "1us";
    CHECK(run(stated.dump()).interval->unstated == 0);
    CHECK(run("{}").interval->unstated == 0);  // ideal links have no such costs
}

TEST_CASE("intervals: drawn constants spread the time as they spread the wire's") {
    const Metrics drawn = run(R"({"workload": {"gradient_time": "0s"}, "measure": {"draws": [
        {"cluster.fabric.link.bandwidth": "500Mbps"}, {"cluster.fabric.link.bandwidth": "2Gbps"}]}})");
    CHECK(drawn.interval->constants == Approx(std::log(2)).epsilon(1e-6));
    const Metrics alone = run(R"({"workload": {"gradient_time": "0s"}})");
    CHECK(drawn.interval->high > alone.interval->high);
}

TEST_CASE("intervals: ends of times and rates are the same ones, seen from two sides") {
    const Metrics m = run("{}");
    CHECK(end(m, "step_time_s_low") == Approx(*m.step_time_s * m.interval->low));
    CHECK(end(m, "step_time_s_high") == Approx(*m.step_time_s * m.interval->high));
    for (const char* rate : {"speedup", "efficiency", "samples_per_s"}) {
        const double product = end(m, "step_time_s") * end(m, rate);
        CHECK(end(m, std::string(rate) + "_low") * end(m, "step_time_s_high") == Approx(product));
        CHECK(end(m, std::string(rate) + "_high") * end(m, "step_time_s_low") == Approx(product));
    }
}

TEST_CASE("intervals: every other column is as without them, whatever the run") {
    const auto without = [](Json changes) {
        changes["measure"]["interval"] = false;
        return changes.dump();
    };
    for (const char* changes :
         {"{}", R"({"algorithm": {"kind": "local-sgd", "period": 3}})",
          R"({"stop": {"iterations": null, "time": "1.5s"}})",
          R"({"algorithm": {"kind": "ad-psgd"}, "cluster": {"nodes": 4}})",
          R"({"measure": {"skip": 2}})", R"({"cluster": {"nodes": 1}})",
          R"({"workload": {"gradient_time": "0s"}, "algorithm": {"kind": "collective",
              "operation": "all-reduce"}})"}) {
        CAPTURE(changes);
        const Metrics with = run(changes);
        const Metrics plain = run(without(Json::parse(changes)));
        CHECK(with.interval);
        CHECK_FALSE(plain.interval);
        for (const std::string_view name : column_names()) {
            CAPTURE(name);
            if (const auto value = column_value(name, plain))
                CHECK(value == column_value(name, with));
        }
    }
}

TEST_CASE("intervals: a run without a network has nothing to miss") {
    const Metrics alone = run(R"({"cluster": {"nodes": 1}})");
    CHECK(alone.interval->low == 1);
    CHECK(alone.interval->high == 1);
}

TEST_CASE("intervals: what nothing validated is like has the widest one") {
    const Metrics fails = run(R"({"cluster": {"fabric": {"kind": "dumbbell", "bottleneck":
        {"bandwidth": "1Gbps"}}, "nodes": 4}})");
    CHECK(fails.interval->high == interval_of(unlike_all, Constants::stated).high);
}

TEST_CASE("intervals: a draw that the scenario refuses is named with what it changes") {
    const auto read = [](const char* draws) {
        run(std::string(R"({"measure": {"draws": )") + draws + "}}");
    };
    CHECK_THROWS_WITH_AS(read(R"([{"algorithm.kind": "dgc"}])"),
                         doctest::Contains("is not in the cluster or the workload"), ConfigError);
    CHECK_THROWS_WITH_AS(read(R"([{}, {"cluster.fabric.link.bandwidth": "fast"}])"),
                         doctest::Contains("measure.draws[1]"), ConfigError);
    CHECK_THROWS_WITH_AS(read("[]"), doctest::Contains("is not a list of 1 to 100 objects"),
                         ConfigError);
}

}  // namespace
}  // namespace paceline::intervals_test

// Calibrations of clusters whose constants are known: the rows come from the simulator itself, with
// noise.
#include "app/questions/calibrate/calibrate.hpp"

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/questions/calibrate/testbed_json.hpp"
#include "app/run/run_point.hpp"
#include "tests/app/json/in_memory.hpp"

namespace paceline::calibrate_test {
namespace {

// Sanitizers see the code, and need not count what it gives.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr unsigned clusters = 4;
#else
constexpr unsigned clusters = 200;
#endif
#else
constexpr unsigned clusters = 200;
#endif

constexpr const char* two_machines = R"({
  "cluster": {"nodes": 2, "fabric": {"kind": "star",
              "link": {"bandwidth": "10Gbps", "latency": "25us", "efficiency": 0.9}}},
  "workload": {"gradient": "40MB", "gradient_time": "60ms"},
  "algorithm": {"kind": "dense"}, "stop": {"iterations": 1}})";

CalibrationQuestion about(std::vector<std::string> free, std::string rows) {
    CalibrationQuestion question;
    question.scenario = {"mine.json", two_machines, in_memory({})};
    question.free = std::move(free);
    question.measured = {{"rows.csv", std::move(rows)}};
    return question;
}

std::string refusal(const CalibrationQuestion& question) {
    try {
        (void)calibrate(question, &in_turn);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

// A measured step is compute plus a ring on two nodes: 2 (latency + half of the bytes / rate).
TEST_CASE("calibrate: two rows give bandwidth and gradient time in closed form") {
    const Calibration found = calibrate(
        about({"cluster.fabric.link.bandwidth=1Gbps..100Gbps", "workload.gradient_time=1ms..1s"},
              "workload.gradient,step_time_s\n40MB,132.1ms\n80MB,0.1641\n"),
        &in_turn);
    REQUIRE(found.constants.size() == 2);
    // 40 MB more are 2 latencies' rounds of 20 MB more each: 32 ms for 40 MB at 90 % of the line.
    CHECK(found.constants[0].value == doctest::Approx(320e6 / 0.032 / 0.9).epsilon(1e-4));
    CHECK(found.constants[1].value ==
          doctest::Approx((0.1321 - 0.032 - 100e-6) * 1e12).epsilon(1e-4));
    CHECK(found.noise_is_default);
    CHECK(found.rows[0].fitted == doctest::Approx(0.1321).epsilon(1e-5));
}

// A message takes the latency of two links and its bytes at 90 % of the bandwidth. The scenario's
// own computing is none of it.
TEST_CASE(
    "calibrate: a tool's messages give latency and bandwidth, a step beside them the gradient") {
    CalibrationQuestion question =
        about({"cluster.fabric.link.bandwidth=1Gbps..100Gbps",
               "cluster.fabric.link.latency=1us..1ms", "workload.gradient_time=1ms..1s"},
              "nodes,step_time_s\n1,0.25\n");
    question.measured.push_back(
        {"osu.txt",
         "# OSU MPI Latency Test v7.3\n# Size Latency (us)\n0 99\n8 62.5\n4000000 3262.5\n"});
    const Calibration found = calibrate(question, &in_turn);
    CHECK(found.constants[0].value == doctest::Approx(32e6 / 0.0032 / 0.9).epsilon(1e-3));
    CHECK(found.constants[1].value == doctest::Approx(31.25e6).epsilon(1e-3));
    CHECK(found.constants[2].value == doctest::Approx(0.25e12).epsilon(1e-4));
    for (const FittedRow& row : found.rows) CHECK(std::abs(row.error()) < 1e-4);
}

TEST_CASE("calibrate: bandwidth and efficiency multiply, and neither is told") {
    const Calibration found = calibrate(about({"cluster.fabric.link.bandwidth=1Gbps..100Gbps",
                                               "cluster.fabric.link.efficiency=0.2..1"},
                                              "nodes,step_time_s\n2,0.1\n4,0.12\n8,0.14\n"),
                                        &in_turn);
    CHECK(found.constants[1].low_is_open);
    CHECK(found.constants[1].high_is_open);
    CHECK(found.constants[0].high / found.constants[0].low > 3);
    REQUIRE(found.open.size() == 1);
    CHECK(found.open[0].shares.size() == 2);
    CHECK(found.open[0].shares[0].factor * found.open[0].shares[1].factor ==
          doctest::Approx(1).epsilon(0.01));
    CHECK_FALSE(found.open[0].next.has_value());
    CHECK(found.open[0].tried >= 8);
}

TEST_CASE(
    "calibrate: a latency that large messages hide is left open, and a small one would tell") {
    const Calibration found =
        calibrate(about({"cluster.fabric.link.bandwidth=1Gbps..100Gbps",
                         "cluster.fabric.link.latency=1us..1ms"},
                        "nodes,workload.gradient,step_time_s\n2,400MB,0.5\n4,400MB,0.65\n"),
                  &in_turn);
    REQUIRE(found.open.size() == 1);
    CHECK(found.open[0].shares.front().path == "cluster.fabric.link.latency");
    REQUIRE(found.open[0].next.has_value());
    CHECK(found.open[0].next->what == "a message of 8B to another machine");
}

TEST_CASE("calibrate: a row that nothing explains is named, and no other") {
    std::string rows = "workload.gradient,step_time_s\n";
    for (int mega = 10; mega <= 100; mega += 10)
        rows +=
            fmt::format("{}MB,{}\n", mega,
                        (0.06 + mega * 0.0009) * (mega == 50 ? 1.6 : 1 + 0.01 * (mega % 3 - 1)));
    const Calibration found = calibrate(
        about({"cluster.fabric.link.bandwidth=1Gbps..100Gbps", "workload.gradient_time=1ms..1s"},
              rows),
        &in_turn);
    for (const FittedRow& row : found.rows)
        CHECK(row.is_misfit == (row.name == "rows.csv, line 6"));
}

TEST_CASE("calibrate: what is wrong with a question is said at its place before anything runs") {
    const std::string range = "cluster.fabric.link.bandwidth=1Gbps..100Gbps";
    const std::string rows = "nodes,step_time_s\n2,0.1\n";
    CHECK(refusal(about({}, rows)).find("--free: does not name a constant") != std::string::npos);
    CHECK(refusal(about({"cluster.fabric.link.bandwith=1Gbps..2Gbps"}, rows))
              .find("did you mean \"bandwidth\"") != std::string::npos);
    CHECK(refusal(about({"stop.iterations=1..5"}, rows))
              .find("is not in the cluster or the workload") != std::string::npos);
    CHECK(refusal(about({range, range}, rows)).find("is already free with") != std::string::npos);
    CHECK(refusal(about({range}, "nodes,steptime\n2,0.1\n")).find("rows.csv: line 1, steptime") !=
          std::string::npos);
    CHECK(refusal(about({range}, "nodes,step_time_s\n2,-1\n"))
              .find("rows.csv: line 2, step_time_s: \"-1\" is not a number above 0") !=
          std::string::npos);
    CHECK(refusal(about({range}, "nodes,step_time_s\n2\n"))
              .find("line 2: has 1 fields, and the header has 2") != std::string::npos);
    CHECK(refusal(about({range}, "nodes\n2\n")).find("measures nothing") != std::string::npos);
    CHECK(refusal(about({range}, "nodes,step_time_s\n")).find("no rows") != std::string::npos);
    CHECK(refusal(about({range}, "cluster.fabric.link.bandwidth,step_time_s\n1Gbps,2\n"))
              .find("sets what --free") != std::string::npos);
    CHECK(refusal(about({"cluster.fabric.link.efficiency=0.5..2"}, rows))
              .find("rows.csv, line 2: cluster.fabric.link.efficiency: is invalid with") !=
          std::string::npos);
}

TEST_CASE(
    "calibrate: the testbed's cluster predicts the fitted rows, and what a scenario says goes "
    "before") {
    const Calibration found = calibrate(
        about({"cluster.fabric.link.bandwidth=1Gbps..100Gbps", "workload.gradient_time=1ms..1s"},
              "workload.gradient,step_time_s\n40MB,132.1ms\n80MB,0.1641\n"),
        &in_turn);
    const Sources sources =
        in_memory({{"mine.testbed.json", testbed_json(found, "test", "2026-01-01")}});
    const auto step = [&](const std::string& cluster, const std::string& gradient) {
        const std::string scenario = fmt::format(
            R"({{"cluster": {{"testbed": "mine.testbed.json"{}}}, "workload": {{"gradient": "{}"}},
                "algorithm": {{"kind": "dense"}}, "stop": {{"iterations": 1}}}})",
            cluster, gradient);
        const Point point = read_single_point({"other.json", scenario, sources}, {});
        return *run_point(point.scenario, nullptr).step_time_s;
    };
    CHECK(step("", "40MB") == found.rows[0].fitted);
    CHECK(step("", "80MB") == found.rows[1].fitted);
    CHECK(step(R"(, "nodes": 1)", "80MB") == doctest::Approx(found.constants[1].value * 1e-12));
    CHECK(step(R"(, "fabric": {"link": {"latency": "1ms"}})", "40MB") ==
          doctest::Approx(found.rows[0].fitted + 4 * (1e-3 - 25e-6)));
}

struct Drawn {
    double bandwidth;
    double latency;
    double gradient_time;
};

// Returns rows of a cluster with these constants, each off by 5 %: collectives, or steps where the
// gradient's time is to be found, too.
std::string noisy_rows(const Drawn& drawn, bool computes, std::mt19937_64& rng) {
    std::normal_distribution<double> noise(0, 0.05);
    std::string rows = fmt::format("nodes,workload.gradient,{}step_time_s\n",
                                   computes ? "" : "workload.gradient_time,");
    for (const int nodes : {1, 2, 4})
        for (const int bytes : {1'000, 1'000'000, 50'000'000}) {
            if (nodes == 1 && !computes) continue;
            const Point point = read_single_point(
                {"mine.json", two_machines, in_memory({})},
                {fmt::format("cluster.nodes={}", nodes),
                 fmt::format("workload.gradient={}B", bytes),
                 fmt::format("workload.gradient_time={}ns",
                             computes ? std::llround(drawn.gradient_time * 1e9) : 0),
                 fmt::format("cluster.fabric.link.bandwidth={}bps", std::llround(drawn.bandwidth)),
                 fmt::format("cluster.fabric.link.latency={}ps",
                             std::llround(drawn.latency * 1e12))});
            const double step = *run_point(point.scenario, nullptr).step_time_s;
            rows += fmt::format("{},{}B,{}{}\n", nodes, bytes, computes ? "" : "0s,",
                                step * std::exp(noise(rng)));
        }
    return rows;
}

TEST_CASE(
    "calibrate, property: 90 % intervals of drawn clusters hold their constants in 85 to 95 %") {
    std::size_t intervals = 0;
    std::size_t held = 0;
    for (unsigned seed = 1; seed <= clusters; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        std::uniform_real_distribution<double> draw(0, 1);
        const bool computes = seed % 2 == 1;
        const Drawn drawn{1e9 * std::pow(40, draw(rng)), 5e-6 * std::pow(40, draw(rng)),
                          1e-3 * std::pow(10, draw(rng))};
        std::vector<std::string> free{"cluster.fabric.link.bandwidth=100Mbps..400Gbps",
                                      "cluster.fabric.link.latency=500ns..2ms"};
        if (computes) free.emplace_back("workload.gradient_time=100us..100ms");
        const Calibration found =
            calibrate(about(free, noisy_rows(drawn, computes, rng)), &in_turn);
        const std::vector<double> truth{drawn.bandwidth, drawn.latency * 1e12,
                                        drawn.gradient_time * 1e12};
        for (std::size_t j = 0; j < found.constants.size(); ++j) {
            const FittedConstant& constant = found.constants[j];
            ++intervals;
            CHECK(constant.low <= constant.value);
            CHECK(constant.value <= constant.high);
            if ((constant.low_is_open || constant.low <= truth[j]) &&
                (constant.high_is_open || truth[j] <= constant.high))
                ++held;
        }
    }
    const double share = static_cast<double>(held) / static_cast<double>(intervals);
    MESSAGE(held, " of ", intervals);
    if (clusters < 200) return;  // too few to tell
    CHECK(share >= 0.85);
    CHECK(share <= 0.95);
}

}  // namespace
}  // namespace paceline::calibrate_test

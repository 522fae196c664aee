// Algorithm and bus bandwidth of `collective`, held against the definitions of nccl-tests
// (doc/PERFORMANCE.md): a collective that keeps every link busy has the link's rate as its bus
// bandwidth, whatever the number of workers.
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "analysis/measures/csv.hpp"
#include "app/questions/searched_points.hpp"
#include "app/run/results.hpp"
#include "tests/app/json/in_memory.hpp"

namespace paceline::bandwidths_test {
namespace {

Study study_of(const std::string& algorithm, int nodes, std::string_view latency = "0s",
               std::string_view step_time = "0s") {
    const std::string text = fmt::format(
        R"({{"cluster": {{"nodes": {}, "fabric": {{"kind": "star", "link": {{"bandwidth": "100Gbps", "latency": "{}",
                                                                      "efficiency": 0.9}}}}}},
             "workload": {{"gradient": "6720kB", "step_time": "{}"}},
             "algorithm": {}, "stop": {{"iterations": 1}}}})",
        nodes, latency, step_time, algorithm);
    return read_study({"b.json", text, in_memory({})}, {});
}

Metrics metrics_of(const Study& study) {
    return in_turn(study).results.front().metrics;
}

std::string collective(std::string_view operation, std::string_view rest = "") {
    return fmt::format(R"({{"kind": "collective", "operation": "{}"{}}})", operation, rest);
}

constexpr double link_gb_per_s = 100.0 / 8 * 0.9;

TEST_CASE("bandwidths: a ring's bus bandwidth is the link's rate, whatever the workers") {
    for (const char* operation : {"all-reduce", "reduce-scatter", "all-gather-ring", "all-to-all"})
        for (const int nodes : {2, 3, 4, 7, 8, 16}) {
            CAPTURE(operation);
            CAPTURE(nodes);
            const Metrics m = metrics_of(study_of(collective(operation), nodes));
            const double share = (nodes - 1.0) / nodes;
            const double factor = operation == std::string("all-reduce") ? 2 * share : share;

            CHECK(*m.busbw_gb_per_s == doctest::Approx(link_gb_per_s).epsilon(1e-7));
            CHECK(*m.algbw_gb_per_s == doctest::Approx(link_gb_per_s / factor).epsilon(1e-7));
        }
}

TEST_CASE("bandwidths: of a broadcast and a reduce, both are the same") {
    for (const char* operation : {"broadcast", "reduce"}) {
        const Metrics m = metrics_of(study_of(collective(operation), 2));
        CHECK(*m.busbw_gb_per_s == doctest::Approx(link_gb_per_s).epsilon(1e-7));
        CHECK(*m.algbw_gb_per_s == *m.busbw_gb_per_s);
        const Metrics of_many = metrics_of(study_of(collective(operation), 8));  // three rounds
        CHECK(*of_many.busbw_gb_per_s == doctest::Approx(link_gb_per_s / 3).epsilon(1e-7));
    }
}

// S / t with t = 2 (n - 1) (a + S / (n B)), a = 2 x 50 us.
TEST_CASE("bandwidths: latency counts, and computing before the collective does not") {
    const double size = 6.72e6;
    const double t = 2 * 7 * (100e-6 + size / 8 / (link_gb_per_s * 1e9));
    for (const char* computing : {"0s", "10ms", "1s"}) {
        const Metrics m = metrics_of(study_of(collective("all-reduce"), 8, "50us", computing));
        CHECK(*m.algbw_gb_per_s == doctest::Approx(size * 1e-9 / t).epsilon(1e-6));
        CHECK(*m.busbw_gb_per_s == doctest::Approx(size * 1e-9 / t * 14 / 8).epsilon(1e-6));
    }
}

TEST_CASE("bandwidths: the bytes are those on the wire") {
    const Metrics full = metrics_of(study_of(collective("all-reduce"), 4, "50us"));
    const Metrics half =
        metrics_of(study_of(collective("all-reduce", R"(, "wire": "fp16")"), 4, "50us"));
    const double full_s = 2 * 3 * (100e-6 + 6.72e6 / 4 / (link_gb_per_s * 1e9));
    const double half_s = 2 * 3 * (100e-6 + 3.36e6 / 4 / (link_gb_per_s * 1e9));

    CHECK(*full.algbw_gb_per_s == doctest::Approx(6.72e-3 / full_s).epsilon(1e-6));
    CHECK(*half.algbw_gb_per_s == doctest::Approx(3.36e-3 / half_s).epsilon(1e-6));
}

TEST_CASE("bandwidths: one worker has none, and neither has another algorithm") {
    CHECK_FALSE(metrics_of(study_of(collective("all-reduce"), 1)).algbw_gb_per_s);
    CHECK_FALSE(metrics_of(study_of(R"({"kind": "dense"})", 4)).busbw_gb_per_s);
}

TEST_CASE("bandwidths: tables have the columns only where a row has a value") {
    const auto header = [](const Study& study) {
        return csv_rows(results_csv(RanPoints(study, in_turn(study).results))).front();
    };
    const auto with = header(study_of(collective("all-reduce"), 4));
    const auto without = header(study_of(R"({"kind": "dense"})", 4));

    REQUIRE(with.size() == without.size() + 2);
    CHECK(std::vector<std::string>(with.begin(), with.end() - 2) == without);
    CHECK(with[with.size() - 2] == "algbw_gb_per_s");
    CHECK(with.back() == "busbw_gb_per_s");
}

}  // namespace
}  // namespace paceline::bandwidths_test

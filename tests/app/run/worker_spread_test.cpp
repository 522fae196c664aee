// Quantiles over workers of bytes and time, held against closed forms of clients with unlike links
// and devices, and against totals and shares of the same run.
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/json_file.hpp"
#include "app/run/results.hpp"
#include "app/run/run_point.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/json/in_memory.hpp"

namespace paceline::worker_spread_test {
namespace {

using doctest::Approx;

// Five clients and a server; every round is two steps of 10 ms, a model of 8 MB down and one up.
Metrics run(const std::string& changes) {
    Json json = Json::parse(R"({"cluster": {"nodes": 5, "fabric": {"kind": "star",
                                    "link": {"bandwidth": "1Gbps", "latency": "0s"}}},
                                "workload": {"gradient": "8MB", "step_time": "10ms"},
                                "algorithm": {"kind": "fedavg", "local_steps": 2},
                                "stop": {"iterations": 20}, "measure": {"spread": true}})");
    json.merge_patch(Json::parse(changes));
    return run_point(read_study({"s.json", json.dump(), in_memory({})}, {}).points[0].scenario,
                     nullptr);
}

// numpy.quantile([1, 2, 4, 8, 16], [0.1, 0.5, 0.9]) gives 1.4, 4 and 12.8.
TEST_CASE("worker spread: quantiles are those of numpy, in any order of the values") {
    std::vector<double> values{1, 2, 4, 8, 16};
    do {
        const Quantiles q = quantiles_of(values);
        CHECK(q.p10 == Approx(1.4).epsilon(1e-15));
        CHECK(q.p50 == 4);
        CHECK(q.p90 == Approx(12.8).epsilon(1e-15));
        CHECK(q.max == 16);
    } while (std::ranges::next_permutation(values).found);
    const Quantiles one = quantiles_of({3});
    CHECK(one.p10 == 3);
    CHECK(one.max == 3);
}

TEST_CASE("worker spread: every client of a full round sends and receives one model a round") {
    const Metrics m = run("{}");

    for (const Quantiles& q : {m.spread->sent_gb, m.spread->received_gb}) {
        CHECK(q.p10 == Approx(10 * 8e-3).epsilon(1e-12));
        CHECK(q.max == Approx(10 * 8e-3).epsilon(1e-12));
    }
    CHECK(m.spread->computing_s.p10 == Approx(0.2).epsilon(1e-12));
    CHECK(m.spread->computing_s.max == Approx(0.2).epsilon(1e-12));
}

// Links of their own that bind: client i needs 8 MB / b_i each way, and waits for nobody to do so.
TEST_CASE("worker spread: time in transfers is that of each client's own link") {
    const std::vector<double> mbps{10, 8, 4, 2, 1};
    Json links = Json::array();
    for (std::size_t i = 0; i < mbps.size(); ++i)
        links.push_back(
            {{"nodes", {i}},
             {"link", {{"bandwidth", fmt::format("{}Mbps", mbps[i])}, {"latency", "0s"}}}});
    const Metrics m = run(Json{{"cluster",
                                {{"fabric",
                                  {{"other_links", links},
                                   {"server_link", {{"bandwidth", "1Tbps"}, {"latency", "0s"}}}}}}}}
                              .dump());

    std::vector<double> transfers;
    for (const double rate : mbps) transfers.push_back(10 * 2 * 64 / rate);
    const Quantiles expected = quantiles_of(transfers);
    CHECK(m.spread->transfer_s.p10 == Approx(expected.p10).epsilon(1e-9));
    CHECK(m.spread->transfer_s.p50 == Approx(expected.p50).epsilon(1e-9));
    CHECK(m.spread->transfer_s.p90 == Approx(expected.p90).epsilon(1e-9));
    CHECK(m.spread->transfer_s.max == Approx(expected.max).epsilon(1e-9));
}

TEST_CASE("worker spread: of clients that are drawn, some send more often than others") {
    const Metrics m = run(R"({"algorithm": {"fraction": 0.2}})");

    CHECK(m.spread->sent_gb.p10 < m.spread->sent_gb.max);
    CHECK(m.spread->sent_gb.max <= *m.total_sent_gb);
    CHECK(m.spread->sent_gb.max >= *m.total_sent_gb / 5);
}

TEST_CASE("worker spread: columns are there where it is asked for, and change nothing else") {
    CHECK_FALSE(run(R"({"measure": null})").spread);
    const Metrics asked = run("{}");
    const Metrics unasked = run(R"({"measure": {"spread": false}})");
    for (const std::string_view column : column_names()) {
        CAPTURE(column);
        if (column.starts_with("worker_"))
            CHECK((column_value(column, asked) && !column_value(column, unasked)));
        else
            CHECK(column_value(column, asked) == column_value(column, unasked));
    }
    CHECK(column_value("worker_sent_gb_p90", asked) == asked.spread->sent_gb.p90);
    CHECK(column_value("worker_transfer_s_max", asked) == asked.spread->transfer_s.max);
}

}  // namespace
}  // namespace paceline::worker_spread_test

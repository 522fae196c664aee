// Rounds, and bytes of a client in a round, of methods that draw clients.
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/run/results.hpp"
#include "app/run/run_point.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline::client_bytes_test {
namespace {

using doctest::Approx;

// Returns the metrics of 20 steps of 8 nodes whose model has 8,000,000 bytes.
Metrics run(const std::string& algorithm, const std::string& stop = R"({"iterations": 20})") {
    const TemporaryFolder folder;
    const std::string file = folder.write(
        "scenario.json", fmt::format(R"({{"cluster": {{"nodes": 8, "fabric": {{"kind": "star",
                                     "link": {{"bandwidth": "1Gbps", "latency": "25us"}}}}}},
                        "workload": {{"gradient": "8MB", "step_time": "10ms"}},
                        "algorithm": {}, "stop": {}}})",
                                     algorithm, stop));
    return run_point(read_study(file, {}).points[0].scenario, nullptr);
}

// Each round of 5 steps asks 4 of the 8 nodes: a model down and one up for each of them.
TEST_CASE("client bytes: a client of FedAvg receives a model in a round and sends one") {
    const Metrics m = run(R"({"kind": "fedavg", "fraction": 0.5, "local_steps": 5})");

    CHECK(m.rounds == 4);
    CHECK(m.bytes_sent_per_client_per_round == 8e6);
    CHECK(m.bytes_received_per_client_per_round == 8e6);
    CHECK(m.total_sent_gb.value() == Approx(4 * 4 * 8e-3).epsilon(1e-12));
    CHECK(m.participation == 0.5);
}

TEST_CASE("client bytes: with a compressor a client sends less and receives as much") {
    const Metrics m = run(R"({"kind": "fedavg", "fraction": 0.25, "local_steps": 2,
                              "compressor": {"kind": "fp16"}})");

    CHECK(m.rounds == 10);
    CHECK(m.bytes_sent_per_client_per_round == 4e6);
    CHECK(m.bytes_received_per_client_per_round == 8e6);
}

// 6 of 8 nodes are asked for 4 models. Each receives one; those that come late send none or a part.
TEST_CASE("client bytes: clients that are asked for more models than a round needs count, too") {
    const Metrics m =
        run(R"({"kind": "fedavg", "fraction": 0.5, "local_steps": 5, "over_selection": 1.5})");

    CHECK(m.rounds == 4);
    CHECK(m.bytes_sent_per_client_per_round.value() * 4 * 6 ==
          Approx(m.total_sent_gb.value() * 1e9).epsilon(1e-12));
    CHECK(m.bytes_sent_per_client_per_round.value() >= 8e6 * 4 / 6);
    CHECK(m.bytes_sent_per_client_per_round.value() <= 8e6);
}

// A round takes 5 steps of 10 ms, a model down and one up.
TEST_CASE("client bytes: a round that a limit cuts counts neither its bytes nor itself") {
    int cut = 0;
    for (int ms = 100; ms <= 4000; ms += 97) {
        CAPTURE(ms);
        const Metrics m = run(R"({"kind": "fedavg", "fraction": 0.5, "local_steps": 5})",
                              fmt::format(R"({{"time": "{}ms"}})", ms));

        cut += m.total_received_gb.value() * 1e9 > m.rounds.value_or(0) * 4 * 8e6 ? 1 : 0;
        CHECK(m.bytes_sent_per_client_per_round.value_or(8e6) == 8e6);
        CHECK(m.bytes_received_per_client_per_round.value_or(8e6) == 8e6);
        CHECK(m.bytes_received_per_client_per_round.has_value() == m.rounds.has_value());
    }
    CHECK(cut > 5);
}

TEST_CASE("client bytes: methods that draw no clients have none") {
    const Metrics m = run(R"({"kind": "local-sgd", "period": 5})");

    CHECK_FALSE(column_value("rounds", m).has_value());
    CHECK_FALSE(column_value("bytes_sent_per_client_per_round", m).has_value());
    CHECK_FALSE(column_value("bytes_received_per_client_per_round", m).has_value());
}

}  // namespace
}  // namespace paceline::client_bytes_test

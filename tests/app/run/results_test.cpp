#include "app/run/results.hpp"

#include <doctest/doctest.h>

namespace paceline::results_test {
namespace {

constexpr std::string_view columns =
    "algorithm,nodes,outcome,devices,iterations,epochs,sim_time_s,step_time_s,compute_s,exposed_"
    "comm_s,"
    "model_step_time_s,bytes_sent_per_node_per_step,bytes_received_per_node_per_step,"
    "compression_ratio,samples_per_s,epoch_time_s,speedup,efficiency,train_loss,test_loss,test_"
    "accuracy,"
    "test_accuracy_local_mean,test_accuracy_local_min,consensus_distance,time_to_target_s,"
    "speedup_to_target,relative_error,density,union_density,decode_failures,"
    "waiting_stragglers_share,waiting_network_share,waiting_dead_share,staleness,participation,"
    "rounds,bytes_sent_per_client_per_round,bytes_received_per_client_per_round,deaths,away_share,"
    "checkpoint_share,undone_share,"
    "total_sent_gb,total_received_gb,cost,sent_gb_to_target,memory_gb\n";

Point point(std::vector<std::size_t> choice, const std::string& algorithm, std::size_t number = 0) {
    Point made{std::move(choice), "{}", {}, number};
    made.scenario.algorithm.label = algorithm;
    return made;
}

PointResult finished(int nodes, double speedup) {
    PointResult result;
    result.metrics.nodes = nodes;
    result.metrics.devices = nodes;
    result.metrics.outcome = "finished";
    result.metrics.iterations = 3;
    result.metrics.sim_time_s = 1.5;
    result.metrics.step_time_s = 0.5;
    result.metrics.compute_s = 0.2;
    result.metrics.exposed_comm_s = 0.3;
    result.metrics.model_step_time_s = 0.55;
    result.metrics.bytes_sent_per_node_per_step = 1000;
    result.metrics.bytes_received_per_node_per_step = 1001;
    result.metrics.compression_ratio = 597.5;
    result.metrics.speedup = speedup;
    result.metrics.efficiency = speedup / nodes;
    return result;
}

std::string line_of(const std::string& text, int number) {
    std::size_t begin = 0;
    for (int i = 0; i < number; ++i) begin = text.find('\n', begin) + 1;
    return text.substr(begin, text.find('\n', begin) - begin);
}

TEST_CASE("results: without a sweep the header is the point and the columns of the manual") {
    const Study study{"file.json", "", {}, {}};

    CHECK(results_csv({study, {}}) == "point," + std::string(columns));
}

TEST_CASE("results: every axis has a column by its path, unless a column already shows it") {
    const Study study{"file.json",
                      "",
                      {{"seed", {"1"}},
                       {"algorithm", {"dense"}},
                       {"cluster.fabric.link.bandwidth", {"1Gbps"}},
                       {"cluster.nodes", {"8"}}},
                      {}};

    CHECK(results_csv({study, {}}) ==
          "point,seed,cluster.fabric.link.bandwidth," + std::string(columns));
}

TEST_CASE("results: a row has a field for every column, empty where nothing applies") {
    const Study study{
        "file.json", "", {{"seed", {"1", "2"}}}, {point({0}, "dense"), point({1}, "dgc", 1)}};

    const std::string csv = results_csv({study, {finished(2, 2), finished(4, 3)}});

    CHECK(line_of(csv, 1) ==
          "0,1,dense,2,finished,2,3,,1.5,0.5,0.2,0.3,0.55,1000,1001,597.5,,,2,1"
          ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,");
    CHECK(line_of(csv, 2) ==
          "1,2,dgc,4,finished,4,3,,1.5,0.5,0.2,0.3,0.55,1000,1001,597.5,,,3,0.75"
          ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,");
    CHECK(line_of(csv, 3).empty());
}

TEST_CASE("results: epochs and samples are shown where they are known") {
    PointResult result = finished(1, 1);
    result.metrics.epochs = 0.5;
    result.metrics.samples_per_s = 192;
    result.metrics.epoch_time_s = 40;
    const Study study{"file.json", "", {}, {point({}, "dense")}};

    CHECK(line_of(results_csv({study, {result}}), 1) ==
          "0,dense,1,finished,1,3,0.5,1.5,0.5,0.2,0.3,0.55,1000,1001,597.5,192,40,1,1,,,,,,,,,,,,,,"
          ",,,,,"
          ",,,,,,,,,,");
}

TEST_CASE("results: names with commas, quotes or line ends are quoted as RFC 4180 says") {
    const Study study{"file.json",
                      "",
                      {{"cluster.fabric.link", {"1 Gbps, 50 us", "said \"fast\"", "two\nlines"}}},
                      {point({0}, "plain"), point({1}, "a, b", 1), point({2}, "say \"a\"", 2)}};

    const std::string csv = results_csv({study, {finished(1, 1), finished(1, 1), finished(1, 1)}});

    CHECK(csv.find("\n0,\"1 Gbps, 50 us\",plain,1,finished,") != std::string::npos);
    CHECK(csv.find("\n1,\"said \"\"fast\"\"\",\"a, b\",1,finished,") != std::string::npos);
    CHECK(csv.find("\n2,\"two\nlines\",\"say \"\"a\"\"\",1,finished,") != std::string::npos);
}

TEST_CASE("results: a run that ended before its first step leaves its figures empty") {
    PointResult result;
    result.metrics.nodes = 8;
    result.metrics.outcome = "time-limit";
    result.metrics.sim_time_s = 0.1;
    const Study study{"file.json", "", {}, {point({}, "dense")}};

    CHECK(line_of(results_csv({study, {result}}), 1) ==
          "0,dense,8,time-limit,0,0,,0.1,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,");
}

}  // namespace
}  // namespace paceline::results_test

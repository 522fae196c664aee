#include "tests/app/questions/diagnose/drawn_cases.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/questions/calibrate/measured_points.hpp"
#include "app/run/results.hpp"
#include "app/run/run_point.hpp"
#include "app/scenario/study.hpp"
#include "tests/app/json/in_memory.hpp"

namespace paceline::diagnose_test {

namespace {

class Draws {
  public:
    explicit Draws(std::mt19937_64& rng) : rng_(rng) {}
    double log_uniform(double from, double to) {
        return from * std::pow(to / from, std::uniform_real_distribution<double>(0, 1)(rng_));
    }
    template <class T>
    T one_of(std::initializer_list<T> values) {
        return values
            .begin()[std::uniform_int_distribution<std::size_t>(0, values.size() - 1)(rng_)];
    }

  private:
    std::mt19937_64& rng_;
};

std::string gbps(double rate) {
    return fmt::format("{}bps", std::llround(rate * 1e9));
}

std::string micros(double time) {
    return fmt::format("{}ns", std::llround(time * 1e3));
}

// What a healthy cluster and job may be. Causes ask for what they need.
Json drawn_scenario(const std::string& cause, Draws& draw) {
    const int devices = cause == "no-peer-to-peer" || cause == "one-card"
                            ? draw.one_of({2, 4})
                            : draw.one_of({1, 1, 2, 4});
    Json cluster{{"nodes", draw.one_of({2, 2, 2, 3, 4})}, {"devices_per_node", devices}};
    if (devices > 1)
        cluster["bus"] = {
            {"kind", "switched"},
            {"link",
             {{"bandwidth", draw.one_of({"100Gbps", "400Gbps", "1000Gbps"})}, {"latency", "3us"}}}};
    cluster["fabric"] = {{"kind", "star"},
                         {"link",
                          {{"bandwidth", draw.one_of({"10Gbps", "25Gbps", "40Gbps", "100Gbps"})},
                           {"latency", draw.one_of({"2us", "10us", "25us"})}}}};
    cluster["library"] = {{"start_up", draw.one_of({"10us", "50us", "200us"})}};
    Json algorithm{{"kind", "sgd"}};
    const bool overlaps =
        cause == "no-overlap" || cause == "tensor-by-tensor" || draw.one_of({true, true, false});
    algorithm["schedule"] = overlaps ? Json{{"pieces", "25MiB"}, {"begin", "beside-backward"}}
                                     : Json{{"pieces", "whole"}};
    if (cause == "fp32" || draw.one_of({true, false, false})) algorithm["wire"] = "fp16";
    if (cause == "one-card") {
        cluster["nics"] = devices;
        algorithm["aggregation"] = {{"kind", "all-reduce"},
                                    {"plan", {{"kind", "ring"}, {"rings", "per-card"}}}};
    }
    Json workload{{"gradient", draw.one_of({"50MB", "100MB", "250MB", "400MB"})},
                  {"tensors", draw.one_of({20, 60})},
                  {"gradient_time", micros(draw.log_uniform(40e3, 600e3))},
                  {"batch", draw.one_of({32, 64, 256})}};
    return {{"cluster", cluster},
            {"workload", workload},
            {"algorithm", algorithm},
            {"stop", {{"iterations", 1}}}};
}

double number_in(const Json& text) {
    return std::stod(text.get<std::string>());
}

// Puts the cause into a scenario of all nodes, or of one, which is the slow one or not.
void put_cause(const std::string& cause, double size, bool alone, bool slow, Json& scenario) {
    Json& cluster = scenario["cluster"];
    Json& link = cluster["fabric"]["link"];
    if (cause == "bandwidth") link["bandwidth"] = gbps(number_in(link["bandwidth"]) * size);
    if (cause == "latency") link["latency"] = micros(size);
    if (cause == "connection")
        cluster["transport"] = {{"kind", "tcp"},
                                {"goodput", 1},
                                {"duplex_share", 1},
                                {"first_window", "0B"},
                                {"flow_rate", gbps(size)}};
    if (cause == "start-up") cluster["library"]["start_up"] = micros(size);
    if (cause == "staging") cluster["library"]["staging"] = gbps(size);
    if (cause == "no-overlap") scenario["algorithm"]["schedule"]["begin"] = "after-backward";
    if (cause == "tensor-by-tensor") scenario["algorithm"]["schedule"]["pieces"] = "tensors";
    if (cause == "fp32") scenario["algorithm"]["wire"] = "fp32";
    if (cause == "one-card") cluster["nics"] = 1;
    if (cause == "no-peer-to-peer") {
        cluster["bus"]["kind"] = "bridged";
        cluster["bus"]["link"]["bandwidth"] = gbps(size);
    }
    const int last = cluster["nodes"].get<int>() - 1;
    if (cause == "slow-node" && (!alone || slow))
        cluster["stragglers"] = {{"factor", size}, {"nodes", Json::array({last})}};
    if (cause == "smaller-batch" && !alone) {
        Json& workload = scenario["workload"];
        const double batch = workload["batch"].get<double>();
        const double less = std::max(1.0, std::round(batch * size));
        workload["batch"] = static_cast<std::int64_t>(less);
        workload["gradient_time"] =
            micros(number_in(workload["gradient_time"]) * 1e-3 * less / batch);
    }
}

double drawn_size(const std::string& cause, Draws& draw) {
    if (cause == "bandwidth") return draw.log_uniform(0.05, 0.6);
    if (cause == "latency") return draw.log_uniform(100, 10e3);       // us
    if (cause == "connection") return draw.log_uniform(2, 20);        // Gbps
    if (cause == "start-up") return draw.log_uniform(100, 30e3);      // us
    if (cause == "staging") return draw.log_uniform(20, 100);         // Gbps
    if (cause == "no-peer-to-peer") return draw.log_uniform(20, 80);  // Gbps
    if (cause == "slow-node") return draw.log_uniform(1.25, 3);
    if (cause == "smaller-batch") return draw.log_uniform(0.1, 0.7);
    return 0;
}

std::optional<double> column_of(const Json& scenario, const std::string& column) {
    const Point point = read_single_point({"drawn.json", scenario.dump(), in_memory({})}, {}, {});
    return column_value(column, run_point(point.scenario, nullptr));
}

// Returns whether samples take 20 % longer than believed.
bool is_noticed(const DrawnCase& drawn) {
    return *column_of(*drawn.believed, "samples_per_s") >
           1.2 * *column_of(*drawn.true_cluster, "samples_per_s");
}

double measured_column(const Json& scenario, const std::string& column, std::mt19937_64& rng) {
    std::normal_distribution<double> noise(0, 0.05);
    return column_of(scenario, column).value() * std::exp(noise(rng));
}

}  // namespace

const std::vector<std::string>& drawn_causes() {
    static const std::vector<std::string> causes{
        "bandwidth", "latency", "connection",       "start-up", "no-overlap",      "slow-node",
        "staging",   "fp32",    "tensor-by-tensor", "one-card", "no-peer-to-peer", "smaller-batch"};
    return causes;
}

DrawnCase drawn_case(const std::string& cause, std::mt19937_64& rng) {
    Draws draw(rng);
    while (true) {
        const Json believed = drawn_scenario(cause, draw);
        const double size = drawn_size(cause, draw);
        const auto with_cause = [&](bool alone, bool slow) {
            Json scenario = believed;
            if (alone) scenario["cluster"]["nodes"] = 1;
            put_cause(cause, size, alone, slow, scenario);
            return std::make_shared<const Json>(std::move(scenario));
        };
        DrawnCase drawn{cause, std::make_shared<const Json>(believed), with_cause(false, true),
                        with_cause(true, false), with_cause(true, true)};
        if (is_noticed(drawn)) return drawn;
    }
}

std::string measured_as_asked(const DrawnCase& drawn, const std::string& asked,
                              std::mt19937_64& rng) {
    if (asked == "step")
        return fmt::format("step={}", measured_column(*drawn.true_cluster, "step_time_s", rng));
    if (asked == "throughput")
        return fmt::format("throughput={}",
                           measured_column(*drawn.true_cluster, "samples_per_s", rng));
    if (asked == "devices=1:step") {
        Json one = *drawn.alone;
        one["cluster"]["devices_per_node"] = 1;
        for (const char* key : {"bus", "nics"}) one["cluster"].erase(key);
        return fmt::format("{}={}", asked, measured_column(one, "step_time_s", rng));
    }
    const std::size_t equals = asked.find('=');
    const std::size_t nodes_at = asked.find("nodes=") + 6;
    const int nodes = std::stoi(asked.substr(nodes_at));
    Json scenario;
    if (asked.find("which=slowest") != std::string::npos)
        scenario = *drawn.slowest_alone;
    else if (nodes_at == 6 && nodes == 1)
        scenario = *drawn.alone;
    else if (nodes_at == 6) {
        scenario = *drawn.true_cluster;
        scenario["cluster"]["nodes"] = nodes;
        if (scenario["cluster"].contains("stragglers"))
            scenario["cluster"]["stragglers"]["nodes"] = Json::array({nodes - 1});
    } else {
        const std::string size = asked.substr(equals + 1, asked.find(':') - equals - 1);
        Json base = *drawn.true_cluster;
        base["cluster"].erase("stragglers");
        const std::string operation = asked.substr(0, equals);
        const Json staging = base["cluster"]["library"].value("staging", Json());
        base["cluster"]["library"].erase("staging");
        scenario = collective_scenario(
            base, {"", operation, parse_bytes(size).count, std::nullopt, nodes, 1});
        if (operation == "all-reduce") {
            scenario["algorithm"] = base["algorithm"];
            scenario["algorithm"].erase("wire");
            scenario["algorithm"]["schedule"] = "whole";
            if (!staging.is_null()) scenario["cluster"]["library"]["staging"] = staging;
        }
    }
    return fmt::format("{}={}", asked, measured_column(scenario, "step_time_s", rng));
}

}  // namespace paceline::diagnose_test

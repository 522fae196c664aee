#include "tests/fuzz/failing_scenario.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/scenario/algorithms/algorithms.hpp"
#include "sim/engine/random.hpp"
#include "tests/fuzz/dice.hpp"
#include "tests/fuzz/random_scenario.hpp"

namespace paceline {

namespace {

using Names = std::vector<std::string>;

// Methods that exchange without rounds of all, or beside their steps.
const std::vector<std::string_view> asynchronous{
    "ps-async", "ps-stale",          "fedavg",    "ad-psgd",  "swarm-sgd",         "sgp",  "osgp",
    "ad-psgd",  "swarm-sgd",         "ps-async",  "osgp",     "overlap-local-sgd", "dsgd", "slowmo",
    "easgd",    "gradient-tracking", "cocod-sgd", "scaffold", "momentum-consensus"};

class FailingScenario {
  public:
    FailingScenario(std::uint64_t seed, Emphasis emphasis)
        : seed_(seed),
          of_network_(emphasis == Emphasis::network),
          dice_(RandomStreams(seed).stream("failing scenario")),
          machines_(RandomStreams(seed).stream("failing machines")) {}

    Json make();

  private:
    // --- units ---

    std::string steps(double number) {
        return fmt::format("{}us", static_cast<int>(number * step_us_));
    }
    std::string some_steps(double least, double most) { return steps(dice_.real(least, most)); }

    // --- parts ---

    void choose_algorithm();
    void choose_machines(Json& cluster);
    [[nodiscard]] const char* key_of_time() const {
        return per_node_ > 1 ? "gradient_time" : "step_time";
    }
    Json subset();
    Json fabric();
    [[nodiscard]] Json algorithm(std::string_view kind, int nodes, bool trains) const;
    Json transport();
    void add_speeds(Json& cluster);
    Json access();
    Json background();
    Json other_job();
    Json failures();
    Json schedule();
    void add_burst(Json& schedule);
    void add_absence(Json& schedule, int node, int at_us);
    void choose_reaction(Json& failures);
    void add_workload(Json& scenario);

    std::uint64_t seed_;
    bool of_network_;
    Dice dice_;
    Dice machines_;  // so that what else is drawn does not depend on them
    std::string fabric_ = "star";
    int nodes_ = 2;
    int per_node_ = 1;
    int step_us_ = 1000;
    int steps_ = 100;  // that the run takes if nothing disturbs it
    bool trains_ = false;
    std::string_view kind_;
    WhenNodesDie then_ = WhenNodesDie::cannot_go_on;
    bool may_lose_nodes_ = false;
    std::vector<int> back_us_;  // [node]: when it is back from its last absence; -1: never
};

void FailingScenario::choose_algorithm() {
    Names all;
    for (const AlgorithmEntry& entry : algorithm_table()) all.emplace_back(entry.name);
    kind_ = dice_.pick(asynchronous);
    const auto table = algorithm_table();
    if (dice_.chance(of_network_ ? 0.9 : 0.35)) kind_ = table[dice_.below(table.size())].name;
    const AlgorithmTraits& traits = std::ranges::find(table, kind_, &AlgorithmEntry::name)->traits;
    then_ = traits.when_nodes_die;
    trains_ = traits.trains && dice_.chance(0.25);
}

// Machines of several devices, which some methods train as islands.
void FailingScenario::choose_machines(Json& cluster) {
    if (!machines_.chance(0.25)) return;
    per_node_ = machines_.whole(2, 3);
    cluster["devices_per_node"] = per_node_;
    cluster["bus"] = Json{{"kind", machines_.pick(Names{"switched", "direct"})},
                          {"link", Json{{"bandwidth", "10Gbps"}, {"latency", "1us"}}}};
}

Json FailingScenario::subset() {
    Json some = Json::array();
    for (int node = 0; node < nodes_; ++node)
        if (dice_.chance(0.5)) some.push_back(node);
    if (some.empty()) some.push_back(dice_.whole(0, nodes_ - 1));
    return some;
}

Json FailingScenario::fabric() {
    Json link{{"bandwidth", dice_.pick(Names{"100Mbps", "1Gbps", "1Gbps", "10Gbps"})},
              {"latency", dice_.pick(Names{"0s", "5us", "200us", "3ms"})}};
    if (link["latency"] != "0s" && dice_.chance(0.1)) link["loss"] = 1e-4;
    Json made{{"kind", "star"}, {"link", link}};
    if (of_network_) made = random_fabric(nodes_, seed_);
    fabric_ = made.at("kind");
    if (fabric_ == "star" && !made.contains("other_links") && dice_.chance(0.15))
        made["other_links"] = Json::array({Json{
            {"nodes", subset()}, {"link", Json{{"bandwidth", "50Mbps"}, {"latency", "1ms"}}}}});
    return made;
}

Json FailingScenario::transport() {
    Json made{{"kind", "tcp"}};
    if (dice_.chance(0.6)) made["message_cost"] = dice_.pick(Names{"1us", "100us", "2ms"});
    if (dice_.chance(0.3)) made["receive_cost"] = dice_.pick(Names{"1us", "100us", "2ms"});
    if (dice_.chance(0.4)) made["duplex_share"] = dice_.real(0.3, 1);
    if (dice_.chance(0.5)) made["first_window"] = dice_.pick(Names{"0B", "1460B", "14480B"});
    return made;
}

void FailingScenario::add_speeds(Json& cluster) {
    if (dice_.chance(0.35)) {
        Json values = Json::array();
        for (int node = 0; node < nodes_; ++node) values.push_back(dice_.real(0.3, 3));
        cluster["speeds"] = Json{{"kind", "list"}, {"values", values}};
    }
    if (dice_.chance(0.25))
        cluster["compute_jitter"] = Json{{"kind", "exponential"}, {"excess", 0.5}};
}

// A law of how links change, outages, or both.
Json FailingScenario::access() {
    Json made = Json::array();
    if (dice_.chance(0.5)) {
        Json law{{"kind", "on-off"},
                 {"on", some_steps(0.5, 20)},
                 {"off", some_steps(0.5, 6)},
                 {"law", dice_.chance(0.5) ? "fixed" : "exponential"}};
        if (dice_.chance(0.4)) law["bandwidth_off"] = "10Mbps";
        if (dice_.chance(0.3)) law["phase"] = "random";
        if (dice_.chance(0.2))
            law = Json{{"kind", "trace"}, {"file", "link.csv"}, {"period", "1s"}};
        if (dice_.chance(0.1)) law = Json{{"kind", "trace"}, {"file", "dead.csv"}};
        if (dice_.chance(0.6)) law["nodes"] = subset();
        made.push_back(law);
    }
    if (made.empty() || dice_.chance(0.4)) {
        Json outages{{"kind", "outages"},
                     {"mean_between", some_steps(3, 40)},
                     {"mean_length", some_steps(0.5, 6)}};
        if (dice_.chance(0.3)) {
            outages = Json{{"kind", "outages"}, {"schedule", Json::array()}};
            for (int i = 0; i < dice_.whole(1, 4); ++i)
                outages["schedule"].push_back(
                    Json{{"at", steps(20 * i + dice_.real(0, 8))}, {"for", some_steps(0.1, 10)}});
        }
        if (dice_.chance(0.5)) outages["transfers"] = dice_.chance(0.5) ? "restart" : "pause";
        if (dice_.chance(0.6)) outages["nodes"] = subset();
        made.push_back(outages);
    }
    return made;
}

Json FailingScenario::background() {
    Json made = Json::array();
    for (int i = dice_.whole(1, 2); i > 0; --i) {
        const int from = dice_.whole(0, nodes_ - 1);
        const int to = (from + dice_.whole(1, nodes_ - 1)) % nodes_;
        Json one{{"kind", "constant"},
                 {"from", from},
                 {"to", to},
                 {"rate", "200Mbps"},
                 {"message", "100kB"}};
        if (dice_.chance(0.6)) {
            one["kind"] = "on-off";
            one["on"] = some_steps(1, 10);
            one["off"] = some_steps(1, 10);
        }
        made.push_back(one);
    }
    return made;
}

Json FailingScenario::other_job() {
    const Json where = subset();
    const auto table = algorithm_table();
    const std::string_view kind =
        dice_.chance(0.5) ? dice_.pick(asynchronous) : table[dice_.below(table.size())].name;
    return Json{{"label", "beside"},
                {"nodes", where},
                {"workload", Json{{"gradient", dice_.pick(Names{"1kB", "100kB"})},
                                  {key_of_time(), some_steps(0.5, 3)},
                                  {"batch", 2},
                                  {"dataset_samples", 60}}},
                {"algorithm", algorithm(kind, static_cast<int>(where.size()), false)}};
}

Json FailingScenario::algorithm(std::string_view kind, int nodes, bool trains) const {
    return random_algorithm({.kind = kind,
                             .nodes = nodes,
                             .devices_per_node = per_node_,
                             .trains = trains,
                             .fabric = fabric_,
                             .emphasis = of_network_ ? Emphasis::network : Emphasis::everything},
                            seed_);
}

// --- failures ---

// Adds an absence, unless the node is away at that time or soon before; then often another one
// just after its return, while it gets a model or waits to join.
void FailingScenario::add_absence(Json& schedule, int node, int at_us) {
    int& back = back_us_[static_cast<std::size_t>(node)];
    if (back < 0 || at_us < back) return;
    Json one{{"node", node}, {"at", fmt::format("{}us", at_us)}};
    if (may_lose_nodes_ && at_us > 0 && dice_.chance(0.1)) {
        back = -1;
        schedule.push_back(one);
        return;
    }
    const std::vector<double> lengths{0.01, 0.3, 1, 3, 10, 30};
    const int length =
        std::max(1, static_cast<int>(dice_.pick(lengths) * dice_.real(0.5, 1.5) * step_us_));
    one["for"] = fmt::format("{}us", length);
    back = at_us + length;
    schedule.push_back(one);
    const std::vector<int> soon{0, 1, 30, step_us_ / 2};
    if (dice_.chance(0.3)) add_absence(schedule, node, back + dice_.pick(soon));
}

// Deaths of several nodes at the same time or nearly so.
void FailingScenario::add_burst(Json& schedule) {
    const int run_us = steps_ * step_us_;
    int at_us = dice_.whole(0, run_us);
    if (dice_.chance(0.15)) at_us = dice_.whole(0, 2 * step_us_);
    if (dice_.chance(0.2)) at_us = run_us - dice_.whole(0, 2 * step_us_);
    const std::vector<int> spreads{0, 1, 50, step_us_ / 2, 2 * step_us_};
    const int spread = dice_.pick(spreads);
    const double share = dice_.chance(0.2) ? 1 : dice_.real(0.1, 0.9);
    for (int node = 0; node < nodes_; ++node)
        if (dice_.chance(share)) add_absence(schedule, node, at_us + dice_.whole(0, spread));
}

Json FailingScenario::schedule() {
    back_us_.assign(static_cast<std::size_t>(nodes_), 0);
    may_lose_nodes_ = dice_.chance(0.3);
    Json made = Json::array();
    if (dice_.chance(0.2)) add_absence(made, dice_.whole(0, nodes_ - 1), 0);  // joins late
    for (int i = dice_.whole(1, of_network_ ? 5 : 20); i > 0; --i) add_burst(made);
    if (made.empty()) add_absence(made, 0, step_us_);
    return made;
}

void FailingScenario::choose_reaction(Json& failures) {
    Names reactions{"restart"};
    const bool has_rounds =
        then_ == WhenNodesDie::reruns_replicas || then_ == WhenNodesDie::reruns_models;
    if (then_ != WhenNodesDie::cannot_go_on) reactions = {"go-on", "go-on", "go-on", "restart"};
    if (has_rounds) reactions = {"go-on", "go-on", "stall", "restart"};
    failures["on_death"] = dice_.pick(reactions);
    if (dice_.chance(0.6))
        failures["checkpoint"] = Json{{"every", some_steps(0.5, 10)},
                                      {"write", dice_.chance(0.3) ? "0s" : some_steps(0.1, 2)},
                                      {"read", dice_.chance(0.3) ? "0s" : some_steps(0.1, 2)}};
    if (failures["on_death"] == "restart" || dice_.chance(0.2)) return;
    Names ways{"peer", "joined-peer"};
    if (then_ != WhenNodesDie::reruns_replicas) ways.emplace_back("own");
    if (then_ != WhenNodesDie::reruns_replicas && failures.contains("checkpoint"))
        ways.emplace_back("checkpoint");
    failures["return_from"] = dice_.pick(ways);
}

Json FailingScenario::failures() {
    Json made = Json::object();
    const double way = dice_.real(0, 1);
    if (way < 0.5) {
        made["schedule"] = schedule();
    } else if (way < 0.9) {
        made["mean_between"] = some_steps(3, 50);
        made["mean_repair"] = dice_.chance(0.05) ? "0s" : some_steps(0.1, 8);
        if (dice_.chance(0.3)) made["nodes"] = subset();
    } else {
        made["trace"] = Json{{"file", "flapping.csv"}, {"period", "20ms"}};
    }
    made["detection"] = dice_.pick(Names{"0s", "1us", steps(0.5), steps(1), steps(4)});
    choose_reaction(made);
    return made;
}

void FailingScenario::add_workload(Json& scenario) {
    Json& workload = scenario["workload"];
    workload = Json{{"batch", 2}, {key_of_time(), steps(1)}};
    if (dice_.chance(0.2)) workload["update_time"] = steps(0.1);
    if (!trains_) {
        workload["gradient"] = dice_.pick(Names{"4B", "1kB", "30kB", "125kB", "400kB"});
        workload["dataset_samples"] = 60;
        return;
    }
    workload["data"] = Json{{"kind", "gaussian-mixture"},
                            {"components", 3},
                            {"dimension", 4},
                            {"classes", 2},
                            {"train", 40},
                            {"test", 10}};
    workload["model"] = Json{{"kind", "softmax-regression"}};
    scenario["optimizer"] = Json{{"learning_rate", 0.05}};
    scenario["measure"] = Json{{"every", "20 iterations"}, {"samples", 20}};
}

Json FailingScenario::make() {
    choose_algorithm();
    nodes_ = dice_.chance(0.5) ? dice_.whole(2, 4) : dice_.whole(2, 8);
    step_us_ = dice_.pick(std::vector<int>{500, 1000, 3000});
    steps_ = of_network_ ? dice_.whole(10, 40) : dice_.whole(50, 400);
    Json made{{"seed", dice_.whole(1, 1000)}};
    Json& cluster = made["cluster"];
    cluster = Json{{"nodes", nodes_}, {"fabric", fabric()}};
    choose_machines(cluster);
    if (dice_.chance(of_network_ ? 0.05 : 0.3)) cluster["transport"] = transport();
    add_speeds(cluster);
    cluster["failures"] = failures();
    if (dice_.chance(of_network_ ? 0.15 : 0.35) && has_access_links(fabric_)) {
        Json changes = access();
        if (per_node_ == 1) cluster["access"] = std::move(changes);
    }
    if (dice_.chance(of_network_ ? 0.08 : 0.2)) cluster["background"] = background();
    add_workload(made);
    made["algorithm"] = algorithm(kind_, nodes_, trains_);
    made["stop"] = Json{{"time", steps(steps_)}};
    if (dice_.chance(0.6))
        made["stop"] = Json{{"iterations", dice_.whole(10, steps_)}, {"time", steps(10 * steps_)}};
    if (dice_.chance(0.12)) made["other_jobs"] = Json::array({other_job()});
    if (made["workload"].contains("batch") && dice_.chance(0.4)) {
        const int batch = made["workload"]["batch"].get<int>();
        made["stop"] = Json{{"samples", batch * nodes_ * dice_.whole(10, steps_)},
                            {"time", steps(10 * steps_)}};
    }
    return made;
}

}  // namespace

Json failing_scenario(std::uint64_t seed, Emphasis emphasis) {
    return FailingScenario(seed, emphasis).make();
}

}  // namespace paceline

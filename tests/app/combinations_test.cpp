// Algorithms, codecs, aggregations and schedules at toy size: what the rules allow reads, and runs
// to the end with finite losses; what they refuse is refused with the rule's reason. And laws of
// what runs.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/host/files.hpp"
#include "app/json/config_error.hpp"
#include "app/run/run_point.hpp"
#include "app/scenario/aggregations/exchange_rules.hpp"
#include "app/scenario/algorithms/algorithms.hpp"
#include "app/scenario/scenario.hpp"
#include "tests/app/scenario/algorithms/plain_algorithm.hpp"

namespace paceline::combinations_test {
namespace {

using enum Feature;

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr std::size_t slowness = 12;
#else
constexpr std::size_t slowness = 1;
#endif
#else
constexpr std::size_t slowness = 1;
#endif

// A value of a key, and the features that it has.
struct Value {
    const char* json;
    Features features;
};

const std::vector<Value> codecs{
    {R"("none")", Features(none)},
    {R"("fp16")", Features(fp16)},
    {R"({"kind": "top-k", "density": 0.2})", Features(top_k)},
    {R"({"kind": "random-k", "density": 0.2})", Features(random_k)},
    {R"({"kind": "random-block", "density": 0.2, "error_feedback": false})",
     Features(random_block)},
    {R"({"kind": "qsgd", "levels": 7, "bucket": 16})", Features(qsgd)},
    {R"("terngrad")", Features(terngrad)},
    {R"({"kind": "terngrad", "scaler": "shared"})", Features(shared_terngrad)},
    {R"("sign")", Features(sign)},
    {R"({"kind": "sign", "majority": true})", Features(majority)},
    {R"({"kind": "scaled-sign", "leave_out": [-1]})", Features(scaled_sign)},
    {R"("natural")", Features(natural)},
    {R"({"kind": "8-bit", "bucket": 10})", Features(eight_bit)},
    {R"({"kind": "chunked-top-k", "chunk": 3, "kept": 2})", Features(chunked_top_k)},
    {R"({"kind": "chunked-top-k", "chunk": 3, "kept": 2, "mean": "senders", "error_decay": 0.9})",
     Features(of_senders)},
    {R"("one-bit-columns")", Features(one_bit_columns)},
    {R"({"kind": "power-sgd", "rank": 1})", Features(power_sgd)},
    {R"({"kind": "dgc", "density": 0.2})", Features(dgc)},
    {R"("one-bit")", Features(one_bit)},
};

const std::vector<Value> flat_aggregations{
    {R"("all-reduce")", Features(all_reduce, flat)},
    {R"({"kind": "all-reduce", "plan": "tree"})", Features(all_reduce, flat)},
    {R"({"kind": "all-gather", "how": "bruck"})", Features(all_gather, flat)},
    {R"("two-phase")", Features(two_phase, flat)},
    {R"("sparse-all-reduce")", Features(sparse_all_reduce, flat)},
    {R"({"kind": "servers", "encoded": "none", "servers": 2})", Features(plain_servers, flat)},
    {R"({"kind": "servers", "encoded": "up", "servers": 1})", Features(servers_up, flat)},
    {R"({"kind": "servers", "encoded": "both"})", Features(servers_both, flat)},
    {R"("neighbors")", Features(neighbors, flat)},
};

// The same by machine: leaders, leaders that are sent encoded messages, shards.
std::vector<std::pair<std::string, Features>> aggregations_by_machine() {
    std::vector<std::pair<std::string, Features>> all;
    for (const Value& value : flat_aggregations) {
        const Json json = Json::parse(value.json);
        const Json object = json.is_string() ? Json{{"kind", json}} : json;
        const Features kind = value.features.without(Features(flat));
        const auto add = [&](const char* machines, const char* inside, Feature feature) {
            Json one = object;
            one["machines"] = machines;
            if (inside != nullptr) one["inside"] = inside;
            all.emplace_back(one.dump(), kind.with(Features(feature)));
        };
        add("leaders", nullptr, leaders);
        if (kind.has(neighbors)) continue;  // its schema has no more
        add("leaders", "encoded", encoding_leaders);
        add("shards", nullptr, shards);
    }
    return all;
}

std::vector<std::pair<std::string, Features>> all_aggregations() {
    std::vector<std::pair<std::string, Features>> all = aggregations_by_machine();
    for (const Value& value : flat_aggregations) all.emplace_back(value.json, value.features);
    return all;
}

// The same between islands: "islands" is a key of the algorithm, and not of the aggregation.
std::vector<std::pair<std::string, Features>> aggregations_between_islands() {
    std::vector<std::pair<std::string, Features>> all;
    for (const Value& value : flat_aggregations) {
        const Json json = Json::parse(value.json);
        Json one = json.is_string() ? Json{{"kind", json}} : json;
        const Features kind = value.features.without(Features(flat));
        one["islands"] = {{"level", "machine"}, {"by", "leaders"}};
        all.emplace_back(one.dump(), kind.with(Features(flat, islands_by_leaders)));
        one["islands"]["by"] = "shards";
        all.emplace_back(one.dump(), kind.with(Features(flat, islands_by_shards)));
    }
    return all;
}

const std::vector<Value> schedules{
    {R"("whole")", Features(whole, after_backward, fifo)},
    {R"("tensors")", Features(tensors, beside_backward, fifo)},
    {R"("merged")", Features(merged, beside_backward, fifo)},
    {R"({"pieces": "300B", "begin": "after-backward"})", Features(buckets, after_backward, fifo)},
    {R"({"pieces": "300B", "begin": "in-phases"})", Features(buckets, in_phases, fifo)},
    {R"({"pieces": "300B", "partition": "100B"})",
     Features(buckets, beside_backward, fifo, partitions)},
    {R"({"pieces": "tensors", "begin": "into-forward"})", Features(tensors, into_forward, fifo)},
    {R"({"pieces": "tensors", "order": "priority"})", Features(tensors, beside_backward, priority)},
    {R"({"pieces": "tensors", "streams": 2})",
     Features(tensors, beside_backward, fifo, several_streams)},
    {R"({"pieces": "tensors", "begin": "into-forward", "order": "priority", "partition": "100B",
         "streams": 3})",
     Features(tensors, into_forward, priority, partitions, partitions_into_forward,
              several_streams)},
};

enum class Mode : std::uint8_t { timing, values, failures };

// Two machines of two devices; or four nodes, one of which dies in the second step and returns.
Json base(Mode mode, bool machines) {
    Json json = Json::parse(R"({
        "cluster": {"nodes": 2, "devices_per_node": 2,
            "bus": {"kind": "switched", "link": {"bandwidth": "10Gbps", "latency": "1us"}},
            "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps", "latency": "20us"}}},
        "workload": {"model": {"kind": "mlp", "hidden": [5]}, "gradient_time": "1ms", "batch": 4,
            "data": {"kind": "gaussian-mixture", "dimension": 6, "classes": 3, "train": 48,
                     "test": 12}},
        "optimizer": {"learning_rate": 0.01},
        "stop": {"iterations": 4}})");
    if (mode == Mode::timing) {
        json["workload"] = Json::parse(R"({"profile": "alexnet", "gradient_time": "50ms"})");
        json.erase("optimizer");
        json["stop"] = Json::parse(R"({"iterations": 2})");
    }
    if (!machines) {
        json["cluster"]["nodes"] = 4;
        json["cluster"].erase("devices_per_node");
        json["cluster"].erase("bus");
    }
    if (mode == Mode::failures) {
        json["cluster"]["failures"] = Json::parse(
            R"({"schedule": [{"node": 1, "at": "1.5ms", "for": "2ms"}], "detection": "100us"})");
    }
    return json;
}

class Toy {
  public:
    Toy(Mode mode, bool machines)
        : json_(base(mode, machines)), sources_(files_of_this_machine()) {}

    [[nodiscard]] Scenario read(const Json& algorithm) {
        json_["algorithm"] = algorithm;
        return read_scenario(json_, "toy.json", sources_);
    }

  private:
    Json json_;
    Sources sources_;
};

const AlgorithmEntry& entry_named(std::string_view name) {
    return *std::ranges::find(algorithm_table(), name, &AlgorithmEntry::name);
}

bool has_key(const AlgorithmEntry& entry, std::string_view key) {
    return std::ranges::find(algorithm_keys(entry), key) != algorithm_keys(entry).end();
}

// An algorithm with the keys that it cannot be without, and short stages.
Json algorithm_of(std::string_view kind) {
    Json algorithm = plain_algorithm(kind);
    algorithm["kind"] = std::string(kind);
    if (kind.starts_with("one-bit-") && kind != "one-bit-sgd") algorithm["freeze_step"] = 1;
    if (kind == "zero-one-adam") {
        algorithm["var_freeze_step"] = 1;
        algorithm["local_step_scaler"] = 1;
    }
    if (kind == "gradient-dropping") {
        algorithm["density"] = 0.2;
        algorithm["dense_steps"] = 1;
    }
    if (kind == "post-local-sgd") algorithm["switch_step"] = 2;
    if (has_key(entry_named(kind), "period")) algorithm["period"] = 2;
    return algorithm;
}

struct Combination {
    Json algorithm;
    Features features;
};

Combination combination(const AlgorithmEntry& entry, const std::string& codec, Features of_codec,
                        const std::string& aggregation, Features of_aggregation,
                        const Value& schedule, Mode mode) {
    Json algorithm = algorithm_of(entry.name);
    algorithm["codec"] = Json::parse(codec);
    algorithm["aggregation"] = Json::parse(aggregation);
    if (algorithm["aggregation"].is_object() && algorithm["aggregation"].contains("islands")) {
        algorithm["islands"] = algorithm["aggregation"]["islands"];
        algorithm["aggregation"].erase("islands");
    }
    algorithm["schedule"] = Json::parse(schedule.json);
    if (mode == Mode::timing && algorithm["schedule"].is_object()) {  // of a large net
        Json& pieces = algorithm["schedule"];
        if (pieces["pieces"] == "300B") pieces["pieces"] = "20MB";
        if (pieces.contains("partition")) pieces["partition"] = "30MB";
    }
    return {std::move(algorithm),
            Features(entry.exchanges).with(of_codec).with(of_aggregation).with(schedule.features)};
}

struct Seen {
    int run = 0;
    int refused = 0;
};

void check_finished(const Metrics& metrics, Mode mode) {
    CHECK(metrics.outcome == "finished");
    if (mode == Mode::timing) return;
    CHECK(metrics.train_loss.has_value());
    if (metrics.train_loss) CHECK(std::isfinite(*metrics.train_loss));
}

void check(Toy& toy, Mode mode, const Combination& one, Seen& seen) {
    Features features = one.features;
    if (mode == Mode::failures) features = features.with(Features(survivors_go_on));
    const std::optional<Conflict> conflict = conflict_among(features);
    const std::string shown = one.algorithm.dump();
    CAPTURE(shown);
    try {
        const Scenario scenario = toy.read(one.algorithm);
        CHECK_MESSAGE(!conflict, "accepted, but the rules say: ", conflict ? conflict->reason : "");
        if (conflict) return;
        ++seen.run;
        check_finished(run_point(scenario, nullptr), mode);
    } catch (const ConfigError& error) {
        ++seen.refused;
        const std::string problem = error.problem();
        CAPTURE(problem);
        const bool cannot =
            mode == Mode::failures && problem.find("cannot continue") != std::string::npos;
        // That tensors are left out is no feature, nor that errors are not kept.
        const bool cannot_leave_out = problem.find("encodes whole models") != std::string::npos &&
                                      shown.find("leave_out") != std::string::npos;
        const bool keeps_no_errors = problem.find("next difference") != std::string::npos &&
                                     (shown.find("error_feedback") != std::string::npos ||
                                      shown.find("error_decay") != std::string::npos);
        if (cannot || cannot_leave_out || keeps_no_errors) return;
        CHECK(conflict.has_value());
        if (conflict) CHECK(problem.find(conflict->reason) != std::string::npos);
    }
}

// Visits every stride-th combination of an algorithm.
void visit(const AlgorithmEntry& entry, Mode mode, std::size_t stride, std::size_t offset,
           Seen& seen) {
    // Servers on nodes of their own need machines of one device.
    const bool machines = mode != Mode::failures && !entry.traits.has_server;
    Toy toy(mode, machines);
    std::vector<std::pair<std::string, Features>> aggregations = all_aggregations();
    if (has_key(entry, "islands"))
        for (auto& one : aggregations_between_islands()) aggregations.push_back(std::move(one));
    if (!machines) {
        aggregations.clear();
        for (const Value& value : flat_aggregations)
            aggregations.emplace_back(value.json, value.features);
    }
    std::size_t number = offset;
    for (const Value& codec : codecs)
        for (const auto& [aggregation, of_aggregation] : aggregations)
            for (const Value& schedule : schedules)
                if (number++ % stride == 0)
                    check(toy, mode,
                          combination(entry, codec.json, codec.features, aggregation,
                                      of_aggregation, schedule, mode),
                          seen);
}

TEST_CASE(
    "combinations: every algorithm, codec, aggregation, schedule and way with machines has a "
    "rule") {
    for (const AlgorithmEntry& entry : algorithm_table()) {
        CAPTURE(entry.name);
        CHECK(entry_of(entry.exchanges).choice == Choice::algorithm);
    }
    int number = 0;
    for (const FeatureEntry& entry : exchange_features())
        CHECK(static_cast<int>(entry.feature) == number++);
    Features named;
    for (const Value& value : codecs) named = named.with(value.features);
    for (const auto& [json, features] : all_aggregations()) named = named.with(features);
    for (const auto& [json, features] : aggregations_between_islands())
        named = named.with(features);
    for (const Value& value : schedules) named = named.with(value.features);
    const Features all = features_of(Choice::codec)
                             .with(features_of(Choice::aggregation))
                             .with(features_of(Choice::schedule));
    CHECK(named == all.without(Features(own_messages)));
}

TEST_CASE("combinations: rules hold in either order, and say what they are about") {
    for (const ExchangeRule& rule : exchange_rules()) {
        CHECK(rule.reason.size() > 20);
        CHECK(!rule.reason.ends_with('.'));
    }
    for (const FeatureEntry& one : exchange_features())
        for (const FeatureEntry& other : exchange_features())
            CHECK(reason_against(one.feature, other.feature) ==
                  reason_against(other.feature, one.feature));
    CHECK(reason_against(top_k, all_reduce).has_value());
    CHECK(!reason_against(fp16, all_reduce));
    CHECK(!conflict_among(
        Features(momentum_sgd, qsgd, two_phase, leaders, tensors, beside_backward, fifo)));
}

TEST_CASE("combinations: of synchronous SGD all run or are refused, without values") {
    Seen seen;
    visit(entry_named("sgd"), Mode::timing, slowness, 0, seen);
    CHECK(static_cast<std::size_t>(seen.run) * slowness > 700U);
    CHECK(static_cast<std::size_t>(seen.refused) * slowness > 1000U);
}

TEST_CASE("combinations: of synchronous SGD all run or are refused, with values") {
    Seen seen;
    visit(entry_named("sgd"), Mode::values, slowness, 0, seen);
    CHECK(static_cast<std::size_t>(seen.run) * slowness > 700U);
}

TEST_CASE("combinations: of synchronous SGD all run or are refused, where a node dies") {
    Seen seen;
    visit(entry_named("sgd"), Mode::failures, slowness, 0, seen);
    CHECK(static_cast<std::size_t>(seen.run) * slowness > 100U);
}

TEST_CASE("combinations: of every other algorithm many run or are refused") {
    std::size_t number = 0;
    for (const AlgorithmEntry& entry : algorithm_table()) {
        ++number;
        if (entry.name == "sgd" || !has_key(entry, "codec")) continue;
        CAPTURE(entry.name);
        for (const Mode mode : {Mode::timing, Mode::values, Mode::failures}) {
            Seen seen;
            visit(entry, mode, 13 * slowness, number, seen);
        }
    }
}

// The outer step as five choices: what is in the table of docs/combinations.md.
TEST_CASE("combinations: of outer steps all five choices run together, or are refused by name") {
    Seen seen;
    Toy toy(Mode::values, true);
    std::size_t number = 0;
    for (const char* kind : {"diloco", "streaming-diloco", "sparseloco"})
        for (const char* inner : {"adamw", "lamb", "muon", "sgd"})
            for (const char* outer : {"none", "sgd", "nesterov", "adam"})
                for (const Value& codec : codecs) {
                    if (number++ % slowness != 0) continue;
                    Json one{{"kind", kind}, {"period", 2}, {"inner", inner}, {"outer", outer}};
                    one["codec"] = Json::parse(codec.json);
                    if (std::string(outer) != "none") one["outer_learning_rate"] = 0.5;
                    if (std::string(kind) == "streaming-diloco")
                        one.update({{"fragments", 1}, {"delay", number % 2}});
                    check(toy, Mode::values,
                          {one, codec.features.with(Features(entry_named(kind).exchanges))}, seen);
                }
    for (const char* kind : {"local-sgd", "post-local-sgd", "bmuf", "easgd", "cocod-sgd",
                             "overlap-local-sgd", "sparta"})
        for (const char* inner : {"adamw", "lamb", "muon", "sgd"}) {
            if (number++ % slowness != 0) continue;
            Json one{{"kind", kind}, {"inner", inner}};
            if (std::string(kind) == "post-local-sgd") one["switch_step"] = 2;
            check(toy, Mode::values, {one, Features(entry_named(kind).exchanges)}, seen);
        }
    for (const char* inner : {"adamw", "lamb", "muon", "sgd"})
        for (const char* mixing : {"random-matching", "ring", "complete", "one-peer-exponential"})
            for (const Value& codec : codecs)
                if (number++ % slowness == 0)
                    check(toy, Mode::values,
                          {Json{{"kind", "noloco"},
                                {"period", 2},
                                {"inner", inner},
                                {"mixing", {{"kind", mixing}}},
                                {"codec", Json::parse(codec.json)}},
                           codec.features.with(Features(neighbor_blocks, neighbors, flat))},
                          seen);
    CHECK(static_cast<std::size_t>(seen.run) * slowness > 700U);
    CHECK(static_cast<std::size_t>(seen.refused) * slowness > 300U);
}

// The loss after a few steps of synchronous SGD.
double loss_of(Toy& toy, const Json& codec, const Json& aggregation, const Json& schedule) {
    const Scenario scenario = toy.read(
        {{"kind", "sgd"}, {"codec", codec}, {"aggregation", aggregation}, {"schedule", schedule}});
    return run_point(scenario, nullptr).train_loss.value();
}

// Into forward, the last step's update comes behind the last measurement.
bool measures_every_step(const Value& schedule) {
    return !schedule.features.has(into_forward);
}

TEST_CASE("combinations: without a codec all ways to travel train as dense SGD does") {
    Toy toy(Mode::values, true);
    const double dense = loss_of(toy, "none", "all-reduce", "whole");
    int ways = 0;
    for (const auto& [aggregation, features] : all_aggregations())
        for (const Value& schedule : schedules) {
            if (!measures_every_step(schedule) ||
                conflict_among(Features(momentum_sgd, none).with(features).with(schedule.features)))
                continue;
            CAPTURE(aggregation);
            CAPTURE(schedule.json);
            ++ways;
            CHECK(loss_of(toy, "none", Json::parse(aggregation), Json::parse(schedule.json)) ==
                  doctest::Approx(dense).epsilon(1e-9));
        }
    CHECK(ways > 100);
}

// Codecs that look at one tensor at a time and draw nothing.
TEST_CASE("combinations: codecs that go by tensor train alike in all pieces, orders and streams") {
    Toy toy(Mode::values, true);
    const char* const aggregations[] = {"all-gather", "servers"};
    for (const char* codec :
         {R"("fp16")", R"({"kind": "top-k", "density": 0.2})", R"("sign")", R"("scaled-sign")",
          R"("8-bit")", R"({"kind": "chunked-top-k", "chunk": 4, "kept": 3})",
          R"("one-bit-columns")", R"({"kind": "sign", "majority": true})"}) {
        CAPTURE(codec);
        const double whole_loss = loss_of(toy, Json::parse(codec), "all-gather", "whole");
        for (const Value& schedule : schedules) {
            if (!measures_every_step(schedule) || schedule.features.has(partitions)) continue;
            CAPTURE(schedule.json);
            for (const char* aggregation : aggregations)  // servers answer with the same mean
                CHECK(loss_of(toy, Json::parse(codec), aggregation, Json::parse(schedule.json)) ==
                      doctest::Approx(whole_loss).epsilon(1e-9));
        }
    }
}

TEST_CASE("combinations: two-phase and servers that encode their answer differ from one encoding") {
    Toy toy(Mode::values, true);
    const double once = loss_of(toy, "scaled-sign", "all-gather", "whole");
    CHECK(loss_of(toy, "scaled-sign", "two-phase", "whole") != doctest::Approx(once).epsilon(1e-6));
    const Json both{{"kind", "servers"}, {"encoded", "both"}};
    CHECK(loss_of(toy, "scaled-sign", both, "whole") ==
          doctest::Approx(loss_of(toy, "scaled-sign", "two-phase", "whole")).epsilon(1e-12));
}

}  // namespace
}  // namespace paceline::combinations_test

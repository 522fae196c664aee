#include "tests/fuzz/random_scenario.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <fstream>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/random/uniform_01.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/resources.hpp"
#include "app/json/schema.hpp"
#include "app/scenario/algorithms/algorithms.hpp"
#include "app/scenario/cluster/links.hpp"
#include "app/scenario/nodes/sites.hpp"
#include "app/scenario/workload/devices.hpp"
#include "app/scenario/workload/profiles.hpp"
#include "sim/engine/random.hpp"

namespace paceline {

namespace {

using Names = std::vector<std::string>;

const Json& definition(const std::string& name) {
    return scenario_schema().at("definitions").at(name);
}

// Returns "link" for "#/definitions/link".
std::string name_behind(const Json& node) {
    const auto ref = node.at("$ref").get<std::string>();
    return ref.substr(ref.rfind('/') + 1);
}

bool one_of(std::string_view name, std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
}

// Returns whether an alternative is what a caller brings (own_parts.hpp). It is the last of a list.
bool is_own_part(const Json& one) {
    return one.contains("$ref") && name_behind(one) == "own-part";
}

Names kinds_of(const std::string& list) {
    Names kinds;
    for (const Json& one : definition(list).at("oneOf")) {
        if (is_own_part(one)) continue;
        const Json& kind = definition(name_behind(one)).at("properties").at("kind");
        kinds.push_back(kind.contains("const") ? kind.at("const") : kind.at("enum").front());
    }
    return kinds;
}

const AlgorithmTraits& traits_of(std::string_view algorithm) {
    return algorithm_entry(algorithm).traits;
}

bool is_algorithm(std::string_view name) {
    return std::ranges::find(algorithm_table(), name, &AlgorithmEntry::name) !=
           algorithm_table().end();
}

// Returns whether what it exchanges adds up, so that an all-reduce carries it.
bool sums_up(std::string_view algorithm) {
    using enum Feature;
    return Features(momentum_sgd, adam, layerwise, models, outer_gradients, fragments, shares)
        .has(algorithm_entry(algorithm).exchanges);
}

Names symmetric_presets() {
    Names names;
    for (const LinkPreset& preset : link_presets())
        if (!preset.bandwidth_up) names.push_back(preset.name);
    return names;
}

class Generator {
  public:
    Generator(std::uint64_t seed, Emphasis emphasis)
        : stream_(RandomStreams(seed).stream("scenario")),
          of_network_(emphasis == Emphasis::network),
          richness_(of_network_ ? pick({0, 0.02, 0.06}) : pick({0.03, 0.1, 0.25, 0.5})) {}

    Json scenario();
    Json fabric_of(int nodes);
    Json algorithm_of(const RandomAlgorithm& what);

  private:
    // --- chance ---

    int whole(int least, int most) {
        return boost::random::uniform_int_distribution<int>(least, most)(stream_);
    }
    double real(double least, double most) {
        return least + (most - least) * boost::random::uniform_01<double>()(stream_);
    }
    bool chance(double probability) { return real(0, 1) < probability; }
    bool maybe() { return chance(richness_); }
    template <class T>
    const T& pick(const std::vector<T>& values) {
        return values[static_cast<std::size_t>(whole(0, static_cast<int>(values.size()) - 1))];
    }
    double pick(std::initializer_list<double> values) { return pick(std::vector<double>(values)); }
    std::string text(std::initializer_list<const char*> values) {
        return pick(Names(values.begin(), values.end()));
    }

    // --- the schema ---

    Json value(const std::string& place, const Json& node);
    Json object(const std::string& place, const Json& node);
    Json property(const std::string& place, const std::string& key);
    Json number(const Json& node);
    std::optional<Json> by_rule(const std::string& place);
    std::optional<Json> by_network_rule(const std::string& place);
    [[nodiscard]] bool allowed(const std::string& place, const std::string& key) const;
    void mend(const std::string& place, Json& made);

    // Of `keys`, makes sure that exactly those in `kept` are present.
    void keep(const std::string& place, Json& made, const Names& keys, const Names& kept);
    void drop(Json& made, std::initializer_list<const char*> keys);
    void need(const std::string& place, Json& made, std::initializer_list<const char*> keys);

    // --- parts ---

    void choose_surroundings();
    std::string any_algorithm();
    Json fabric();
    Json graph();
    Json regions();
    void add_cables_between_nodes(Json& graph);
    Json dims();
    Json link();
    Json nodes_list(int nodes);
    Json subset(int nodes);
    Json mixing();
    Json left_out();
    Json edges();
    Json edges_in_turn();
    std::string name_of_all_reduce();
    Json all_reduce();
    Json all_reduce_of_library();
    void mend_nccl(Json& made);
    void mend_library(Json& cluster);
    void choose_slices(Json& made);
    void choose_exchange(const std::string& kind, Json& made);
    void choose_overlap(const std::string& kind, Json& made);
    [[nodiscard]] bool is_read(const Json& made) const;
    void mend_exchange(const std::string& kind, Json& made);
    void disturb(Json& cluster);
    Json algorithm();
    Json workload(bool may_train);
    Json data();
    Json data_of_files(const std::string& kind);
    Json model(const std::string& data);
    void add_time(Json& workload, const std::string& profile);
    void add_memory(Json& workload, const std::string& profile);
    Json stop();
    void skip_steps(Json& made);
    void mend_money(Json& made);
    Json node_class(const Json& made);
    Json sites();
    Json exchange_levels();
    Json island_level();
    void add_classes(Json& made);
    void compare(Json& made);
    Json access();
    Json background();
    Json other_jobs();
    Json schedule_of_absences();
    Json sweep();
    void mend_outer(const std::string& kind, Json& made);
    void mend_algorithm(const std::string& kind, Json& made);
    void choose_islands(const std::string& kind, Json& made);
    void choose_machines(const std::string& kind, Json& made);
    void mend_islands(Json& made);
    void mend_cluster_part(const std::string& place, Json& made);

    std::string duration() { return text({"20us", "300us", "1ms", "7ms", "0.05s", "2e-1s"}); }

    RandomStream stream_;
    bool of_network_;
    double richness_;
    int fabric_nodes_ = 1;
    int nodes_ = 1;  // of the job
    int workers_ = 1;
    int per_node_ = 1;
    Json placement_;  // null: none
    std::string fabric_kind_;
    std::string algorithm_kind_;
    Json sites_;  // null: none
    bool trains_ = false;
    bool of_classes_ = false;  // whether classes are predicted
    bool has_nccl_ = false;    // its library chooses by size
};

// --- the schema ---

Json Generator::number(const Json& node) {
    const double least = node.value("minimum", node.value("exclusiveMinimum", 0.0));
    const double most = node.value("maximum", node.value("exclusiveMaximum", 1e300));
    if (node.contains("minimum") && chance(0.1)) return least;
    if (node.contains("maximum") && most <= 1 && chance(0.1)) return most;
    if (most <= 1) return real(least + 0.01 * (most - least), most - 0.01 * (most - least));
    const double low = std::max(least, 0.02);
    const double high = std::min(most, std::max(least, 1.0) * 3);
    return low * std::exp(real(0, 1) * std::log(high / low)) + 1e-9;
}

Json Generator::property(const std::string& place, const std::string& key) {
    const Json& node = place.empty() ? scenario_schema() : definition(place);
    return value(place.empty() ? key : fmt::format("{}.{}", place, key),
                 node.at("properties").at(key));
}

Json Generator::object(const std::string& place, const Json& node) {
    std::set<std::string> taken;
    std::set<std::string> left_out;
    for (const Json& key : node.value("required", Json::array())) taken.insert(key);
    for (const char* alternatives : {"oneOf", "anyOf"}) {
        const auto list = node.find(alternatives);
        if (list == node.end()) continue;
        const auto chosen = static_cast<std::size_t>(whole(0, static_cast<int>(list->size()) - 1));
        for (std::size_t i = 0; i < list->size(); ++i)
            for (const Json& key : (*list)[i].at("required"))
                (i == chosen ? taken : left_out).insert(key);
    }
    Json made = Json::object();
    for (const auto& [key, schema] : node.at("properties").items()) {
        const bool wanted = taken.contains(key) || (!left_out.contains(key) && maybe());
        if (wanted && allowed(place, key)) made[key] = property(place, key);
    }
    mend(place, made);
    return made;
}

Json Generator::value(const std::string& place, const Json& node) {
    if (auto made = by_rule(place)) return *std::move(made);
    if (node.contains("$ref")) {
        const std::string name = name_behind(node);
        if (auto made = by_rule(name)) return *std::move(made);
        return value(name, definition(name));
    }
    if (const auto all = node.find("allOf"); all != node.end()) return value(place, all->front());
    if (const auto fixed = node.find("const"); fixed != node.end()) return *fixed;
    if (const auto list = node.find("enum"); list != node.end())
        return (*list)[static_cast<std::size_t>(whole(0, static_cast<int>(list->size()) - 1))];
    if (node.value("type", "") == "object") return object(place, node);
    for (const char* alternatives : {"oneOf", "anyOf"})
        if (const auto list = node.find(alternatives); list != node.end()) {
            const int count = static_cast<int>(list->size()) - (is_own_part(list->back()) ? 1 : 0);
            return value(place, (*list)[static_cast<std::size_t>(whole(0, count - 1))]);
        }
    const auto type = node.at("type").get<std::string>();
    if (type == "boolean") return chance(0.5);
    if (type == "number") return number(node);
    if (type == "integer") {
        const int least = node.value("minimum", 0);
        return whole(least, static_cast<int>(std::min<std::int64_t>(
                                node.value("maximum", std::int64_t{1} << 40), least + 4)));
    }
    if (type == "array") {
        Json made = Json::array();
        const int count = whole(node.value("minItems", 0), node.value("minItems", 0) + 2);
        for (int i = 0; i < count; ++i) made.push_back(value(place + "[]", node.at("items")));
        return made;
    }
    return text({"a", "some text", "\xC3\xBC"});
}

void Generator::drop(Json& made, std::initializer_list<const char*> keys) {
    for (const char* key : keys) made.erase(key);
}

void Generator::need(const std::string& place, Json& made,
                     std::initializer_list<const char*> keys) {
    for (const char* key : keys)
        if (!made.contains(key)) made[key] = property(place, key);
}

void Generator::keep(const std::string& place, Json& made, const Names& keys, const Names& kept) {
    for (const std::string& key : keys)
        if (std::ranges::find(kept, key) == kept.end()) made.erase(key);
    for (const std::string& key : kept)
        if (!made.contains(key)) made[key] = property(place, key);
}

// Values that the schema alone does not determine: by "definition.key", by the definition's name,
// or by the kind of unit.
std::optional<Json> Generator::by_rule(const std::string& place) {
    if (of_network_)
        if (auto made = by_network_rule(place)) return made;
    if (place == "duration" || place == "overhead" || place == "selection_step") return duration();
    if (place == "coding_step") return text({"0s", "9ps", "1ns"});
    if (place == "bytes") return text({"4B", "1kB", "64KiB", "0.25MB", "1MB"});
    if (place == "bandwidth") return text({"20Mbps", "0.5Gbps", "1Gbps", "125MBps", "1e10bps"});
    if (place == "density") return pick({0.001, 0.01, 0.1, real(0.001, 1), 1});
    if (place == "label") return fmt::format("label {}", whole(0, 99));
    if (place == "fabric") return fabric();
    if (place == "dims") return dims();
    if (place == "link") return link();
    if (place == "node_list") return nodes_list(nodes_);
    if (place == "mixing") return mixing();
    if (place == "all_reduce") return all_reduce();
    if (place == "levels") return exchange_levels();
    if (place == "island-name") return island_level();
    if (place == "exchange-level") {
        const Json levels = exchange_levels();
        return levels.is_array() ? levels.front() : levels;
    }
    if (place == "zero.shards") {
        if (!sites_.is_null() && chance(0.4)) return sites_.front().at("level");
        return text({"all", "machine"});
    }
    if (place == "hierarchical.levels") {
        Json names = Json::array();
        const Json levels = exchange_levels();
        if (levels.is_object()) return Json::array({levels.at("level")});
        for (const Json& level : levels) names.push_back(level.at("level"));
        return names;
    }
    if (place == "library_all_reduce") return all_reduce_of_library();
    if (place == "algorithm") return algorithm();
    if (place == "cluster.nodes") return fabric_nodes_;
    if (place == "cluster.devices") return workers_;
    if (place == "cluster.devices_per_node") return per_node_;
    if (place == "cluster.nics") return per_node_;
    if (place == "cluster.placement") return placement_;
    if (place == "cluster.access") return access();
    if (place == "cluster.background") return background();
    if (place == "torus.dims") return dims();
    if (place == "stragglers.nodes" || place == "speeds.nodes") return subset(nodes_);
    if (place == "speeds.values") {
        Json values = Json::array();
        for (int i = 0; i < nodes_; ++i) values.push_back(real(0.2, 4));
        return values;
    }
    if (place == "speeds.device" || place == "workload.device")
        return text({"k80", "p100", "titan-xp"});
    if (place == "failures.schedule") return schedule_of_absences();
    if (place == "absence_trace.file") return "absences.csv";
    if (place == "access-trace.file") return "link.csv";
    if (place == "access-trace.file_up") return "packets.up";
    if (place == "absence_trace.period" || place == "access-trace.period") return "5s";
    if (place == "leaf-spine.oversubscription") return real(0.5, 4);
    if (place == "link.loss") return pick({0, 1e-4, 0.02});
    if (place == "link.latency") return text({"0s", "1us", "500us", "20ms"});
    if (place == "cell.nodes_per_cell" || place == "leaf-spine.hosts_per_leaf")
        return whole(1, fabric_nodes_ + 1);
    if (place == "leaf-spine.spines") return whole(1, 3);
    if (place == "fat-tree.k") return 2 * whole(2, 3);
    if (place == "parameter-server.servers") return whole(1, workers_);
    if (place == "workload.batch" || place == "stand-in.batch") return whole(1, 8);
    if (place == "workload.accumulation") return whole(1, 3);
    if (place == "workload.dataset_samples") return whole(1, 100);
    if (place == "measure.every")
        return text({"1 iterations", "2 iterations", "0.5 epochs", "3ms", "1s"});
    if (place == "measure.samples") return whole(1, 40);
    if (place == "measure.skip") return 0;  // of more, see skip_steps
    if (place == "measure.baseline") return chance(0.3);
    if (place == "measure.interval") return chance(0.05);
    if (place == "measure.alone" || place == "measure.spread") return chance(0.2);
    if (place == "optimizer.learning_rate" || place == "own-optimizer.learning_rate")
        return pick({0.001, 0.05, 0.1, 30});
    if (place == "schedule.milestones") return Json{0.3, real(0.4, 0.9)};
    if (place == "stop") return stop();
    if (place == "other_jobs") return other_jobs();
    if (place == "sweep") return sweep();
    if (place == "workload") return workload(true);
    if (place == "warm_up.epochs_each") return real(0.1, 3);
    if (place == "easgd.alpha") return real(0, 1.0 / workers_);
    if (place == "zero-one-adam.local_step_clipper") return 1 << whole(0, 3);
    if (place == "codec-qsgd.levels") return whole(1, 200);
    if (place == "codec-qsgd.bucket" || place == "codec-8-bit.bucket") return whole(1, 600);
    if (place == "codec-chunked-top-k.chunk") return whole(1, 70);
    if (place == "codec-chunked-top-k.kept") return whole(1, 100);
    if (place == "codec-chunked-top-k.index_bits") return whole(14, 64);
    if (place == "exchange-schedule.pieces") return text({"whole", "tensors", "1kB", "25MiB"});
    if (place == "leave_out" || place == "inner-muon.leave_out") return left_out();
    if (place == "lattice-exchange.bits") return whole(1, 32);
    if (place.ends_with(".over_selection")) return real(1, 3);
    if (place.ends_with(".local_epochs")) return real(0.1, 2);
    if (place == "$schema") return "scenario.schema.json";
    return std::nullopt;
}

std::optional<Json> Generator::by_network_rule(const std::string& place) {
    if (place == "link.latency")
        return chance(0.5) ? text({"0s", "1us", "50us", "500us", "3ms", "10ms"})
                           : fmt::format("{}us", whole(0, 10'000));
    // Shorter ones are many in a run of minutes over links that lose.
    if (place == "stragglers.mean_between" || place == "stragglers.mean_length")
        return text({"1ms", "7ms", "0.05s"});
    if (place == "collective.in_flight" || place == "pipelined-ring.in_flight") return whole(1, 5);
    if (one_of(place, {"collective.slots", "pipelined-ring.slots", "double-tree.slots"}))
        return whole(1, 5);
    if (one_of(place, {"collective.channels", "pipelined-ring.channels", "double-tree.channels"}))
        return whole(1, 3);
    return std::nullopt;
}

// Whether a key is compatible with what was chosen already.
bool Generator::allowed(const std::string& place, const std::string& key) const {
    if (place == "cluster") {
        if (key == "bus") return per_node_ > 1;
        if (key == "nics") return per_node_ > 1 && fabric_kind_ == "star";
        if (key == "access") return per_node_ == 1 && has_access_links(fabric_kind_);
        if (key == "placement") return !placement_.is_null();
        if (key == "background") return fabric_nodes_ > 1;
    }
    if (place == "link" && key == "bandwidth_up")
        return one_of(fabric_kind_, {"star", "cell", "regions"});
    if (key == "nesterov" || key == "clip")
        return traits_of(algorithm_kind_).supports_nesterov_and_clipping;
    if (key == "rings") return per_node_ > 1;
    if (key == "optimizer" || key == "measure") return trains_;
    if (key == "draws") return false;  // see compare: each is one more run
    if (key.starts_with("target_accuracy")) return trains_ && of_classes_;
    return true;
}

// A receiver grants slots of a buffer, or each slice is waited for.
void Generator::choose_slices(Json& made) {
    if (chance(0.5))
        drop(made, {"slots", "buffer", "channels"});
    else
        drop(made, {"slice", "in_flight"});
}

// Repairs combinations of keys of one object.
void Generator::mend(const std::string& place, Json& made) {
    if (place == "schedule") {
        const bool steps = made.value("kind", "constant") == "step";
        if (steps)
            need(place, made, {"milestones"});
        else
            drop(made, {"milestones", "factor"});
    } else if (place == "partition") {
        if (made.at("kind") == "column") made["kind"] = "iid";  // for tables alone
        const auto kind = made.at("kind").get<std::string>();
        keep(place, made, {"alpha", "share", "column"},
             kind == "dirichlet"         ? Names{"alpha"}
             : kind == "partly-shuffled" ? Names{"share"}
                                         : Names{});
    } else if (place == "warm_up" && made.contains("steps_each")) {
        drop(made, {"epochs_each"});
    } else if (place == "parameter-server") {
        const bool own_nodes = one_of(fabric_kind_, {"star", "cell"}) && per_node_ == 1;
        if (!own_nodes) made["placement"] = "workers";
    } else if (one_of(place, {"pipelined-ring", "double-tree"})) {
        choose_slices(made);
    } else if (place == "nccl") {
        mend_nccl(made);
    } else if (place == "lattice-exchange" && made.at("kind") == "exact") {
        drop(made, {"bits", "step"});
    } else if (made.contains("kind") && scenario_schema().at("definitions").contains(place)) {
        mend_algorithm(place, made);
    }
    mend_cluster_part(place, made);
}

namespace {

const Names keys_of_speeds{"values", "sigma",  "low",        "high",      "share",
                           "speed",  "device", "efficiency", "precision", "nodes"};

// A share alone always fits: others may leave too few nodes for it.
void keep_one_share(Json& list) {
    for (const Json& object : list)
        if (object.contains("share")) {
            list = Json::array({Json(object)});
            return;
        }
}

}  // namespace

void Generator::mend_cluster_part(const std::string& place, Json& made) {
    if (made.is_object() && made.contains("nodes") && made.contains("share") &&
        (place.starts_with("access-") || place == "other_links"))
        made.erase(maybe() ? "nodes" : "share");
    if (place == "transport" && made.at("kind") == "ideal") {
        made = Json{{"kind", "ideal"}};
    } else if (place == "compute_jitter") {
        const std::map<std::string, std::string> key_of{{"normal", "deviation"},
                                                        {"log-normal", "sigma"},
                                                        {"exponential", "excess"},
                                                        {"pareto", "shape"}};
        keep(place, made, {"deviation", "sigma", "excess", "shape"},
             {key_of.at(made.at("kind").get<std::string>())});
    } else if (place == "speeds") {
        if (made.at("kind") == "device") made["kind"] = "uniform";  // needs a profile and its batch
        const std::map<std::string, Names> keys_of{{"list", {"values"}},
                                                   {"log-normal", {"sigma"}},
                                                   {"uniform", {"low", "high"}},
                                                   {"two-classes", {"share", "speed"}}};
        keep(place, made, keys_of_speeds, keys_of.at(made.at("kind").get<std::string>()));
        if (made.contains("low")) made["low"] = real(0.1, 1), made["high"] = real(1, 3);
    } else if (place == "stragglers") {
        const std::vector<Names> ways{{},
                                      {"share"},
                                      {"share", "one_node"},
                                      {"every", "first"},
                                      {"period", "for"},
                                      {"mean_between", "mean_length"}};
        keep(place, made,
             {"share", "one_node", "every", "first", "period", "for", "begin", "mean_between",
              "mean_length"},
             pick(ways));
        if (made.contains("period")) made["period"] = "10ms", made["for"] = duration();
        if (made.contains("period") && maybe()) made["begin"] = duration();
        if (made.contains("period") &&
            one_of(made.at("for").get<std::string>(), {"0.05s", "2e-1s"}))
            made["for"] = "3ms";
        if (made.contains("one_node")) made.erase("nodes");
    } else if (place == "failures") {
        const std::vector<Names> ways{{"schedule"}, {"mean_between", "mean_repair"}, {"trace"}};
        const Names& way = pick(ways);
        const bool has_nodes = made.contains("nodes") && way.size() == 2;
        keep(place, made, {"schedule", "mean_between", "mean_repair", "trace", "nodes", "share"},
             way);
        if (has_nodes) made["nodes"] = subset(nodes_);
        if (made.contains("mean_between"))
            made["mean_between"] = text({"1ms", "20ms", "100ms", "1s"});
        made["detection"] = text({"0s", "1ms", "20ms", "1s"});
        if (made.value("on_death", "") == "restart")
            made.erase("return_from");
        else if (made.value("return_from", "") == "checkpoint")
            need(place, made, {"checkpoint"});
        if (has_nodes && maybe()) {
            made.erase("nodes");
            made["share"] = real(0.1, 1);
        }
    } else if (place == "other_links") {
        if (!made.contains("share")) need(place, made, {"nodes"});
    } else if (one_of(place, {"star", "cell"}) && made.contains("other_links")) {
        keep_one_share(made["other_links"]);
    } else if (place == "access-outages" && made.contains("schedule")) {
        made["schedule"] = Json::array(
            {{{"at", "1ms"}, {"for", duration()}}, {{"at", "400ms"}, {"for", duration()}}});
        drop(made, {"mean_between", "mean_length"});
    } else if (one_of(place, {"fedavg", "fedprox", "fedopt", "scaffold"})) {
        if (made.contains("local_epochs")) drop(made, {"local_steps"});
        if (place == "scaffold" && made.value("codec", Json("none")) == "none")
            drop(made, {"scaling"});
    } else if (place == "access-trace") {
        const std::string format = made.value("format", "csv");
        if (made.contains("phase") && !made.contains("period")) made["period"] = "5s";
        if (format == "csv") drop(made, {"file_up"});
        if (format != "csv") made["file"] = format == "mahimahi" ? "packets.down" : "cooked.down";
        if (made.contains("file_up"))
            made["file_up"] = format == "mahimahi" ? "packets.up" : "cooked.down";
        if (format != "mahimahi") drop(made, {"interval"});
        if (made.contains("interval")) made["interval"] = text({"1ms", "30ms", "1s"});
    } else if (place == "link" && made.contains("loss") && !made.contains("latency")) {
        made["latency"] = "1ms";
    }
}

// Chooses what is exchanged and how, where the algorithm leaves a choice.
// Pieces, and machines where there are some, of methods whose defaults have neither.
void Generator::choose_overlap(const std::string& kind, Json& made) {
    if (kind == "choco-sgd") {
        made["schedule"] =
            Json{{"pieces", "tensors"}, {"begin", text({"after-backward", "beside-backward"})}};
        if (per_node_ == 1 || workers_ % per_node_ != 0 || chance(0.3)) return;
        made["aggregation"] = Json{{"kind", "neighbors"}, {"machines", "leaders"}};
        made["mixing"] = Json{{"kind", text({"ring", "complete"})}};
        return;
    }
    made["schedule"] = Json{{"pieces", "tensors"},
                            {"begin", "into-forward"},
                            {"order", text({"fifo", "priority"})},
                            {"streams", whole(1, 3)}};
}

void Generator::choose_exchange(const std::string& kind, Json& made) {
    const Json& keys = definition(kind).at("properties");
    if (kind == "collective" && chance(0.8)) need(kind, made, {"all_reduce"});
    if (is_algorithm(kind) && sums_up(kind) && chance(0.8)) {
        made["aggregation"] = Json{{"kind", "all-reduce"}, {"plan", all_reduce()}};
        if (chance(0.9)) made.erase("codec");
    }
    if (keys.contains("mixing") && chance(0.8)) need(kind, made, {"mixing"});
    for (const char* within_a_short_run : {"period", "freeze_step", "var_freeze_step"})
        if (keys.contains(within_a_short_run)) need(kind, made, {within_a_short_run});
    if (one_of(kind, {"choco-sgd", "one-bit-adam", "one-bit-lamb"}) && chance(0.7))
        choose_overlap(kind, made);
    if (kind != "collective") return;
    if (chance(0.3)) made["operation"] = "all-reduce";
    const auto operation = made.at("operation").get<std::string>();
    drop(made, {"method", "slice", "in_flight", "slots", "buffer", "channels"});
    if (operation == "all-to-all") need(kind, made, {"all_to_all"});
    if (operation == "broadcast") made["method"] = text({"binomial", "at-once", "chain"});
    if (operation == "reduce") made["method"] = text({"binomial", "chain", "ring"});
    if (has_nccl_ && chance(0.7) &&
        one_of(operation, {"broadcast", "reduce", "reduce-scatter", "all-gather-ring"}))
        made["method"] = "library";
    if (one_of(made.value("method", ""), {"chain", "ring"}))
        need(kind, made, {chance(0.5) ? "slots" : "in_flight"});
}

bool Generator::is_read(const Json& made) const {
    static const std::string nowhere;
    try {
        const AllReducePlan library = has_nccl_ ? AllReduce::nccl : AllReduce::ring;
        AlgorithmInput in{{workers_, per_node_, library}, {}};
        in.sizes = MachineSizes(per_node_);
        std::vector<Level> levels;
        if (!sites_.is_null())
            levels = read_sites({&sites_, &nowhere, "cluster.sites"}, fabric_nodes_, {});
        std::vector<int> places(placement_.begin(), placement_.end());
        if (std::ssize(places) != nodes_) {  // all nodes, or another job's
            places.resize(static_cast<std::size_t>(nodes_));
            std::iota(places.begin(), places.end(), 0);
        }
        in.levels = levels_of_job(nodes_, {}, levels, places);
        (void)read_algorithm({&made, &nowhere, "algorithm"}, in);
        return true;
    } catch (const ConfigError&) {
        return false;
    }
}

// Draws codec, aggregation and schedule again while the rules refuse them beside the rest, and in
// the end leaves them out.
void Generator::mend_exchange(const std::string& kind, Json& made) {
    constexpr auto parts = std::to_array<const char*>({"schedule", "aggregation", "codec"});
    constexpr int tries = 20;
    for (int i = 0; i < tries && !is_read(made); ++i)
        for (const char* part : parts)
            if (made.contains(part)) made[part] = property(kind, part);
    for (const char* part : parts) {
        if (is_read(made)) return;
        made.erase(part);
    }
    if (kind == "choco-sgd" && !made.contains("codec")) made["codec"] = "top-k";
}

// An outer optimizer has the keys of its rule.
void Generator::mend_outer(const std::string& kind, Json& made) {
    const Json& outer = made.at("outer");
    if (outer == "none") drop(made, {"outer_learning_rate", "outer_momentum"});
    if (outer != "adam" && !outer.is_object()) return;
    need(kind, made, {"outer_learning_rate"});
    drop(made, {"outer_momentum"});
}

void Generator::mend_algorithm(const std::string& kind, Json& made) {
    if (!made.value("error_feedback", false)) drop(made, {"error_decay"});
    const bool is_sgd_by_default = one_of(
        kind, {"local-sgd", "post-local-sgd", "bmuf", "easgd", "cocod-sgd", "overlap-local-sgd"});
    if (made.value("inner", Json(is_sgd_by_default ? "sgd" : "adamw")) == "sgd")
        drop(made, {"beta1", "beta2", "epsilon"});
    else if (is_sgd_by_default && made.contains("optimizer"))
        drop(made["optimizer"], {"nesterov", "clip"});
    if (made.contains("outer")) mend_outer(kind, made);
    if (of_network_ && is_algorithm(kind)) choose_exchange(kind, made);
    if (kind == "collective" && made.at("operation") != "all-reduce") made.erase("all_reduce");
    if (kind == "collective" && made.at("operation") != "all-to-all") made.erase("all_to_all");
    if (kind == "lamb" && made.contains("min_trust") && made.contains("max_trust"))
        made["max_trust"] = made.at("min_trust").get<double>() + 1;
    if (kind == "one-bit-lamb") {
        if (made.contains("min_trust")) made["min_trust"] = real(0, 1);
        if (made.contains("max_trust")) made["max_trust"] = real(1, 20);
        if (made.contains("factor_min")) made["factor_min"] = real(0.1, 1);
        if (made.contains("factor_max")) made["factor_max"] = real(1, 5);
    }
    if (kind == "slowmo") {
        const auto base = made.value("base", std::string("local"));
        const bool has_neighbors = base == "sgp" || base == "dsgd";
        if (has_neighbors)
            need(kind, made, {"mixing"});
        else
            made.erase("mixing");
        if (base != "local-adam") drop(made, {"beta2", "epsilon"});
        if (base == "local" || base == "local-adam" || made.value("buffers", "") == "average")
            made.erase("average");
        if (base == "all-reduce" && made.value("buffers", "") == "average") made.erase("buffers");
    }
    if (kind == "zero" && made.value("shards", "all") != "all") made.erase("rings");
    if (kind == "fedopt") {
        const auto rule = made.value("rule", "adam");
        if (rule == "adagrad" || rule == "momentum") made.erase("beta2");
        if (rule == "momentum") made.erase("tau");
    }
    if (kind == "swarm-sgd") {
        const Json& how = made.contains("exchange") ? made.at("exchange") : Json("exact");
        const bool exact = how == "exact" || (how.is_object() && how.at("kind") == "exact");
        drop(made, {exact ? "coding_step" : "wire"});
    }
    if (is_algorithm(kind)) choose_islands(kind, made);
    mend_islands(made);
    if (is_algorithm(kind)) choose_machines(kind, made);
    if (is_algorithm(kind)) mend_exchange(kind, made);
    if (made.contains("islands") && !is_read(made)) drop(made, {"islands", "inside"});
}

// Few exchanges can go by machine, so those that can often do.
void Generator::choose_machines(const std::string& kind, Json& made) {
    if (per_node_ == 1 || made.contains("islands") || chance(0.3)) return;
    if (!definition(kind).at("properties").contains("aggregation")) return;
    Json by_machine = made;
    Json& aggregation = by_machine["aggregation"];
    if (!aggregation.is_object())
        aggregation =
            Json{{"kind",
                  text({"all-reduce", "all-gather", "two-phase", "servers", "sparse-all-reduce"})}};
    aggregation["machines"] = text({"leaders", "shards"});
    if (aggregation["machines"] == "leaders" && chance(0.7))
        aggregation["inside"] = text({"dense", "encoded"});
    if (is_read(by_machine)) made = std::move(by_machine);
}

// Few clusters can have islands, so those that can often do.
void Generator::choose_islands(const std::string& kind, Json& made) {
    const bool can = per_node_ > 1 || !sites_.is_null();
    const bool must = per_node_ > 1 && traits_of(kind).has_server;
    if (!can || !definition(kind).at("properties").contains("islands")) return;
    if (!must && chance(0.3)) return;
    need(kind, made, {"islands"});
    if (chance(0.8)) need(kind, made, {"inside"});
}

// Islands are of several devices, and what goes by machine is theirs.
void Generator::mend_islands(Json& made) {
    if (made.contains("islands") && made.contains("aggregation") && chance(0.8))
        made["aggregation"] = "all-reduce";
    if (made.contains("islands") && !is_read(made)) drop(made, {"schedule", "aggregation"});
    if (made.contains("islands") && !is_read(made)) made.erase("codec");
    if (made.contains("islands") && !is_read(made)) drop(made, {"deadline", "over_selection"});
    if (made.contains("islands") && !is_read(made)) made["inside"] = "dense";
    if (made.contains("islands") && !is_read(made)) made["islands"] = "machine";
    if (!made.contains("islands") || !is_read(made)) drop(made, {"islands", "inside"});
}

// --- parts ---

void Generator::choose_surroundings() {
    fabric_nodes_ = chance(0.08) ? 1 : whole(2, 12);
    if (of_network_) fabric_nodes_ = whole(2, chance(0.6) ? 6 : 16);
    if (chance(0.25)) fabric_nodes_ = 1 << whole(0, 3);
    if (chance(of_network_ ? 0.08 : 0.15)) {
        per_node_ = whole(2, 4);
        fabric_nodes_ = std::min(fabric_nodes_, 4);
    }
    nodes_ = fabric_nodes_;
    workers_ = nodes_ * per_node_;
    if (chance(of_network_ ? 0.15 : 0.3 * richness_) && fabric_nodes_ > 2) {
        placement_ = subset(fabric_nodes_);
        nodes_ = static_cast<int>(placement_.size());
        workers_ = nodes_ * per_node_;
    }
}

Json Generator::subset(int nodes) {
    std::vector<int> all(static_cast<std::size_t>(nodes));
    std::iota(all.begin(), all.end(), 0);
    for (std::size_t i = all.size(); i > 1; --i)
        std::swap(all[i - 1], all[static_cast<std::size_t>(whole(0, static_cast<int>(i) - 1))]);
    all.resize(static_cast<std::size_t>(whole(1, nodes)));
    return all;
}

Json Generator::nodes_list(int nodes) {
    if (chance(0.3)) return nodes > 1 ? text({"all", "even", "odd"}) : "all";
    if (chance(0.5)) return subset(nodes);
    const int from = whole(0, nodes - 1);
    Json range{{"from", from}, {"to", whole(from, nodes - 1)}};
    if (maybe()) range["step"] = whole(1, nodes);
    return range;
}

Json Generator::fabric() {
    fabric_kind_ = !of_network_ && chance(0.45) ? "star" : pick(kinds_of("fabric"));
    if (fabric_kind_ == "graph") return graph();
    if (fabric_kind_ == "regions") return regions();
    return object(fabric_kind_, definition(fabric_kind_));
}

// Regions of any sizes, with one value for all pairs or a matrix.
Json Generator::regions() {
    const int count = whole(1, std::min(fabric_nodes_, 4));
    const auto of_pairs = [&](auto draw) {
        if (chance(0.4)) return Json(draw());
        Json rows = Json::array();
        for (int from = 0; from < count; ++from) {
            rows.push_back(Json::array());
            for (int to = 0; to < count; ++to)
                rows.back().push_back(from == to ? Json() : Json(draw()));
        }
        return rows;
    };
    Json made{{"kind", "regions"}, {"regions", Json::array()}};
    made["bandwidth"] = of_pairs([&] { return text({"20Mbps", "0.5Gbps", "1Gbps"}); });
    made["latency"] = of_pairs([&] { return text({"1ms", "15ms", "0s"}); });
    if (maybe()) made["loss"] = of_pairs([&] { return pick({0, 1e-4, 0.01}); });
    if (maybe()) made["overhead"] = duration();
    int left = fabric_nodes_;
    for (int i = count; i > 0; --i) {
        Json one{{"name", fmt::format("r{}", i)}};
        const int nodes = i == 1 ? left : whole(1, left - i + 1);
        if (i > 1 || maybe()) one["nodes"] = nodes;
        if (maybe()) one["link"] = link();
        left -= nodes;
        made["regions"].push_back(one);
    }
    made["link"] = link();
    return made;
}

// A tree of switches with nodes attached, and some additional cables.
Json Generator::graph() {
    Json made{{"kind", "graph"},
              {"link", link()},
              {"switches", Json::array()},
              {"cables", Json::array()}};
    const int switches = of_network_ && chance(0.5) ? 1 : whole(1, 4);
    const auto name = [](int i) { return fmt::format("s{}", i); };
    const auto cable = [&](const Json& a, const Json& b) {
        Json one{{"between", Json::array({a, b})}};
        if (maybe()) one["link"] = link();
        made["cables"].push_back(one);
    };
    for (int i = 0; i < switches; ++i) {
        made["switches"].push_back(name(i));
        if (i > 0) cable(name(whole(0, i - 1)), name(i));
    }
    for (int i = 0; i < fabric_nodes_; ++i) cable(name(whole(0, switches - 1)), i);
    if (maybe() && fabric_nodes_ > 1) cable(0, fabric_nodes_ - 1);
    if (of_network_ && fabric_nodes_ > 1 && chance(0.7)) add_cables_between_nodes(made);
    if (maybe()) made["overhead"] = duration();
    return made;
}

// Routes of one hop, beside longer ones of the same nodes.
void Generator::add_cables_between_nodes(Json& graph) {
    const bool all = chance(0.3);
    const double share = real(0, 1);
    for (int i = 0; i < fabric_nodes_; ++i)
        for (int j = i + 1; j < fabric_nodes_; ++j)
            if (all || chance(share))
                graph["cables"].push_back(Json{{"between", Json::array({i, j})}});
}

Json Generator::dims() {
    std::vector<int> extents;
    int left = fabric_nodes_;
    for (const int factor : {2, 3, 5, 7, 11})
        while (left % factor == 0) {
            left /= factor;
            if (!extents.empty() && chance(0.3))
                extents.back() *= factor;
            else
                extents.push_back(factor);
        }
    if (extents.empty()) extents.push_back(1);
    return extents;
}

Json Generator::link() {
    static const Names symmetric = symmetric_presets();
    const bool any_preset = one_of(fabric_kind_, {"star", "cell", "regions"});
    Json made = object("link", definition("link"));
    if (of_network_) need("link", made, {"latency"});
    if (made.contains("preset") && !any_preset) made["preset"] = pick(symmetric);
    if (made.contains("preset") && one_of(made.at("preset").get<std::string>(), {"dial-up", "2g"}))
        made["preset"] = "4g";  // minutes of simulated time, at a rate that pays no loss
    return made;
}

// Tensors that every model has, mostly.
Json Generator::left_out() {
    Json tensors = Json::array();
    for (int i = 0, count = whole(0, 3); i < count; ++i)
        tensors.push_back(chance(0.1) ? Json(text({"one", "one.weight"})) : Json(whole(-2, 1)));
    return tensors;
}

Json Generator::mixing() {
    const Names kinds = definition("mixing").at("properties").at("kind").at("enum").get<Names>();
    std::string kind = pick(kinds);
    const bool power_of_two = std::has_single_bit(static_cast<unsigned>(workers_));
    if (kind.ends_with("hypercube") && !power_of_two) kind = "ring";
    if (kind == "one-peer-inner-outer" && (per_node_ == 2 || workers_ % per_node_ != 0))
        kind = "ring";
    const bool must_stay = one_of(algorithm_kind_, {"choco-sgd", "swarm-sgd"});
    if (must_stay && (kind.starts_with("one-peer") || kind == "random-matching")) kind = "torus";
    if (algorithm_kind_ == "swarm-sgd" && kind == "exponential") kind = "complete";
    Json made{{"kind", kind}};
    if (maybe()) made["lazy"] = chance(0.5);
    if (kind == "explicit" && of_network_ && chance(0.4)) {
        made["in_turn"] = edges_in_turn();
        return made;
    }
    if (kind == "explicit") {
        made["edges"] = edges();
        if (maybe()) made["workers"] = workers_;
        if (maybe()) made["directed"] = false;
    }
    const bool is_rectangle = kind == "grid" || kind == "torus";
    if (is_rectangle && maybe())
        for (int rows = whole(1, workers_); rows >= 1; --rows)
            if (workers_ % rows == 0) {
                made["rows"] = rows;
                break;
            }
    const bool regular = one_of(kind, {"ring", "complete", "hypercube"});
    const bool weighted =
        kind == "explicit" && !made["edges"].empty() && made["edges"].front().size() == 3;
    if (maybe() && !weighted && (regular || is_rectangle || kind == "explicit"))
        made["weights"] = regular ? text({"metropolis", "uniform"}) : "metropolis";
    return made;
}

// A path and some additional edges, with weights on request that are small enough for every row.
Json Generator::edges() {
    std::set<std::pair<int, int>> pairs;
    for (int i = 1; i < workers_; ++i) pairs.emplace(whole(0, i - 1), i);
    if (workers_ > 2 && maybe()) pairs.emplace(0, workers_ - 1);
    const bool weighted = chance(0.3);
    Json made = Json::array();
    for (const auto& [i, j] : pairs) {
        made.push_back(Json::array({i, j}));
        if (weighted) made.back().push_back(0.9 / workers_);
    }
    return made;
}

Json Generator::edges_in_turn() {
    Json made = Json::array();
    for (int i = whole(1, 3); i > 0; --i) made.push_back(Json{{"edges", edges()}});
    return made;
}

// Any that goes here. "library" is what the cluster's library says, and mostly it says nothing.
std::string Generator::name_of_all_reduce() {
    static const Names names = definition("all_reduce").at("oneOf").at(0).at("enum").get<Names>();
    const bool own_nodes = one_of(fabric_kind_, {"star", "cell"}) && per_node_ == 1;
    const std::string name = pick(names);
    if (name == "library" && has_nccl_) return name;
    return name == "library" || (name == "parameter-server" && !own_nodes) ? "ring" : name;
}

// What needs cards or a switch is mended when the cluster has been drawn.
void Generator::mend_nccl(Json& made) {
    const auto forced = made.value("algorithm", "");
    const bool in_machines = one_of(forced, {"nvls", "nvls-tree"});
    const bool between = one_of(forced, {"nvls-tree", "collnet-direct", "collnet-chain"});
    if ((in_machines && per_node_ == 1) || (between && nodes_ == 1) ||
        (forced == "collnet-direct" && per_node_ == 1))
        made["algorithm"] = text({"ring", "tree"});
    else if (in_machines)
        made["nvls"] = true;
    else if (between)
        made["collnet"] = true;
    if (made.contains("nvls") && per_node_ == 1) made["nvls"] = false;
    if (made.value("nvls", false)) made["gpus"] = text({"hopper", "blackwell"});
    if (forced == "collnet-direct") made["link"] = "nvlink";
}

void Generator::mend_library(Json& cluster) {
    const Json::json_pointer sums("/library/sums");
    if (cluster.contains(sums) && chance(0.7)) cluster["library"].erase("sums");
    const Json::json_pointer forced("/library/all_reduce/algorithm");
    if (!cluster.contains(forced)) return;
    const auto algorithm = cluster.at(forced).get<std::string>();
    const bool has_switch =
        cluster.contains("bus") && cluster["bus"].value("kind", "") == "switched";
    if ((algorithm == "nvls-tree" && !cluster.contains("nics")) ||
        (algorithm == "collnet-direct" && !has_switch))
        cluster["library"]["all_reduce"].erase("algorithm");
}

Json Generator::all_reduce_of_library() {
    has_nccl_ = chance(0.5);
    return has_nccl_ ? object("nccl", definition("nccl")) : all_reduce();
}

Json Generator::all_reduce() {
    const bool own_nodes = one_of(fabric_kind_, {"star", "cell"}) && per_node_ == 1;
    if (per_node_ > 1 && chance(0.15))
        return object("ring-all-reduce", definition("ring-all-reduce"));
    if (of_network_ && chance(0.6))
        return text({"ring", "recursive-doubling", "halving-doubling", "tree"});
    if (of_network_ && chance(0.4)) return name_of_all_reduce();
    if (chance(0.25)) return object("parameter-server", definition("parameter-server"));
    if (chance(0.15)) return object("pipelined-ring", definition("pipelined-ring"));
    if (chance(0.15)) return object("double-tree", definition("double-tree"));
    if (workers_ % per_node_ == 0 && chance(0.1))
        return object("hierarchical", definition("hierarchical"));
    if (chance(0.1)) return object("ring-all-reduce", definition("ring-all-reduce"));
    Names names{"ring", "recursive-doubling", "halving-doubling", "tree", "automatic"};
    if (workers_ % per_node_ == 0) names.emplace_back("hierarchical");
    if (own_nodes) names.emplace_back("parameter-server");
    return pick(names);
}

Json Generator::algorithm() {
    const bool own_node = one_of(fabric_kind_, {"star", "cell"}) && workers_ % per_node_ == 0;
    const AlgorithmTraits& traits = traits_of(algorithm_kind_);
    if (traits.has_server && !own_node) algorithm_kind_ = "dense";
    if (!traits.trains && trains_) algorithm_kind_ = "dgc";
    return object(algorithm_kind_, definition(algorithm_kind_));
}

Json Generator::data_of_files(const std::string& kind) {
    Json made{{"kind", kind}};
    if (kind == "idx") {
        made["train_images"] = made["test_images"] = "images.idx";
        made["train_labels"] = made["test_labels"] = "labels.idx";
    } else if (kind == "cifar-10") {
        made["train"] = Json::array({"cifar.bin"});
        made["test"] = "cifar.bin";
    } else if (kind == "text") {
        made["file"] = "text.txt";
        made["steps"] = whole(2, 5);
        if (maybe()) made["unit"] = text({"words", "characters"});
        if (maybe()) made["vocabulary"] = whole(2, 30);
        if (maybe()) made["test_share"] = real(0.15, 0.4);
    } else {
        of_classes_ = chance(0.5);
        made["file"] = "table.csv";
        made[of_classes_ ? "label" : "target"] = of_classes_ ? "kind" : "y";
        if (maybe()) made["seed"] = whole(0, 5);
        if (maybe()) made["test_share"] = real(0.1, 0.5);
    }
    if (kind != "text" && maybe()) made["standardize"] = chance(0.5);
    if (maybe()) made["partition"] = Json{{"kind", text({"iid", "contiguous"})}};
    if (kind == "csv" && workers_ <= 5 && maybe())
        made["partition"] = Json{{"kind", "column"}, {"column", "whose"}};
    return made;
}

// Samples from a file, or generated ones; classes by default.
Json Generator::data() {
    static const Names kinds = kinds_of("data");
    const std::string kind = pick(kinds);
    of_classes_ = kind != "linear-regression";
    if (one_of(kind, {"idx", "cifar-10", "text", "csv"})) return data_of_files(kind);
    Json made = object("data-" + kind, definition("data-" + kind));
    for (const char* key : {"train", "test", "rows", "test_rows"})
        if (definition("data-" + kind).at("properties").contains(key))
            made[key] =
                std::string_view(key).starts_with("test") ? whole(1, 20) : whole(workers_, 60);
    if (kind == "digits") made["size"] = 4 * whole(2, 3);
    if (kind == "gaussian-mixture") made["classes"] = 2, made["components"] = whole(2, 5);
    if (kind == "artificial-language")
        made["vocabulary"] = whole(5, 30), made["word_classes"] = whole(1, 5),
        made["steps"] = whole(1, 5);
    made.erase("partition");
    if (maybe()) {
        made["partition"] = object("partition", definition("partition"));
        if (kind == "linear-regression" || kind == "artificial-language")
            made["partition"] = Json{{"kind", text({"iid", "contiguous"})}};
    }
    return made;
}

Json Generator::model(const std::string& data) {
    const bool images = one_of(data, {"digits", "idx", "cifar-10"});
    Names kinds{"softmax-regression", "mlp"};
    if (images) kinds = {"softmax-regression", "mlp", "cnn", "resnet"};
    if (one_of(data, {"text", "artificial-language"})) kinds = {"lstm", "transformer"};
    if (!of_classes_) kinds = {"linear-regression"};
    const std::string kind = pick(kinds);
    Json made{{"kind", kind}};
    if (kind == "mlp") {
        made["hidden"] = Json::array();
        for (int i = whole(0, 2); i > 0; --i) made["hidden"].push_back(whole(1, 12));
    } else if (kind == "cnn") {
        made["channels"] = Json::array({whole(1, 4)});
        if (maybe()) made["channels"].push_back(whole(1, 4));
    } else if (kind == "resnet") {
        made["groups"] = whole(1, 2);
        made["width"] = 2 * whole(1, 2);
        if (maybe()) made["blocks"] = whole(1, 2);
    } else if (kind == "lstm") {
        made["hidden"] = whole(1, 6);
        if (maybe()) made["embedding"] = whole(1, 6);
        if (maybe()) made["layers"] = whole(1, 2);
        if (maybe() && !made.contains("embedding")) made["tied"] = chance(0.5);
    } else if (kind == "transformer") {
        const int heads = whole(1, 2);
        made["heads"] = heads;
        made["width"] = heads * whole(1, 3);
        if (maybe()) made["inner"] = whole(1, 6);
        if (maybe()) made["layers"] = whole(1, 2);
        if (maybe()) made["tied"] = chance(0.5);
    } else if (kind == "linear-regression" && maybe()) {
        made["bias"] = chance(0.5);
    }
    return made;
}

// One of the ways to state how long a gradient takes. An empty profile means a net that trains.
void Generator::add_time(Json& workload, const std::string& profile) {
    const std::string plain = per_node_ > 1 ? "gradient_time" : "step_time";
    if (profile.ends_with(".json") || profile == "gradient" || !maybe()) {
        workload[maybe() ? "gradient_time" : plain] = duration();
        return;
    }
    const bool has_batch = workload.contains("batch");
    if (!profile.empty() && chance(0.5)) {
        const std::string file = fmt::format("models/profiles/{}.json", profile);
        const Json rows = parse_json(resource(file), file).value("throughput", Json::array());
        if (!rows.empty()) {
            const Json& row =
                rows[static_cast<std::size_t>(whole(0, static_cast<int>(rows.size()) - 1))];
            workload["device"] = row.at("device");
            workload["batch"] = row.value("batch", 4);
            if (row.contains("precision")) workload["precision"] = row.at("precision");
            workload.erase("global_batch");
            return;
        }
    }
    if (!has_batch) workload["batch"] = whole(1, 8);
    workload.erase("global_batch");
    const Device device = pick(device_table());
    workload["device"] = device.name;
    workload["efficiency"] = real(0.1, 1);
    if (maybe()) workload["precision"] = name_of(pick(device.peaks).precision);
}

// What a device holds, and which activations of a transformer it keeps.
void Generator::add_memory(Json& workload, const std::string& profile) {
    if (maybe()) workload["device_memory"] = text({"1MB", "16GiB", "80GB"});
    if ((profile.starts_with("gpt2") || profile.starts_with("llama")) && chance(0.7)) {
        workload["recompute"] = text({"none", "selective", "full"});
        if (!workload.contains("global_batch") && !workload.contains("batch"))
            workload["batch"] = whole(1, 4);
    }
}

Json Generator::workload(bool may_train) {
    trains_ = may_train && trains_;
    Json made = Json::object();
    if (maybe()) made["accumulation"] = whole(1, 3);
    if (maybe()) made["update_time"] = duration();
    if (trains_ || chance(0.6)) {
        made["batch"] = whole(1, 6);
        if (maybe()) {
            made.erase("batch");
            made["global_batch"] = whole(1, 4) * workers_ * made.value("accumulation", 1);
        }
    }
    if (trains_) {
        made["data"] = data();
        made["model"] = model(made.at("data").at("kind").get<std::string>());
        if (maybe()) made["sampling"] = text({"passes", "with-replacement"});
        if (!chance(0.2)) {
            add_time(made, "");
            return made;
        }
        const std::string profile = text({"alexnet", "resnet-50", "vgg-16", "profile.json"});
        made["stand_in_for"] = Json{{"profile", profile}};
        if (chance(0.2)) made["stand_in_for"]["device_memory"] = "16GB";
        if (chance(0.1)) {
            made["stand_in_for"] = {{"profile", "gpt2"},
                                    {"step_time", duration()},
                                    {"batch", whole(1, 4)},
                                    {"recompute", text({"none", "selective", "full"})}};
            if (per_node_ > 1) made["stand_in_for"]["gradient_time"] = duration();
            if (per_node_ > 1) made["stand_in_for"].erase("step_time");
            return made;
        }
        add_time(made["stand_in_for"], profile.ends_with(".json") ? profile : "resnet-50");
        if (made["stand_in_for"].contains("efficiency") && !profile.ends_with(".json")) {
            made["stand_in_for"]["device"] = "p100";
            made["stand_in_for"].erase("precision");
        }
        return made;
    }
    if (chance(0.5)) {
        made["gradient"] = text({"4B", "400B", "4kB", "64KiB", "1MB", "20MB", "1.5e6B"});
        add_time(made, "gradient");
        if (maybe()) made["dataset_samples"] = whole(1, 100);
        if (of_network_ && made["gradient"] != "4B" && chance(0.3)) made["tensors"] = whole(1, 6);
        return made;
    }
    Names profiles{"profile.json"};
    for (const std::string_view name : profile_names()) profiles.emplace_back(name);
    const std::string profile = pick(profiles);
    made["profile"] = profile;
    add_time(made, profile);
    return made;
}

Json Generator::stop() {
    Json made{{"iterations", whole(1, 6)}, {"time", text({"50ms", "2s", "20s"})}};
    if (trains_ && maybe()) made["target_loss"] = real(0.1, 2);
    if (trains_ && maybe()) made["target_test_loss"] = real(0.1, 2);
    if (trains_ && of_classes_ && maybe()) made["target_accuracy"] = real(0.1, 1);
    if (chance(0.5)) made.erase("time");
    if (trains_ && maybe()) made["epochs"] = real(0.1, 2);
    return made;
}

// One process that changes the links of some nodes, and outages of arbitrary nodes.
Json Generator::access() {
    Json made = Json::array();
    if (chance(0.7)) {
        const std::string kind = text({"access-trace", "access-on-off"});
        made.push_back(object(kind, definition(kind)));
    }
    if (chance(0.5) || made.empty())
        made.push_back(object("access-outages", definition("access-outages")));
    return made;
}

Json Generator::background() {
    Json made = Json::array();
    for (int i = whole(0, 2); i > 0; --i) {
        const std::string kind = text({"background-constant", "background-on-off"});
        Json one = object(kind, definition(kind));
        const Json ends = [&] {
            Json two = subset(fabric_nodes_);
            while (two.size() < 2) two = subset(fabric_nodes_);
            return two;
        }();
        one["from"] = ends[0];
        one["to"] = ends[1];
        if (one.contains("message")) one["message"] = "1MB";  // many small messages would take long
        made.push_back(one);
    }
    return made;
}

Json Generator::schedule_of_absences() {
    Json made = Json::array();
    const Json who = subset(nodes_);
    for (const Json& node : who) {
        made.push_back(Json{{"node", node}, {"at", text({"0s", "1ms", "30ms"})}});
        if (chance(0.7)) made.back()["for"] = duration();
    }
    return made;
}

// Other jobs need other settings; those of the main job are restored at the end.
Json Generator::other_jobs() {
    Json made = Json::array();
    const Generator before = *this;
    for (int i = 0; i < whole(0, 2); ++i) {
        trains_ = false;
        const Json where = subset(fabric_nodes_);
        nodes_ = static_cast<int>(where.size());
        workers_ = nodes_ * per_node_;
        algorithm_kind_ = pick(kinds_of("algorithm"));
        Json job{{"label", fmt::format("job {}", i)}, {"nodes", where}};
        job["workload"] = workload(false);
        job["algorithm"] = algorithm();
        if (maybe()) job["stop"] = Json{{"iterations", whole(1, 5)}};
        made.push_back(job);
    }
    const RandomStream stream = stream_;
    *this = before;
    stream_ = stream;
    return made;
}

Json Generator::sweep() {
    if (chance(0.5)) return Json{{"seed", {1, 2}}};
    return Json{{"stop.iterations", {1, 3}}};
}

// Leaves some first steps out of the rates, and leaves some in.
void Generator::skip_steps(Json& made) {
    if (!chance(0.2)) return;
    if (made.contains("sweep")) made.erase("sweep");
    made["measure"]["skip"] = whole(1, 3);
    made["stop"] = Json{{"iterations", whole(4, 6)}};
}

// Energy has a price where machines have a power, and a list price where a device has one.
void Generator::mend_money(Json& made) {
    if (made.contains("power") && !made["power"].contains("computing"))
        made["power"]["computing"] = real(0, 1000);
    if (!made.contains("price")) return;
    if (!made.contains("power")) made["price"].erase("per_kwh");
    if (made["price"].value("per_device_hour", Json(0)) == "list" &&
        made["workload"].value("device", Json("")) != "v100")
        made["price"]["per_device_hour"] = real(0, 10);
    if (made["workload"].value("device", Json("")) == "v100")
        made["price"]["per_device_hour"] = "list";
}

// Runs each job alone as well, and compares workers.
void Generator::compare(Json& made) {
    const bool shares = made.contains("other_jobs") || made["cluster"].contains("background");
    if (shares && chance(0.3)) made["measure"]["alone"] = true;
    if (chance(0.1)) made["measure"]["spread"] = true;
    if (chance(0.03)) made["measure"]["interval"] = true;
    if (chance(0.01)) made["measure"]["draws"] = Json::array({Json{{"workload.accumulation", 1}}});
}

// Adds what disturbs exchanges, where it goes with the rest.
void Generator::disturb(Json& cluster) {
    for (const auto& [key, probability] :
         std::initializer_list<std::pair<const char*, double>>{{"stragglers", 0.25},
                                                               {"compute_jitter", 0.15},
                                                               {"background", 0.12},
                                                               {"access", 0.3},
                                                               {"failures", 0.15}})
        if (allowed("cluster", key) && chance(probability)) need("cluster", cluster, {key});
}

// Half of those whose network varies are collectives, or exchange by a mixing.
std::string Generator::any_algorithm() {
    static const Names kinds = kinds_of("algorithm");
    if (!of_network_ || chance(0.5)) return pick(kinds);
    if (chance(0.6)) return "collective";
    Names with_mixing;
    for (const std::string& kind : kinds)
        if (definition(kind).at("properties").contains("mixing")) with_mixing.push_back(kind);
    return pick(with_mixing);
}

// What one class of nodes says. It may be refused: not all fabrics have links of nodes, and not all
// workloads a time of other batches.
Json Generator::node_class(const Json& made) {
    const Json& workload = made.at("workload");
    const bool has_bus = made.at("cluster").contains("bus");
    Json one = Json::object();
    if (maybe()) one["link"] = link();
    if (maybe()) one["device_memory"] = text({"1MB", "16GB"});
    if (maybe() && per_node_ > 1) {
        one["devices_per_node"] = whole(1, per_node_ + 1);
        if (one["devices_per_node"] > 1) {
            if (maybe()) one["bus"] = object("bus", definition("bus"));
            if (maybe()) one["nics"] = 1;
        }
    }
    if (maybe() && workload.contains("device") && workload.contains("efficiency")) {
        one["device"] = pick(device_table()).name;
        one["efficiency"] = real(0.1, 1);
        if (chance(0.3)) one["precision"] = "fp32";
    } else {
        const bool by_sample = workload.contains("batch") && maybe();
        one[has_bus ? "gradient_time" : "step_time"] =
            by_sample ? Json{{"floor", duration()}, {"per_sample", duration()}} : Json(duration());
    }
    if (workload.contains("batch") && workload.at("batch").is_number() && maybe())
        one["batch"] = whole(1, 8);
    return one;
}

// One or two levels above the machine: groups of neighbors, or of nodes that are dealt out.
Json Generator::sites() {
    const int size = whole(1, 3);
    const int fine = (fabric_nodes_ - 1) / size + 1;
    const int coarse = whole(1, std::min(fine, 3));
    Json groups = Json::array();
    for (int i = 0; i < coarse; ++i) groups.push_back(Json::array());
    for (int node = 0; node < fabric_nodes_; ++node)
        groups[static_cast<std::size_t>(node / size % coarse)].push_back(node);
    const Json above{{"level", "site"}, {"groups", groups}};
    if (chance(0.3)) return Json::array({above});
    Json levels = Json::array({Json{{"level", "rack"}, {"size", size}}});
    if (chance(0.6)) levels.push_back(above);
    return levels;
}

Json Generator::island_level() {
    if (!sites_.is_null() && chance(0.5)) return sites_.front().at("level");
    return text({"machine", "machine", "device"});
}

// The machine, the levels of the sites, or both. It may be refused: shards need groups of one size.
Json Generator::exchange_levels() {
    Json levels = Json::array();
    const auto add = [&](const Json& level) {
        if (levels.empty() || chance(0.6))
            levels.push_back(Json{{"level", level}, {"by", text({"leaders", "shards"})}});
    };
    if (per_node_ > 1 && chance(0.7)) add("machine");
    if (!sites_.is_null())
        for (const Json& one : sites_) add(one.at("level"));
    if (levels.empty()) add("machine");
    return levels.size() == 1 && chance(0.5) ? levels.front() : levels;
}

// Nodes that differ from the others, and batches by speed.
void Generator::add_classes(Json& made) {
    Json& cluster = made["cluster"];
    if (cluster.contains("devices") || cluster.contains("placement") ||
        made.contains("other_jobs") || nodes_ < 2)
        return;
    Json& workload = made["workload"];
    Json one = node_class(made);
    if (chance(0.2))
        one["share"] = real(0.1, 1);
    else
        one["nodes"] = Json::array({0});
    cluster["classes"] = Json::array({one});
    if (maybe() && !one.contains("share")) {
        cluster["classes"].push_back(node_class(made));
        cluster["classes"].back()["nodes"] = Json::array({nodes_ - 1});
    }
    if (trains_ && maybe()) workload["weigh"] = text({"workers", "samples"});
    if (!trains_ || !workload.contains("global_batch") || maybe()) return;
    workload["batch"] = "by speed";
    for (const char* key : {"step_time", "gradient_time"})
        if (workload.contains(key))
            workload[key] = Json{{"floor", duration()}, {"per_sample", "1ms"}};
}

Json Generator::scenario() {
    choose_surroundings();
    trains_ = chance(of_network_ ? 0.1 : 0.5);
    algorithm_kind_ = any_algorithm();
    Json described = definition("cluster");
    described.update(Json(described.at("anyOf").back()));  // the one without a testbed
    described.erase("anyOf");
    for (const char* key : {"testbed", "classes", "sites"}) described.at("properties").erase(key);
    Json cluster = object("cluster", described);
    if (chance(0.4)) cluster["sites"] = sites_ = sites();
    if (of_network_) disturb(cluster);
    if (!placement_.is_null() && !cluster.contains("devices")) cluster["placement"] = placement_;
    cluster.erase("devices");
    cluster["nodes"] = fabric_nodes_;
    if (per_node_ > 1) {
        cluster["devices_per_node"] = per_node_;
        if (!cluster.contains("bus")) cluster["bus"] = object("bus", definition("bus"));
        if (placement_.is_null() && chance(0.3)) {
            cluster.erase("nodes");
            cluster["devices"] = workers_;
        }
    }
    mend_library(cluster);
    if (cluster.contains("nics")) cluster["fabric"].erase("other_links");
    if ((cluster.contains("nics") || cluster.contains("access")) && cluster.contains("transport"))
        cluster["transport"].erase("host_rate");
    if (cluster.contains("transport") && cluster["transport"].contains("message_cost"))
        cluster["fabric"].erase("overhead");
    const bool moves = cluster.contains("failures") || cluster.contains("access") ||
                       cluster.contains("background");
    Json made{{"cluster", cluster}};
    made["workload"] = workload(true);
    made["algorithm"] = algorithm();
    made["stop"] = stop();
    if (trains_) {
        made["optimizer"] = object("optimizer", definition("optimizer"));
        if (made["algorithm"].value("inner", Json("sgd")) != "sgd")
            drop(made["optimizer"], {"nesterov", "clip"});
        if (chance(0.6)) made["measure"] = object("measure", definition("measure"));
    }
    if (!trains_ && made["algorithm"].contains("optimizer")) made["algorithm"].erase("optimizer");
    if (fabric_nodes_ > 1 && chance(of_network_ ? 0.2 : 0.4 * richness_))
        made["other_jobs"] = other_jobs();
    for (const char* key : {"$schema", "version", "title", "seed", "price", "power", "sweep"})
        if (maybe()) made[key] = property("", key);
    mend_money(made);
    if (made["workload"].contains("profile"))
        add_memory(made["workload"], made["workload"]["profile"].get<std::string>());
    if (moves || made.contains("other_jobs")) made["stop"]["time"] = text({"50ms", "1s"});
    if (made["workload"].contains("batch") && maybe()) {
        made["stop"]["samples"] = whole(1, 200);
        const std::string profile = made["workload"].value("profile", "");
        if (profile.starts_with("gpt2") || profile.starts_with("bert"))
            made["stop"]["tokens"] = whole(1, 200'000);
    }
    if (!cluster.contains("failures")) skip_steps(made);
    compare(made);
    if (chance(of_network_ ? 0.2 : 0.3 * richness_)) add_classes(made);
    return made;
}

Json Generator::fabric_of(int nodes) {
    nodes_ = workers_ = fabric_nodes_ = nodes;
    return fabric();
}

Json Generator::algorithm_of(const RandomAlgorithm& what) {
    nodes_ = fabric_nodes_ = what.nodes;
    per_node_ = what.devices_per_node;
    workers_ = nodes_ * per_node_;
    fabric_kind_ = what.fabric;
    trains_ = what.trains;
    algorithm_kind_ = what.kind;
    Json made = algorithm();
    if (!trains_) made.erase("optimizer");
    return made;
}

// --- coverage ---

template <class Visit>
void visit_values(const std::string& place, const Json& node, Visit visit) {
    if (node.contains("const")) visit(place, node.at("const"));
    for (const Json& one : node.value("enum", Json::array())) visit(place, one);
    for (const char* list : {"oneOf", "anyOf", "allOf"})
        for (const Json& one : node.value(list, Json::array())) visit_values(place, one, visit);
}

std::string with_value(const std::string& place, const Json& value) {
    return place + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
}

// Returns whether a schema of kinds, one or several, has a value.
bool has_kind(const Json& schema, const Json& value) {
    if (schema.contains("const")) return schema.at("const") == value;
    const Json all = schema.value("enum", Json::array({value}));
    return std::ranges::find(all, value) != all.end();
}

// Records which definition an object of a scenario has; its kind chooses among alternatives.
void note(const std::string& place, const Json& node, const Json& value,
          std::set<std::string>& seen) {
    if (node.contains("$ref"))
        return note(name_behind(node), definition(name_behind(node)), value, seen);
    for (const char* list : {"oneOf", "anyOf", "allOf"})
        for (const Json& one : node.value(list, Json::array())) {
            if (!one.contains("$ref")) {
                note(place, one, value, seen);
                continue;
            }
            const Json& target = definition(name_behind(one));
            const Json kind = target.value("properties", Json::object()).value("kind", Json());
            const bool other_kind = value.is_object() && !kind.is_null() &&
                                    !has_kind(kind, value.value("kind", Json()));
            if (!other_kind) note(name_behind(one), target, value, seen);
        }
    if (node.contains("const") || node.contains("enum")) {
        if (value.is_primitive()) seen.insert(with_value(place, value));
        return;
    }
    if (value.is_object() && node.contains("properties"))
        for (const auto& [key, below] : value.items()) {
            const auto property = node.at("properties").find(key);
            if (property == node.at("properties").end()) continue;
            const std::string name = place.empty() ? key : fmt::format("{}.{}", place, key);
            seen.insert(name);
            note(name, *property, below, seen);
        }
    if (value.is_array() && node.contains("items") && node.at("items").is_object())
        for (const Json& one : value) note(place, node.at("items"), one, seen);
}

}  // namespace

Json random_scenario(std::uint64_t seed, Emphasis emphasis) {
    return Generator(seed, emphasis).scenario();
}

bool has_access_links(std::string_view fabric) {
    return one_of(fabric, {"star", "cell", "leaf-spine", "fat-tree", "dumbbell", "regions"});
}

Json random_fabric(int nodes, std::uint64_t seed) {
    return Generator(seed, Emphasis::network).fabric_of(nodes);
}

Json random_algorithm(const RandomAlgorithm& what, std::uint64_t seed) {
    return Generator(seed, what.emphasis).algorithm_of(what);
}

std::set<std::string> schema_nodes() {
    std::set<std::string> all;
    const auto add = [&all](const std::string& place, const Json& node) {
        if (!node.contains("properties")) return;
        for (const auto& [key, property] : node.at("properties").items()) {
            const std::string name = place.empty() ? key : fmt::format("{}.{}", place, key);
            all.insert(name);
            visit_values(name, property, [&all](const std::string& where, const Json& value) {
                all.insert(with_value(where, value));
            });
        }
    };
    add("", scenario_schema());
    for (const auto& [name, node] : scenario_schema().at("definitions").items()) {
        add(name, node);
        visit_values(name, node, [&all](const std::string& where, const Json& value) {
            all.insert(with_value(where, value));
        });
    }
    return all;
}

std::set<std::string> schema_nodes_of(const Json& scenario) {
    std::set<std::string> seen;
    note("", scenario_schema(), scenario, seen);
    return seen;
}

namespace {

std::string big_endian(std::uint32_t number) {
    std::string bytes;
    for (const unsigned shift : {24U, 16U, 8U, 0U})
        bytes += static_cast<char>(static_cast<unsigned char>(number >> shift));
    return bytes;
}

std::string some_bytes(std::size_t count) {
    std::string bytes;
    std::uint32_t state = 1;
    while (bytes.size() < count) {
        state = state * 1664525 + 1013904223;
        bytes += static_cast<char>(static_cast<unsigned char>(state >> 24U));
    }
    return bytes;
}

std::string table_of_numbers() {
    std::string text = "a,b,kind,y,whose\n";
    for (int i = 0; i < 40; ++i)
        text +=
            fmt::format("{},{},{},{},{}\n", i % 7, 0.5 * (i % 5), i % 3, 0.1 * (i % 9) - 1, i / 8);
    return text;
}

std::string words() {
    std::string text;
    for (int i = 0; i < 60; ++i)
        text += fmt::format("w{} v{} the{}", i % 7, i % 11, i % 5 == 0 ? "\n" : " ");
    return text;
}

std::string labelled_images() {
    std::string records;
    for (int i = 0; i < 20; ++i) records += static_cast<char>(i % 10) + some_bytes(3072);
    return records;
}

}  // namespace

std::map<std::string, std::string> companions() {
    constexpr std::uint32_t images = 24;
    std::string labels;
    for (std::uint32_t i = 0; i < images; ++i) labels += static_cast<char>(i % 4);
    return {
        {"images.idx", big_endian(0x803) + big_endian(images) + big_endian(8) + big_endian(8) +
                           some_bytes(std::size_t{images} * 64)},
        {"labels.idx", big_endian(0x801) + big_endian(images) + labels},
        {"cifar.bin", labelled_images()},
        {"text.txt", words()},
        {"table.csv", table_of_numbers()},
        {"link.csv", "time_s,up_mbps,down_mbps\n0,100,200\n0.01,5,8.5\n0.3,0,50\n0.5,90,90\n"},
        {"packets.down", "1\n1\n2\n5\n5\n40\n41\n90\n"},
        {"packets.up", "0\n3\n10\n33\n"},
        {"cooked.down", "0 1\n0.05 20\n0.2 0\n0.7 3.5\n"},
        {"absences.csv", "node,leaves_s,returns_s\n0,0.02,0.05\n0,0.2,0.21\n0,3,4.5\n"},
        {"flapping.csv",
         "node,leaves_s,returns_s\n0,0.001,0.004\n0,0.004,0.0045\n1,0.0035,0.0041\n"
         "1,0.007,0.0071\n0,0.009,0.015\n1,0.0095,0.016\n"},
        {"dead.csv", "time_s,up_mbps,down_mbps\n0,1000,1000\n0.02,0,0\n"},
        {"profile.json",
         R"({"name": "small", "source": "made up", "dataset": {"name": "none", "samples": 64},
  "layers": [{"name": "one", "macs": 1000, "tensors": [{"name": "weight", "shape": [40, 30]},
                                                       {"name": "bias", "shape": [40]}]},
             {"name": "two", "macs": 400, "tensors": [{"name": "weight", "shape": [10, 40]}]}],
  "throughput": [{"device": "k80", "batch": 4, "samples_per_s": 100, "source": "made up"}]})"},
        {"measured.json",
         R"({"name": "measured", "source": "made up", "batch": 4,
  "layers": [{"name": "one", "macs": 1000, "forward": "1ms", "backward": "1.5ms",
              "tensors": [{"name": "weight", "shape": [40, 30]}, {"name": "bias", "shape": [40]}]},
             {"name": "relu", "macs": 0, "forward": "20us", "backward": "0s", "tensors": []},
             {"name": "two", "macs": 400, "forward": "0.3ms", "backward": "500us",
              "tensors": [{"name": "weight", "shape": [10, 40]}]}]})"},
    };
}

void write_companions(const std::filesystem::path& folder) {
    for (const auto& [name, content] : companions())
        std::ofstream(folder / name, std::ios::binary) << content;
}

}  // namespace paceline

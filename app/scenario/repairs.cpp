#include "app/scenario/repairs.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/printable.hpp"

namespace paceline {

namespace {

// Scenarios that train nothing, and scenarios that train, on the same clusters. The first of each
// is the plainest. The others differ from it, and from one another, wherever they can, so that
// hardly any fault that depends on something is there with all of them.
constexpr std::string_view clusters = R"([
    {"nodes": 4, "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps"}}},
    {"nodes": 64, "fabric": {"kind": "star", "link": {"bandwidth": "100Gbps", "latency": "50us"}}},
    {"nodes": 6, "devices_per_node": 4,
     "bus": {"kind": "switched", "link": {"preset": "pcie-3.0-x16"}},
     "compute_jitter": {"kind": "log-normal", "sigma": 0.2},
     "stragglers": {"factor": 3, "nodes": [1]},
     "fabric": {"kind": "leaf-spine", "hosts_per_leaf": 3, "spines": 2,
                "link": {"preset": "10GbE-tcp"}}},
    {"nodes": 2, "fabric": {"kind": "ring", "link": {"preset": "10GbE-tcp"}}}])";
constexpr std::string_view timing = R"([
    {"workload": {"gradient": "4MB", "step_time": "5ms", "batch": 32, "dataset_samples": 100000},
     "algorithm": {"kind": "dense"}, "stop": {"iterations": 100}},
    {"workload": {"gradient": "400MB", "step_time": "500ms", "batch": 8,
                  "dataset_samples": 10000000},
     "algorithm": {"kind": "sgd"}, "stop": {"iterations": 100000}},
    {"workload": {"profile": "resnet-50", "gradient_time": "50us", "batch": 1},
     "algorithm": {"kind": "dsgd", "mixing": {"kind": "ring"}},
     "measure": {"skip": 2}, "price": {"up_per_gb": 1}, "stop": {"epochs": 3}}])";
constexpr std::string_view training = R"([
    {"workload": {"model": {"kind": "softmax-regression"},
                  "data": {"kind": "gaussian-mixture", "train": 2000, "test": 500},
                  "batch": 32, "step_time": "5ms"},
     "optimizer": {"learning_rate": 0.1},
     "algorithm": {"kind": "dense"}, "stop": {"iterations": 100}},
    {"workload": {"model": {"kind": "mlp", "hidden": [16]},
                  "data": {"kind": "digits", "train": 50000, "test": 5000},
                  "batch": 8, "step_time": "500ms"},
     "optimizer": {"learning_rate": 0.01},
     "algorithm": {"kind": "sgd"}, "stop": {"iterations": 100000}},
    {"workload": {"model": {"kind": "lstm"}, "data": {"kind": "artificial-language"},
                  "batch": 1, "gradient_time": "50us"},
     "optimizer": {"learning_rate": 1, "momentum": 0.5},
     "algorithm": {"kind": "dsgd", "mixing": {"kind": "ring"}},
     "measure": {"every": "2 epochs"}, "stop": {"epochs": 3}},
    {"workload": {"model": {"kind": "linear-regression"},
                  "data": {"kind": "linear-regression", "rows": 50, "dimension": 30},
                  "batch": 50, "step_time": "1s"},
     "optimizer": {"learning_rate": 0.5},
     "algorithm": {"kind": "local-sgd"}, "stop": {"time": "100s"}}])";
constexpr std::string_view plain_values = R"([1, 2, 0.5, true, "1ms", "1MB", "1Gbps", "x"])";

std::vector<Json> on_clusters(std::string_view scenarios) {
    static const Json all = Json::parse(clusters);
    auto parsed = Json::parse(scenarios).get<std::vector<Json>>();
    for (std::size_t i = 0; i < parsed.size(); ++i) parsed[i]["cluster"] = all[i];
    return parsed;
}

const std::vector<Json>& without_training() {
    static const std::vector<Json> scenarios = on_clusters(timing);
    return scenarios;
}

const std::vector<Json>& with_training() {
    static const std::vector<Json> scenarios = on_clusters(training);
    return scenarios;
}

// Returns the value of a key or an index; null if there is none.
template <class AnyJson>
AnyJson* step_into(AnyJson& json, const std::string& key) {
    if (json.is_object()) {
        const auto found = json.find(key);
        return found == json.end() ? nullptr : &*found;
    }
    if (!json.is_array() || key.empty() || key.size() > 9) return nullptr;
    if (!std::ranges::all_of(key, [](char c) { return c >= '0' && c <= '9'; })) return nullptr;
    const std::size_t index = std::stoul(key);
    return index < json.size() ? &json[index] : nullptr;
}

bool begins_a_path(std::string_view text, std::string_view path) {
    if (!path.starts_with(text)) return false;
    return path.size() == text.size() || path[text.size()] == '.' || path[text.size()] == '[';
}

// Returns the key with which a path goes on, the longest if several do: keys may have dots.
std::optional<std::string> key_in(const Json& object, std::string_view path) {
    std::optional<std::string> longest;
    for (const auto& [key, value] : object.items())
        if (begins_a_path(printable(key), path) && (!longest || key.size() > longest->size()))
            longest = key;
    return longest;
}

// Adds a member. An object that is there gets what only the other one has.
void add_under(const std::string& name, const Json& value, Json& object) {
    if (!object.contains(name))
        object[name] = value;
    else if (object[name].is_object() && value.is_object())
        for (const auto& [key, inner] : value.items()) add_under(key, inner, object[name]);
}

}  // namespace

const Json* value_at(const Json& json, const std::vector<std::string>& keys) {
    const Json* at = &json;
    for (const std::string& key : keys)
        if (at = step_into(*at, key); at == nullptr) return nullptr;
    return at;
}

Trail trail_of(const Json& scenario, const std::string& path) {
    Trail trail;
    const Json* at = &scenario;
    std::size_t begin = 0;
    while (begin < path.size()) {
        std::string key;
        std::size_t end = 0;
        if (at->is_array() && path[begin] == '[') {
            end = path.find(']', begin);
            if (end == std::string::npos) return trail;
            key = path.substr(begin + 1, end - begin - 1);
            ++end;
        } else {
            if (path[begin] == '.') ++begin;
            const auto found =
                at->is_object() ? key_in(*at, std::string_view(path).substr(begin)) : std::nullopt;
            if (!found) return trail;
            key = *found;
            end = begin + printable(key).size();
        }
        at = step_into(*at, key);
        if (at == nullptr) return trail;
        trail.keys.push_back(std::move(key));
        trail.places.push_back(path.substr(0, end));
        begin = end;
    }
    trail.complete = true;
    return trail;
}

void carry_out(const Repair& repair, Json& scenario) {
    Json* above = &scenario;
    for (std::size_t i = 0; i + 1 < repair.keys.size(); ++i) {
        above = step_into(*above, repair.keys[i]);
        if (above == nullptr) return;
    }
    const std::string& key = repair.keys.back();
    if (above->is_array()) {
        Json* const element = step_into(*above, key);
        if (element != nullptr && repair.value) *element = *repair.value;
    } else if (above->is_object() && repair.value) {
        (*above)[key] = *repair.value;
    } else if (above->is_object() && above->contains(key)) {
        const Json value = std::move(above->at(key));
        above->erase(key);
        if (!repair.name.empty()) add_under(repair.name, value, *above);
    }
}

std::string renamed(const Repair& repair) {
    const std::size_t length = printable(repair.keys.back()).size();
    return repair.place.substr(0, repair.place.size() - length) + repair.name;
}

namespace {

const std::vector<Json>& stand_ins_for(const Json& scenario) {
    const Json* const workload = step_into(scenario, "workload");
    const bool trains = scenario.contains("optimizer") ||
                        (workload != nullptr && workload->is_object() &&
                         (workload->contains("model") || workload->contains("data")));
    return trains ? with_training() : without_training();
}

class Ways {
  public:
    Ways(const Json& scenario, const ConfigError& fault) : scenario_(scenario), fault_(fault) {}

    // Returns the ways to mend this place, the narrowest first.
    std::vector<Repair> at(const std::string& place, bool in_the_scenario) {
        const std::string& missing = fault_.fault().missing;
        const bool lacks = in_the_scenario && !missing.empty();
        Trail trail = trail_of(scenario_, lacks ? fault_.path() : place);
        if (in_the_scenario && trail.complete) add_suggested(trail);
        if (in_the_scenario && trail.complete && fault_.fault().unknown_key) {
            add(trail, nullptr);
            return std::move(ways_);
        }
        if (lacks && trail.complete) {
            trail.keys.push_back(missing);
            trail.places.push_back(place);
        }
        for (bool narrowest = true; !trail.keys.empty(); narrowest = false) {
            add_values(trail);
            if (narrowest && in_the_scenario) add_plain_values(trail);
            add_without(trail);
            trail.keys.pop_back();
            trail.places.pop_back();
        }
        return std::move(ways_);
    }

    // Returns the ways to mend a fault whose place is not known: each section in turn.
    std::vector<Repair> anywhere() {
        for (const char* section : {"workload", "cluster", "algorithm", "stop"})
            add_values({{section}, {section}, true});
        return std::move(ways_);
    }

  private:
    void add(const Trail& trail, std::shared_ptr<const Json> value, std::string name = {}) {
        ways_.push_back({trail.places.back(), trail.keys, std::move(value), std::move(name)});
    }
    void add_value(const Trail& trail, const Json& value) {
        const Json* const now = value_at(scenario_, trail.keys);
        if (now == nullptr || *now != value) add(trail, std::make_shared<const Json>(value));
    }
    const Json& above(const Trail& trail) const {
        return *value_at(scenario_, {trail.keys.begin(), trail.keys.end() - 1});
    }

    bool is_object(const Trail& trail) const {
        return value_at(scenario_, trail.keys)->is_object();
    }

    void add_suggested(const Trail& trail) {
        const std::string& suggestion = fault_.fault().suggestion;
        if (suggestion.empty() || trail.keys.empty()) return;
        if (!fault_.fault().unknown_key && value_at(scenario_, trail.keys)->is_string())
            add_value(trail, suggestion);
        const Json* const other = step_into(above(trail), suggestion);
        const bool mergeable = other == nullptr || (other->is_object() && is_object(trail));
        if (fault_.fault().unknown_key && mergeable) add(trail, nullptr, suggestion);
    }

    void add_values(const Trail& trail) {
        for (const Json& valid : stand_ins_for(scenario_))
            if (const Json* const value = value_at(valid, trail.keys)) add_value(trail, *value);
    }

    void add_without(const Trail& trail) {
        const Json& around = above(trail);
        if (!around.is_array()) {
            if (value_at(scenario_, trail.keys) != nullptr) add(trail, nullptr);
            return;
        }
        for (std::size_t i = 0; i < std::min<std::size_t>(around.size(), 3); ++i)
            add_value(trail, around[i]);
    }

    void add_plain_values(const Trail& trail) {
        static const Json plain = Json::parse(plain_values);
        const auto is_structured = [&](const Json& scenario) {
            const Json* const value = value_at(scenario, trail.keys);
            return value != nullptr && value->is_structured();
        };
        if (is_structured(scenario_) || is_structured(stand_ins_for(scenario_).front())) return;
        const std::size_t known = ways_.size();
        for (const Json& value : plain) add_value(trail, value);
        for (std::size_t i = known; i < ways_.size(); ++i) ways_[i].guessed = true;
    }

    const Json& scenario_;
    const ConfigError& fault_;
    std::vector<Repair> ways_;
};

}  // namespace

std::vector<Repair> ways_to_mend(const Json& scenario, const ConfigError& fault,
                                 const std::string& place, bool in_the_scenario) {
    Ways ways(scenario, fault);
    return place.empty() ? ways.anywhere() : ways.at(place, in_the_scenario);
}

std::vector<Repair> stand_ins_at(const std::string& place) {
    std::vector<Repair> ways;
    for (const auto* const scenarios : {&without_training(), &with_training()})
        for (const Json& valid : *scenarios) {
            const Trail trail = trail_of(valid, place);
            if (trail.keys.empty()) continue;
            ways.push_back({trail.places.back(), trail.keys,
                            std::make_shared<const Json>(*value_at(valid, trail.keys))});
        }
    return ways;
}

}  // namespace paceline

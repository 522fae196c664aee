#include "app/scenario/faults.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/printable.hpp"
#include "app/json/sources.hpp"
#include "app/scenario/sweep.hpp"

namespace paceline {

namespace {

constexpr std::size_t enough_ways = 3;

// Scenarios that train nothing, and scenarios that train. The first of each is the plainest. The
// others differ from it, and from one another, wherever they can, so that hardly any fault that
// depends on something is there with all of them.
constexpr std::string_view timing = R"([
    {"cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps"}}},
     "workload": {"gradient": "4MB", "step_time": "5ms", "batch": 32, "dataset_samples": 100000},
     "algorithm": {"kind": "dense"}, "stop": {"iterations": 100}},
    {"cluster": {"nodes": 64, "fabric": {"kind": "star",
                 "link": {"bandwidth": "100Gbps", "latency": "50us"}}},
     "workload": {"gradient": "400MB", "step_time": "500ms", "batch": 8,
                  "dataset_samples": 10000000},
     "algorithm": {"kind": "sgd"}, "stop": {"iterations": 100000}},
    {"cluster": {"nodes": 6, "devices_per_node": 4,
                 "bus": {"kind": "switched", "link": {"preset": "pcie-3.0-x16"}},
                 "compute_jitter": {"kind": "log-normal", "sigma": 0.2},
                 "stragglers": {"factor": 3, "nodes": [1]},
                 "fabric": {"kind": "leaf-spine", "hosts_per_leaf": 3, "spines": 2,
                            "link": {"preset": "10GbE-tcp"}}},
     "workload": {"profile": "resnet-50", "gradient_time": "50us", "batch": 1},
     "algorithm": {"kind": "dsgd", "mixing": {"kind": "ring"}},
     "measure": {"skip": 2}, "price": {"up_per_gb": 1}, "stop": {"epochs": 3}}])";
constexpr std::string_view training = R"([
    {"cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps"}}},
     "workload": {"model": {"kind": "softmax-regression"},
                  "data": {"kind": "gaussian-mixture", "train": 2000, "test": 500},
                  "batch": 32, "step_time": "5ms"},
     "optimizer": {"learning_rate": 0.1},
     "algorithm": {"kind": "dense"}, "stop": {"iterations": 100}},
    {"cluster": {"nodes": 64, "fabric": {"kind": "star",
                 "link": {"bandwidth": "100Gbps", "latency": "50us"}}},
     "workload": {"model": {"kind": "mlp", "hidden": [16]},
                  "data": {"kind": "digits", "train": 50000, "test": 5000},
                  "batch": 8, "step_time": "500ms"},
     "optimizer": {"learning_rate": 0.01},
     "algorithm": {"kind": "sgd"}, "stop": {"iterations": 100000}},
    {"cluster": {"nodes": 6, "devices_per_node": 4,
                 "bus": {"kind": "switched", "link": {"preset": "pcie-3.0-x16"}},
                 "compute_jitter": {"kind": "log-normal", "sigma": 0.2},
                 "stragglers": {"factor": 3, "nodes": [1]},
                 "fabric": {"kind": "leaf-spine", "hosts_per_leaf": 3, "spines": 2,
                            "link": {"preset": "10GbE-tcp"}}},
     "workload": {"model": {"kind": "lstm"}, "data": {"kind": "artificial-language"},
                  "batch": 1, "gradient_time": "50us"},
     "optimizer": {"learning_rate": 1, "momentum": 0.5},
     "algorithm": {"kind": "dsgd", "mixing": {"kind": "ring"}},
     "measure": {"every": "2 epochs"}, "stop": {"epochs": 3}},
    {"cluster": {"nodes": 2, "fabric": {"kind": "ring", "link": {"preset": "10GbE-tcp"}}},
     "workload": {"model": {"kind": "linear-regression"},
                  "data": {"kind": "linear-regression", "rows": 50, "dimension": 30},
                  "batch": 50, "step_time": "1s"},
     "optimizer": {"learning_rate": 0.5},
     "algorithm": {"kind": "local-sgd"}, "stop": {"time": "100s"}}])";
constexpr std::string_view plain_values = R"([1, 2, 0.5, true, "1ms", "1MB", "1Gbps", "x"])";

struct OutOfReadings {};

// The place of an error within a scenario, as far as the scenario leads there.
struct Trail {
    std::vector<std::string> keys;
    std::vector<std::string> places;  // of each key, as errors name it
    bool complete = false;
};

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

const Json* value_at(const Json& json, const std::vector<std::string>& keys) {
    const Json* at = &json;
    for (const std::string& key : keys)
        if (at = step_into(*at, key); at == nullptr) return nullptr;
    return at;
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

// Adds a member. An object that is there gets what only the other one has.
void add_under(const std::string& name, const Json& value, Json& object) {
    if (!object.contains(name))
        object[name] = value;
    else if (object[name].is_object() && value.is_object())
        for (const auto& [key, inner] : value.items()) add_under(key, inner, object[name]);
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

// Returns where a key would be that a Repair gives another name.
std::string renamed(const Repair& repair) {
    const std::size_t length = printable(repair.keys.back()).size();
    return repair.place.substr(0, repair.place.size() - length) + repair.name;
}

bool same(const ConfigError& a, const ConfigError& b) {
    return a.file() == b.file() && a.path() == b.path() && a.problem() == b.problem();
}

bool at_or_below(const std::string& place, const std::string& above) {
    return leads_to(above, place);
}

// --- where a fault is ---

// Returns what a place is in: "a.b" and "a[1]" are in "a". A section is in the empty place.
std::string around(const std::string& place) {
    const std::size_t end = place.find_last_of(".[");
    return end == std::string::npos ? std::string() : place.substr(0, end);
}

// Returns the place of the text that names a file, empty if there is none.
std::string place_that_names(const std::string& named, const Json& json, const std::string& file,
                             const std::string& place) {
    if (json.is_string()) {
        const std::string name = beside(file, json.get_ref<const std::string&>());
        return named == name || named.starts_with(name + " ") ? place : std::string();
    }
    if (!json.is_structured()) return {};
    std::size_t index = 0;
    for (const auto& [key, value] : json.items()) {
        const std::string dot = place.empty() ? "" : ".";
        const std::string below =
            json.is_array() ? fmt::format("{}[{}]", place, index++) : place + dot + printable(key);
        std::string found = place_that_names(named, value, file, below);
        if (!found.empty()) return found;
    }
    return {};
}

std::string place_of(const ConfigError& error, const Json& scenario, const std::string& file) {
    if (error.file() != file) return place_that_names(error.file(), scenario, file, "");
    const std::string& missing = error.fault().missing;
    if (missing.empty()) return error.path();
    return error.path().empty() ? missing : error.path() + "." + missing;
}

// --- ways to mend ---

const std::vector<Json>& stand_ins_for(const Json& scenario) {
    static const auto without = Json::parse(timing).get<std::vector<Json>>();
    static const auto with = Json::parse(training).get<std::vector<Json>>();
    const Json* const workload = step_into(scenario, "workload");
    const bool trains = scenario.contains("optimizer") ||
                        (workload != nullptr && workload->is_object() &&
                         (workload->contains("model") || workload->contains("data")));
    return trains ? with : without;
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

std::vector<Repair> ways_to_mend(const Json& scenario, const ConfigError& fault,
                                 const std::string& place, const std::string& file) {
    Ways ways(scenario, fault);
    return place.empty() ? ways.anywhere() : ways.at(place, fault.file() == file);
}

// --- reading mended copies ---

std::optional<ConfigError> refusal(const Json& scenario, FaultSearch& search) {
    if (search.readings == 0 || std::chrono::steady_clock::now() > search.end)
        throw OutOfReadings();
    --search.readings;
    try {
        search.read(scenario);
    } catch (const ConfigError& error) {
        return error;
    } catch (const std::exception&) {
        throw OutOfReadings();  // too little memory for a copy, say; the fault of the user stands
    }
    return std::nullopt;
}

// Returns whether a mended copy is refused for something else than the place that was mended in it.
bool leads_on(const MendedPlace& place, const Repair& way, const ConfigError& then,
              const std::string& then_place, const FaultSearch& search) {
    if (same(then, *place.fault)) return false;
    for (const MendedPlace& earlier : search.mended)
        if (earlier.fault && same(then, *earlier.fault)) return false;
    if (then.file() != search.file) {
        if (then.file() == place.fault->file()) return false;
        if (way.value && !place_that_names(then.file(), *way.value, search.file, "x").empty())
            return false;
    }
    if (then_place.empty() || place.place.empty()) return true;
    if (!way.name.empty() && at_or_below(then_place, renamed(way)))
        return then_place != renamed(way);
    if (at_or_below(then_place, place.place) || at_or_below(then_place, way.place)) return false;
    if (place.unknown_key()) return true;
    const bool removed = way.value == nullptr && way.name.empty();
    if (removed && !then.fault().missing.empty() && around(then_place) == around(way.place))
        return false;
    return !at_or_below(place.place, then_place);
}

Json mended_copy(const Json& scenario, const std::vector<MendedPlace>& mended) {
    Json copy = scenario;
    for (const MendedPlace& place : mended)
        if (place.way) carry_out(place.ways[*place.way], copy);
    return copy;
}

// Returns whether a way removes an object or a list, or puts one in place of a value.
bool replaces_structure(const Repair& way, const Json& scenario) {
    const Json* const before = value_at(scenario, way.keys);
    if (before == nullptr || !way.name.empty()) return false;
    return way.value == nullptr ? before->is_structured() : way.value->is_structured();
}

// Mends one place after the other, until a copy is read or there is no way on.
void mend(const Json& scenario, FaultSearch& search) {
    Json copy = mended_copy(scenario, search.mended);
    std::optional<ConfigError> error = refusal(copy, search);
    while (error && search.mended.size() < 2 * most_faults) {
        MendedPlace place{.place = place_of(*error, copy, search.file), .fault = error};
        place.ways = ways_to_mend(copy, *error, place.place, search.file);
        search.mended.push_back(place);
        MendedPlace& last = search.mended.back();
        for (std::size_t w = 0; w < place.ways.size() && !last.way; ++w) {
            Json other = copy;
            carry_out(place.ways[w], other);
            std::optional<ConfigError> then = refusal(other, search);
            const std::string there = then ? place_of(*then, other, search.file) : "";
            if (then && !leads_on(place, place.ways[w], *then, there, search)) continue;
            last.way = w;
            last.structured = replaces_structure(place.ways[w], copy);
            error = std::move(then);
            copy = std::move(other);
        }
        if (!last.way) return;
    }
}

// --- what only follows ---

// Returns when a section is read; 0 for what is in none of these.
std::size_t turn_of(std::string_view place) {
    static constexpr auto in_turn =
        std::to_array<std::string_view>({"cluster", "workload", "algorithm", "stop"});
    const std::span sections(in_turn);
    const std::string_view section = place.substr(0, place.find('.'));
    const auto found = std::ranges::find(sections, section);
    return found == sections.end() ? 0 : 1 + static_cast<std::size_t>(found - sections.begin());
}

// Returns whether a fault is what a repair has left: what is missing now, or what does not go with
// an object in place of another one, or of another kind.
bool is_left_by(const MendedPlace& earlier, const MendedPlace& later) {
    const Repair& way = earlier.ways[*earlier.way];
    const std::string object = around(way.place);
    const bool missing = !later.fault->fault().missing.empty();
    if (way.value == nullptr && missing && around(later.place) == object)
        return !earlier.unknown_key() || later.fault->fault().missing == earlier.suggestion();
    const bool other_kind =
        way.value && way.keys.back() == "kind" && *way.value != Json(earlier.suggestion());
    const bool beside =
        (other_kind && at_or_below(later.place, object)) ||
        (other_kind && !around(object).empty() && at_or_below(later.place, around(object))) ||
        (earlier.structured && !object.empty() && at_or_below(later.place, object));
    // A number for what is missing there is a guess.
    const bool guessed = !earlier.fault->fault().missing.empty() && way.guessed &&
                         !object.empty() && at_or_below(later.place, object);
    // What a section before this one is refused for now is that it does not go with this one.
    const bool back = (other_kind || earlier.structured) && turn_of(later.place) > 0 &&
                      turn_of(later.place) < turn_of(way.place);
    return beside || guessed || back;
}

bool follows_by_place(const MendedPlace& earlier, const MendedPlace& later) {
    if (earlier.place.empty() || later.place.empty()) return false;
    if (earlier.fault && earlier.way) {
        const Repair& way = earlier.ways[*earlier.way];
        if (!way.name.empty() && at_or_below(later.place, renamed(way)))
            return later.place == renamed(way);
        if (at_or_below(later.place, way.place)) return true;
        if (way.name.empty() && is_left_by(earlier, later)) return true;
    }
    if (at_or_below(later.place, earlier.place)) return true;
    return !earlier.unknown_key() && at_or_below(earlier.place, later.place);
}

// Returns the place before one that its fault follows from, as far as places tell.
std::optional<std::size_t> followed_by(std::size_t fault, const std::vector<MendedPlace>& mended) {
    for (std::size_t i = 0; i < fault; ++i)
        if (follows_by_place(mended[i], mended[fault])) return i;
    return std::nullopt;
}

enum class Seen : std::uint8_t { there, gone, hidden };

// Looks for a fault in copies in which the places before it are mended in other ways.
class Recheck {
  public:
    Recheck(const Json& scenario, FaultSearch& search) : scenario_(scenario), search_(search) {}

    // Returns whether a fault is there however the places before it are mended.
    bool stays(std::size_t fault) {
        std::vector<bool> held(fault);
        for (std::size_t turn = 0; turn < enough_ways; ++turn) {
            WayOfEach ways = as_mended(fault);
            std::vector<std::size_t> varied;
            for (std::size_t i = 0; i < fault; ++i) {
                const std::vector<std::size_t>& known = search_.mended[i].telling_ways;
                if (turn >= known.size() || covers(i, known[turn], fault)) continue;
                ways[i] = known[turn];
                varied.push_back(i);
            }
            if (varied.empty()) break;
            const Seen now = look_for(fault, ways);
            if (now == Seen::gone) return false;
            for (const std::size_t i : varied) held[i] = held[i] || now == Seen::there;
        }
        for (std::size_t i = 0; i < fault; ++i)
            if (may_be_meant(i, fault) || (!held[i] && !stays_beside(i, fault))) return false;
        return true;
    }

  private:
    using WayOfEach = std::vector<std::optional<std::size_t>>;

    [[nodiscard]] WayOfEach as_mended(std::size_t fault) const {
        WayOfEach ways;
        for (std::size_t i = 0; i < fault; ++i) ways.push_back(search_.mended[i].way);
        return ways;
    }

    // Returns whether a way to mend a place replaces that of the fault, too.
    [[nodiscard]] bool covers(std::size_t place, std::size_t way, std::size_t fault) const {
        return at_or_below(search_.mended[fault].place, search_.mended[place].ways[way].place);
    }

    // Returns whether an unknown key may be meant to be one that is missing beside it, which it is
    // if its value could stand there.
    bool may_be_meant(std::size_t place, std::size_t fault) {
        const MendedPlace& mended = search_.mended[place];
        const MendedPlace& lacking = search_.mended[fault];
        const std::string& missing = lacking.fault->fault().missing;
        if (!mended.unknown_key() || missing.empty()) return false;
        if (around(mended.place) != around(lacking.place)) return false;
        if (mended.way != mended.ways.size() - 1) return false;  // it was renamed
        const Repair& removal = mended.ways.back();
        Json copy = scenario_;
        for (std::size_t i = 0; i < fault; ++i)
            if (i != place && search_.mended[i].way)
                carry_out(search_.mended[i].ways[*search_.mended[i].way], copy);
        carry_out({removal.place, removal.keys, nullptr, missing}, copy);
        const std::optional<ConfigError> then = refusal(copy, search_);
        return !then || !at_or_below(place_of(*then, copy, search_.file), lacking.place) ||
               value_at(scenario_, removal.keys) == nullptr;
    }

    // Returns whether a fault is there however one place is mended.
    bool stays_beside(std::size_t place, std::size_t fault) {
        MendedPlace& mended = search_.mended[place];
        std::string widest = mended.way ? mended.ways[*mended.way].place : mended.place;
        std::size_t seen = 0;
        for (std::size_t way = 0; way < mended.ways.size() && seen < enough_ways; ++way) {
            if (seen > 0 && at_or_below(widest, mended.ways[way].place) &&
                widest != mended.ways[way].place)
                break;
            if (way == mended.way || covers(place, way, fault)) continue;
            const Seen now = look_for(fault, place, way);
            if (now == Seen::hidden) continue;
            if (std::ranges::find(mended.telling_ways, way) == mended.telling_ways.end())
                mended.telling_ways.push_back(way);
            if (now == Seen::gone) return false;
            ++seen;
            if (at_or_below(widest, mended.ways[way].place)) widest = mended.ways[way].place;
        }
        return seen > 0 || mended.unknown_key();
    }

    // Looks for a fault with one place mended in another way, and first without what was only
    // mended because of the way that was taken.
    Seen look_for(std::size_t fault, std::size_t place, std::size_t way) {
        WayOfEach ways = as_mended(fault);
        ways[place] = way;
        const WayOfEach all = ways;
        for (std::size_t i = place + 1; i < fault; ++i)
            if (search_.mended[i].follows == place) ways[i].reset();
        const Seen now = look_for(fault, ways);
        return now == Seen::hidden && ways != all ? look_for(fault, all) : now;
    }

    Seen look_for(std::size_t fault, const WayOfEach& ways) {
        Json copy = scenario_;
        for (std::size_t i = 0; i < ways.size(); ++i)
            if (ways[i]) carry_out(search_.mended[i].ways[*ways[i]], copy);
        const std::optional<ConfigError> now = refusal(copy, search_);
        const ConfigError& sought = *search_.mended[fault].fault;
        if (!now) return Seen::gone;
        if (same(*now, sought)) return Seen::there;
        if (place_of(*now, copy, search_.file) == search_.mended[fault].place) return Seen::gone;
        for (std::size_t i = fault + 1; i < search_.mended.size(); ++i)
            if (same(*now, *search_.mended[i].fault)) return Seen::gone;
        return Seen::hidden;
    }

    const Json& scenario_;
    FaultSearch& search_;
};

// Returns whether a scenario has a place, which is cut if it is long.
bool is_in(const Json& scenario, const std::string& path) {
    constexpr std::size_t longest = 100;
    return path.size() >= longest || trail_of(scenario, path).complete;
}

// Returns a fault at its place as the user wrote it, where keys were renamed to get there.
ConfigError as_written(const ConfigError& fault, const FaultSearch& search) {
    if (fault.file() != search.file) return fault;
    std::string path = fault.path();
    for (const MendedPlace& place : search.mended) {
        if (!place.way || place.ways[*place.way].name.empty()) continue;
        const std::string there = renamed(place.ways[*place.way]);
        if (path.starts_with(there) && at_or_below(path, there))
            path = place.place + path.substr(there.size());
    }
    return {fault.file(), path, fault.fault()};
}

}  // namespace

void put_in_doubt(FaultSearch& search, const Doubt& doubt) {
    MendedPlace place{.place = doubt.place};
    if (doubt.unknown) {
        place.fault =
            ConfigError(search.file, doubt.place, Fault{.problem = {}, .unknown_key = true});
        place.ways.push_back({doubt.place, {doubt.place}, nullptr});
        place.way = 0;
    } else {
        for (const std::string_view pair : {timing, training})
            for (const Json& valid : Json::parse(pair)) {
                const Trail trail = trail_of(valid, doubt.place);
                if (trail.keys.empty()) continue;
                const Json& value = *value_at(valid, trail.keys);
                place.ways.push_back(
                    {trail.places.back(), trail.keys, std::make_shared<const Json>(value)});
            }
    }
    search.mended.push_back(std::move(place));
}

std::vector<ConfigError> find_faults(const Json& scenario, FaultSearch& search) {
    const std::size_t before = search.mended.size();
    try {
        mend(scenario, search);
    } catch (const OutOfReadings&) {
        search.readings = 0;  // what has been found is judged without more
    }
    std::vector<ConfigError> faults;
    Recheck recheck(scenario, search);
    for (std::size_t i = before; i < search.mended.size(); ++i) {
        search.mended[i].follows = followed_by(i, search.mended);
        try {
            if (search.mended[i].follows || !recheck.stays(i)) continue;
            ConfigError fault = as_written(*search.mended[i].fault, search);
            const bool written = fault.file() != search.file || is_in(scenario, fault.path());
            if (i == 0 || written) faults.push_back(std::move(fault));
        } catch (const OutOfReadings&) {
            break;
        }
    }
    return faults;
}

}  // namespace paceline

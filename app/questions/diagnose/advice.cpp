#include "app/questions/diagnose/advice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "app/json/json_paths.hpp"
#include "app/scenario/cluster/links.hpp"

namespace paceline {

namespace {

struct HelpfulChange {
    std::string_view key;
    std::string_view what;
    std::string_view costs;
    bool is_after = false;  // it changes what the cause has set, and so is put after it
    void (*put)(Json& scenario, const DiagnosedPoint& point);
};

Json& section_of(Json& scenario, const char* key, const char* text_stands_for) {
    Json& section = scenario["algorithm"][key];
    if (section.is_string()) section = {{text_stands_for, section}};
    if (!section.is_object()) section = Json::object();
    return section;
}

void put_buckets(Json& scenario, const char* size) {
    Json& schedule = section_of(scenario, "schedule", "pieces");
    schedule["pieces"] = size;
    schedule["begin"] = "beside-backward";
}

void put_machines(Json& scenario, const char* how) {
    Json& aggregation = section_of(scenario, "aggregation", "kind");
    if (!aggregation.contains("kind")) aggregation["kind"] = "all-reduce";
    aggregation["machines"] = how;
}

void put_faster_links(Json& scenario) {
    const Json* const link = value_at(scenario, "cluster.fabric.link");
    if (link == nullptr) return;
    const std::string nowhere;
    const Cable cable = read_cable({link, &nowhere, "cluster.fabric.link"});
    const auto four_times = [](Bandwidth rate) {
        return rate == unlimited ? rate : Bandwidth{4 * rate.bits_per_second};
    };
    Json& changed = scenario["cluster"]["fabric"]["link"];
    changed["bandwidth"] = to_string(four_times(cable.down.bandwidth));
    if (cable.up.bandwidth != cable.down.bandwidth)
        changed["bandwidth_up"] = to_string(four_times(cable.up.bandwidth));
}

void put_nodes(Json& scenario, int nodes) {
    scenario["cluster"].erase("devices");
    scenario["cluster"]["nodes"] = nodes;
}

using In = const DiagnosedPoint&;
constexpr auto helpful_changes = std::to_array<HelpfulChange>({
    {"overlap", "buckets of 25 MiB during backward", "nothing: it is what DDP does", false,
     [](Json& s, In) { put_buckets(s, "25MiB"); }},
    {"larger-buckets", "buckets of 100 MiB during backward", "less overlap at the end of a step",
     false, [](Json& s, In) { put_buckets(s, "100MiB"); }},
    {"16-bits", "16 bits on the wire", "gradients are rounded when sent", false,
     [](Json& s, In) { s["algorithm"]["wire"] = "fp16"; }},
    {"leaders", "one all-reduce between machines, by a leader of each", "nothing but the setting",
     false, [](Json& s, In) { put_machines(s, "leaders"); }},
    {"shards", "an all-reduce between machines for each device's share", "nothing but the setting",
     false, [](Json& s, In) { put_machines(s, "shards"); }},
    {"ring-per-card", "a ring for each network card", "nothing but the setting", false,
     [](Json& s, In) {
         Json& aggregation = section_of(s, "aggregation", "kind");
         if (!aggregation.contains("kind")) aggregation["kind"] = "all-reduce";
         aggregation["plan"] = {{"kind", "ring"}, {"rings", "per-card"}};
     }},
    {"streams", "four pieces in flight at a time, each on its own connection",
     "CPU time and memory for buffers", false,
     [](Json& s, In) { section_of(s, "schedule", "pieces")["streams"] = 4; }},
    {"accumulation", "four times as many gradients added up before an exchange",
     "a batch four times as large: the learning rate must be tuned again", false,
     [](Json& s, In) {
         Json& workload = s["workload"];
         workload["accumulation"] = 4 * workload.value("accumulation", 1);
     }},
    {"power-sgd", "PowerSGD of rank 4", "gradients are approximated, with error feedback", false,
     [](Json& s, In) { s["algorithm"]["codec"] = {{"kind", "power-sgd"}, {"rank", 4}}; }},
    {"local-steps", "eight local steps between averages (local SGD)",
     "a different optimizer: models differ between averages", false,
     [](Json& s, In) {
         Json local{{"kind", "local-sgd"}, {"period", 8}};
         for (const char* key : {"schedule", "wire", "aggregation"})
             if (s["algorithm"].contains(key)) local[key] = s["algorithm"][key];
         s["algorithm"] = std::move(local);
     }},
    {"faster-links", "links four times as fast as they actually are", "hardware", true,
     [](Json& s, In) { put_faster_links(s); }},
    {"half-the-nodes", "half as many nodes", "nothing: the others are free", false,
     [](Json& s, In point) { put_nodes(s, std::max(1, point.machines / 2)); }},
    {"one-node", "one node", "nothing: the others are free", false,
     [](Json& s, In) { put_nodes(s, 1); }},
});

Json patch_of(const Json& before, const Json& after) {
    if (!before.is_object() || !after.is_object()) return after;
    Json patch = Json::object();
    for (const auto& [key, value] : before.items())
        if (!after.contains(key)) patch[key] = nullptr;
    for (const auto& [key, value] : after.items()) {
        if (!before.contains(key))
            patch[key] = value;
        else if (before[key] != value)
            patch[key] = patch_of(before[key], value);
    }
    return patch;
}

// The same point with another scenario.
DiagnosedPoint changed(const DiagnosedPoint& point, Json scenario) {
    DiagnosedPoint other = point;
    if (const Json* const nodes = value_at(scenario, "cluster.nodes"))
        other.machines = nodes->get<int>();
    other.scenario = std::make_shared<const Json>(std::move(scenario));
    return other;
}

// What is tried: a change, or that the cause is gone.
struct TriedChange {
    Advice advice;
    Candidate candidate;
};

std::vector<TriedChange> tried_changes(const DiagnosedPoint& main, const Assumed& assumed,
                                       const Predictor& predictor) {
    const Json with_cause = *scenario_with(main, assumed);
    std::vector<TriedChange> tried;
    const auto add = [&](Advice advice, const Json& scenario) {
        advice.patch = merge_patch(with_cause, scenario);
        tried.push_back({std::move(advice), predictor.in_whole_periods(scenario)});
    };
    if (!assumed.causes.empty()) {
        const Assumed without{{}, assumed.compute};
        add({"repair", "without this cause", "finding and repairing it"},
            *scenario_with(main, without));
    }
    for (const HelpfulChange& change : helpful_changes) {
        const bool of_nodes = change.key == "half-the-nodes" || change.key == "one-node";
        if (of_nodes && main.machines < (change.key == "one-node" ? 2 : 4)) continue;
        Advice advice{std::string(change.key), std::string(change.what), std::string(change.costs)};
        Json scenario = change.is_after ? with_cause : *main.scenario;
        change.put(scenario, main);
        if (!change.is_after)
            scenario = *scenario_with(changed(main, std::move(scenario)), assumed);
        if (scenario != with_cause) add(std::move(advice), scenario);
    }
    return tried;
}

// Returns samples per second, or gradients per second where a batch is not known.
std::optional<double> rate_of(const Candidate& candidate, const AskedPoints& points) {
    if (const auto samples = points.column("samples_per_s", candidate)) return samples;
    const auto step = points.column("step_time_s", candidate);
    if (!step || *step <= 0) return std::nullopt;
    const Scenario& scenario = candidate.point->scenario;
    return scenario.cluster.workers * scenario.workload.accumulation / *step;
}

}  // namespace

std::string merge_patch(const Json& before, const Json& after) {
    return patch_of(before, after).dump();
}

AdviceForCause advice_for(const DiagnosedPoint& main, const Assumed& assumed,
                          Predictor& predictor) {
    std::vector<TriedChange> tried = tried_changes(main, assumed, predictor);
    const Candidate now = predictor.in_whole_periods(*scenario_with(main, assumed));
    std::vector<Candidate> candidates{now};
    for (const TriedChange& one : tried) candidates.push_back(one.candidate);
    AskedPoints& points = predictor.points();
    points.run(candidates);
    AdviceForCause found;
    const auto rate = rate_of(now, points);
    if (!rate) return found;
    found.step_s = points.column("step_time_s", now).value_or(0);
    const auto memory = points.column("memory_gb", now);
    for (TriedChange& one : tried) {
        const auto changed_rate = rate_of(one.candidate, points);
        if (!changed_rate || *changed_rate < least_gain * *rate) continue;
        one.advice.gain = *changed_rate / *rate;
        one.advice.step_s = points.column("step_time_s", one.candidate).value_or(0);
        const auto needs = points.column("memory_gb", one.candidate);
        if (needs && memory && std::abs(*needs / *memory - 1) > 0.01) one.advice.memory_gb = needs;
        found.advice.push_back(std::move(one.advice));
    }
    std::ranges::sort(found.advice, [](const Advice& a, const Advice& b) {
        return a.gain != b.gain ? a.gain > b.gain : a.key < b.key;
    });
    return found;
}

}  // namespace paceline

#include "app/questions/diagnose/diagnosed_point.hpp"

#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "app/json/json_paths.hpp"
#include "app/questions/asked_points.hpp"
#include "app/scenario/algorithms/words.hpp"

namespace paceline {

namespace {

// Makes the time of a gradient a duration that stands in the scenario, and returns its path.
std::string state_gradient_time(Json& scenario, const Workload& workload) {
    Json& stated = scenario["workload"];
    if (stated.contains("model")) return "";  // what it stands in for has a clock of its own
    const std::string own = to_string(workload.gradient);
    for (const char* key : {"gradient_time", "step_time"})
        if (stated.contains(key)) {
            stated[key] = own;
            return std::string("workload.") + key;
        }
    const bool measured_layers = workload.tensor_times != nullptr;
    for (const char* key : {"device", "efficiency", "precision"}) stated.erase(key);
    if (const auto memory = workload.memory_of_device())
        stated["device_memory"] = to_string(*memory);
    const char* const key = measured_layers ? "step_time" : "gradient_time";
    stated[key] = own;
    return std::string("workload.") + key;
}

DiagnosedPoint from_point(const Point& point) {
    Json scenario = Json::parse(point.resolved);
    const auto as_read = std::make_shared<const Json>(scenario);
    const std::string nowhere;
    if (const auto algorithm = scenario.find("algorithm"); algorithm != scenario.end())
        *algorithm = *in_todays_words({&*algorithm, &nowhere, "algorithm"}).algorithm;
    if (const auto measure = scenario.find("measure"); measure != scenario.end())
        for (const char* key : {"interval", "draws"}) measure->erase(key);  // nobody asks for them
    DiagnosedPoint found;
    found.as_read = as_read;
    found.machines = point.scenario.cluster.nodes;
    found.workers = point.scenario.cluster.workers;
    found.gradient_s = to_seconds(point.scenario.workload.step());
    if (found.gradient_s > 0)
        found.time_path = state_gradient_time(scenario, point.scenario.workload);
    found.scenario = std::make_shared<const Json>(std::move(scenario));
    return found;
}

}  // namespace

void multiply_gradient_time(Json& scenario, const DiagnosedPoint& point, double factor) {
    if (!point.has_gradients() || factor == 1) return;
    const Json* const stated = value_at(scenario, point.time_path);
    const Duration time = parse_duration(stated->get<std::string>());
    const Duration longer = from_seconds(to_seconds(time) * factor);
    put_at(scenario, point.time_path, to_string(std::max(longer, Duration{1})), "",
           point.time_path);
}

void take_plan_of(const Json& job, Json& collective) {
    const Json* const plan = value_at(job, "algorithm.aggregation.plan");
    if (plan != nullptr && collective["algorithm"].value("operation", "") == "all-reduce")
        collective["algorithm"]["all_reduce"] = *plan;
}

DiagnosedPoint diagnosed_point(const ScenarioText& scenario, const Settings& settings,
                               const Picks& picks) {
    return from_point(read_whole_periods(scenario, settings, picks));
}

void leave_one_device(Json& scenario) {
    Json& cluster = scenario["cluster"];
    for (const char* key : {"devices", "bus", "nics", "stragglers", "placement"})
        cluster.erase(key);
    cluster["nodes"] = cluster["devices_per_node"] = 1;
}

DiagnosedPoint diagnosed_point(const Json& json, const ScenarioText& scenario) {
    return diagnosed_point({scenario.file, json.dump(), scenario.sources}, {}, {});
}

}  // namespace paceline

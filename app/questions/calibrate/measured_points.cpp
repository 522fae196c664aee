#include "app/questions/calibrate/measured_points.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/json/json_paths.hpp"
#include "app/json/object_reader.hpp"
#include "app/scenario/study_faults.hpp"
#include "app/scenario/study_plan.hpp"
#include "app/scenario/testbed.hpp"

namespace paceline {

namespace {

constexpr std::int64_t most_ranks = 1 << 24;

// The base has not been read: what stands there may be anything.
std::string text_at(const Json& json, const std::string& path) {
    const Json* const found = value_at(json, path);
    return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

int count_at(const Json& json, const std::string& path, int otherwise) {
    const Json* const found = value_at(json, path);
    const auto count = found != nullptr ? whole_number(*found) : std::nullopt;
    return count && *count > 0 && *count < most_ranks ? static_cast<int>(*count) : otherwise;
}

std::string known_operation(const std::string& operation) {
    if (operation == "send") return "broadcast";
    return operation == "all-gather" ? "all-gather-ring" : operation;
}

// Returns the algorithm that a tool's operation is.
Json algorithm_of(const Json& base, const std::string& operation) {
    const std::string known = known_operation(operation);
    if (text_at(base, "algorithm.kind") == "collective" &&
        text_at(base, "algorithm.operation") == known)
        return base["algorithm"];
    Json algorithm{{"kind", "collective"}, {"operation", known}};
    const bool chosen = base["cluster"].contains("library");
    if (operation == "send")
        algorithm["method"] = "at-once";
    else if (operation == "all-reduce" && chosen)
        algorithm["all_reduce"] = "library";
    return algorithm;
}

}  // namespace

Json base_of(const MeasuredScenario& about) {
    PlanFaults wrong;
    StudyPlan plan = make_study_plan(about.scenario, about.settings, about.picks, wrong);
    refuse_if_wrong(plan, wrong);
    std::erase_if(plan.order,
                  [&](std::size_t axis) { return plan.sweep.axes[axis].values.size() > 1; });
    Json base = resolve_point(plan, std::vector<std::size_t>(plan.sweep.axes.size()), wrong);
    refuse_if_wrong(plan, wrong);
    if (!base.contains("cluster") || !base["cluster"].is_object())
        throw ConfigError(about.scenario.file, "cluster", "is missing: the cluster to calibrate");
    return on_its_testbed(std::move(base), about.scenario.file, about.scenario.sources);
}

Json collective_scenario(const Json& base, const MeasuredCollective& measured) {
    Json cluster = base["cluster"];
    for (const char* key : {"failures", "access", "background", "placement"}) cluster.erase(key);
    const int own = count_at(cluster, "devices_per_node", 1);
    int machines = measured.machines.value_or(0);
    if (!measured.machines && measured.ranks) machines = std::max(1, *measured.ranks / own);
    int ranks = measured.ranks.value_or(machines * own);
    if (measured.operation == "send") machines = ranks = 2;
    if (machines > 0) {
        if (ranks % machines != 0)
            throw ConfigError(
                measured.where, "",
                fmt::format("has {} ranks on {} machines; a row needs as many on each", ranks,
                            machines));
        cluster.erase("devices");
        cluster["nodes"] = machines;
        cluster["devices_per_node"] = ranks / machines;
        if (ranks == machines) {
            cluster.erase("bus");
            cluster.erase("nics");
        }
    }
    Json scenario;
    scenario["cluster"] = std::move(cluster);
    scenario["workload"] = {{"gradient", fmt::format("{}B", measured.bytes)},
                            {"gradient_time", "0s"}};
    scenario["algorithm"] = algorithm_of(base, measured.operation);
    scenario["stop"] = {{"iterations", 1}};
    return scenario;
}

std::vector<Trial> collective_trials(const Json& base, int nodes) {
    struct Shape {
        const char* operation;
        const char* words;
        int machines;
    };
    std::vector<Shape> shapes{{"send", "a message of {} to another machine", 2},
                              {"all-reduce", "an all-reduce of {} on {} nodes", 2}};
    if (nodes > 2) shapes.push_back({"all-reduce", "an all-reduce of {} on {} nodes", nodes});
    std::vector<Trial> trials;
    for (const Shape& shape : shapes)
        for (const std::int64_t bytes : {std::int64_t{8}, std::int64_t{64} << 10U,
                                         std::int64_t{4} << 20U, std::int64_t{256} << 20U}) {
            const std::string size = to_string(Bytes{bytes});
            trials.push_back(
                {fmt::format(fmt::runtime(shape.words), size, shape.machines),
                 fmt::format("{}={}:nodes={}:step", shape.operation, size, shape.machines),
                 std::make_shared<const Json>(collective_scenario(
                     base, {"", shape.operation, bytes, std::nullopt, shape.machines, 1})),
                 true});
        }
    return trials;
}

std::vector<Trial> step_trials(const Json& base, int nodes) {
    const auto algorithm = base.find("algorithm");
    if (algorithm == base.end() || !algorithm->is_object() ||
        algorithm->value("kind", "") == "collective" || base["cluster"].contains("devices"))
        return {};
    std::vector<Trial> trials;
    for (const int count : std::set{1, 2, nodes}) {
        Json scenario = base;
        scenario["cluster"]["nodes"] = count;
        trials.push_back({fmt::format("the step on {} node{}", count, count == 1 ? "" : "s"),
                          fmt::format("nodes={}:step", count),
                          std::make_shared<const Json>(std::move(scenario))});
    }
    return trials;
}

}  // namespace paceline

#include "app/questions/job_in_front.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/json/names.hpp"
#include "app/scenario/study_plan.hpp"

namespace paceline {

namespace {

std::size_t place_of_job(const Scenario& scenario, const std::string& job) {
    const auto found = std::ranges::find(scenario.other_jobs, job, &Scenario::job);
    if (found != scenario.other_jobs.end())
        return static_cast<std::size_t>(found - scenario.other_jobs.begin());
    std::vector<std::string_view> known{scenario.job};
    for (const Scenario& other : scenario.other_jobs) known.push_back(other.job);
    throw ConfigError("command line", "--job", unknown(job, "a job of this point", known));
}

void check_that_they_can_change(const Scenario& scenario, const Json& cluster,
                                const std::string& job) {
    const auto refuse = [&](std::string_view why) {
        throw ConfigError("command line", "--job",
                          fmt::format("\"{}\" cannot be explained here: {}", job, why));
    };
    if (scenario.training) refuse("the main job trains, and other jobs cannot");
    for (const char* key :
         {"stragglers", "speeds", "compute_jitter", "failures", "access", "library"})
        if (cluster.contains(key))
            refuse(fmt::format(
                "\"cluster.{}\" belongs to the main job's nodes; explain the point without it",
                key));
}

Json stop_of(const Scenario& scenario, const Json& main, const Json& other) {
    if (other.contains("stop")) return other["stop"];
    if (const auto steps = scenario.steps()) return Json{{"iterations", *steps}};
    return Json{{"time", main["stop"]["time"]}};
}

}  // namespace

Point with_job_in_front(const Study& study, const Point& point, const std::string& job) {
    if (job == point.scenario.job) return point;
    const std::size_t place = place_of_job(point.scenario, job);
    Json json = Json::parse(point.resolved);
    check_that_they_can_change(point.scenario, json["cluster"], job);
    Json& other = json["other_jobs"][place];
    const Json main{{"label", "\n"},  // no job of a scenario is called so
                    {"nodes", json["cluster"].value("placement", Json("all"))},
                    {"workload", json["workload"]},
                    {"algorithm", json["algorithm"]}};
    json["stop"] = stop_of(point.scenario, json, other);
    json["cluster"]["placement"] = other["nodes"];
    json["workload"] = other["workload"];
    json["algorithm"] = other["algorithm"];
    for (const char* key : {"optimizer", "measure"}) json.erase(key);
    other = main;
    Point turned = point;
    turned.resolved = resolved_text(json);
    turned.scenario = read_scenario(json, study.file, study.sources);
    turned.scenario.job = job;
    turned.scenario.other_jobs[place].job = point.scenario.job;
    return turned;
}

}  // namespace paceline

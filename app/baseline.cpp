#include "app/baseline.hpp"

#include <map>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "app/run_point.hpp"

namespace paceline {

namespace {

// Points with the same baseline.
std::string key_of(const Point& point) {
    Json json = Json::parse(point.resolved);
    for (const char* key : {"algorithm", "other_jobs", "price"}) json.erase(key);
    json["cluster"] = point.scenario.cluster.workers;
    return json.dump();
}

Scenario baseline_of(const Scenario& scenario) {
    static const std::string nowhere = "baseline";
    const Json cluster = {{"nodes", 1},
                          {"fabric", {{"kind", "star"}, {"link", {{"bandwidth", "1Gbps"}}}}}};
    const Json algorithm = {{"kind", "dense"}};
    const std::int64_t workers = scenario.cluster.workers;

    Scenario baseline = scenario;
    baseline.cluster = read_cluster({&cluster, &nowhere, "cluster"});
    baseline.algorithm =
        read_algorithm({&algorithm, &nowhere, "algorithm"}, {{1, 1}, scenario.training->optimizer});
    baseline.other_jobs.clear();
    baseline.price.reset();
    baseline.stop = {};
    baseline.stop.iterations = scenario.steps().value_or(1) * workers;
    Training& training = *baseline.training;
    training.stop = training.measurement.target;
    training.measurement.every = scenario.training->measurement.cadence(scenario.steps_per_epoch());
    training.measurement.every.iterations *= workers;
    training.measurement.every_epochs.reset();
    return baseline;
}

}  // namespace

void add_speedups_to_target(const Study& study, std::vector<PointResult>& results) {
    std::map<std::string, std::optional<double>> times;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const Scenario& scenario = study.points[i].scenario;
        const std::optional<double> time = results[i].metrics.time_to_target_s;
        if (!scenario.training || !scenario.training->measurement.baseline || !time) continue;
        const auto [found, is_new] = times.try_emplace(key_of(study.points[i]));
        if (is_new) found->second = run_point(baseline_of(scenario), nullptr).time_to_target_s;
        if (found->second && *time > 0)
            results[i].metrics.speedup_to_target = *found->second / *time;
    }
}

}  // namespace paceline

#include "app/study/baseline.hpp"

#include <nlohmann/json.hpp>

#include "app/scenario/algorithms/algorithms.hpp"

namespace paceline {

bool asks_for_baseline(const Scenario& scenario) {
    return scenario.training && scenario.training->measurement.baseline;
}

std::string baseline_key(const Point& point) {
    Json json = Json::parse(point.resolved);
    for (const char* key : {"algorithm", "other_jobs", "price", "power"}) json.erase(key);
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
    baseline.alone = false;
    baseline.price.reset();
    baseline.stop = {};
    baseline.stop.iterations = scenario.steps().value_or(1) * workers;
    Training& training = *baseline.training;
    training.stop = training.recorded_target();
    training.measurement.every = scenario.training->measurement.cadence(scenario.steps_per_epoch());
    training.measurement.every_epochs.reset();
    return baseline;
}

}  // namespace paceline

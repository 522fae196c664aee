#include "app/study/manifest.hpp"

#include <cstdint>

#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "app/host/commit.hpp"
#include "app/host/version.hpp"
#include "app/json/object_reader.hpp"
#include "app/study/point_key.hpp"

namespace paceline {

std::string manifest_json(const Study& study, const std::vector<PointResult>& results,
                          const RunInfo& info) {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    Json json;
    json["program"] = "paceline";
    json["version"] = version;
    json["commit"] = commit();
    json["build"] = program_hash();
    json["scenario"] = study.file;
    json["title"] = study.title;
    json["jobs"] = info.jobs;
    json["wall_clock_s"] = info.wall_clock_s;
#ifdef __APPLE__
    constexpr std::int64_t unit = 1;
#else
    constexpr std::int64_t unit = 1024;
#endif
    json["peak_memory_bytes"] = std::int64_t{usage.ru_maxrss} * unit;
    json["complete"] = info.complete;
    json["points"] = Json::array();
    for (std::size_t i = 0; i < results.size(); ++i) {
        const Metrics& m = results[i].metrics;
        if (m.outcome.empty()) continue;  // not run
        Json scenario = Json::parse(study.points.resolved(i));
        Json point;
        point["point"] = study.points.position(i).number;
        point["outcome"] = m.outcome;
        if (!m.outcome_details.empty()) point["details"] = m.outcome_details;
        point["seed"] = scenario.contains("seed") ? whole_number(scenario.at("seed")).value_or(0)
                                                  : std::int64_t{default_seed};
        point["wall_clock_s"] = results[i].wall_clock_s;
        point["events"] = m.events;
        point["scenario"] = std::move(scenario);
        json["points"].push_back(std::move(point));
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace paceline

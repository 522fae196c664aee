#include "app/scenario/testbed.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "app/json/json_paths.hpp"
#include "app/json/object_reader.hpp"

namespace paceline {

namespace {

const Json* named_testbed(const Json& point) {
    if (!point.is_object() || !point.contains("cluster")) return nullptr;
    const Json& cluster = point["cluster"];
    if (!cluster.is_object() || !cluster.contains("testbed")) return nullptr;
    return &cluster["testbed"];
}

bool lists_objects(const Json& json) {
    return json.is_array() &&
           std::ranges::all_of(json, [](const Json& one) { return one.is_object(); });
}

Json read_testbed(const std::string& text, const std::string& file) {
    Json testbed = parse_json(text, file);
    const Place place{&testbed, &file, ""};
    if (!testbed.is_object() || !testbed.contains("cluster"))
        place.refuse(
            "is not a testbed: it has no \"cluster\"; name a file that paceline calibrate has "
            "written");
    for (const char* part : {"cluster", "workload"})
        if (testbed.contains(part) && !testbed[part].is_object())
            place.child(part, testbed[part]).refuse("is not an object; write {...}");
    if (testbed.contains("draws") && !lists_objects(testbed["draws"]))
        place.child("draws", testbed["draws"])
            .refuse(
                "is not a list of objects, such as [{\"cluster.fabric.link.bandwidth\": "
                "\"9Gbps\"}]");
    if (testbed["cluster"].contains("testbed"))
        place.child("cluster.testbed", testbed["cluster"]["testbed"])
            .refuse("a testbed cannot name another one; put its cluster here");
    return testbed;
}

// Adds the testbed's draws to the point's "measure".
void add_draws(const Json& testbed, const Json& point, Json& merged) {
    if (!testbed.contains("draws")) return;
    if (point.contains("measure") && !point["measure"].is_object()) return;  // which is refused
    const Json* const asked = value_at(point, "measure.interval");
    if (asked != nullptr && *asked == false) return;
    if (has_at(point, "measure.draws")) return;
    Json draws = Json::array();
    for (const Json& all : testbed["draws"]) {
        Json draw = Json::object();
        for (const auto& [path, value] : all.items())
            if (!has_at(point, path)) draw[path] = value;
        if (!draw.empty()) draws.push_back(std::move(draw));
    }
    merged["measure"]["interval"] = true;
    if (!draws.empty()) merged["measure"]["draws"] = std::move(draws);
}

}  // namespace

std::shared_ptr<const Testbed> testbed_of(const Json& point, const std::string& scenario,
                                          const Sources& sources) {
    const Json* const named = named_testbed(point);
    if (named == nullptr) return nullptr;
    const std::string file = as_file({named, &scenario, "cluster.testbed", &sources});
    return sources.cache->once<Testbed>("testbed " + file, [&] {
        return Testbed{file, std::make_shared<const Json>(read_testbed(sources.text(file), file))};
    });
}

Json on_testbed(const Testbed& testbed, const Json& point) {
    Json merged = point;
    const Json& own = point["cluster"];
    Json cluster = (*testbed.content)["cluster"];
    if (own.contains("nodes") || own.contains("devices"))
        for (const char* key : {"nodes", "devices"}) cluster.erase(key);
    cluster.merge_patch(own);
    cluster.erase("testbed");
    merged["cluster"] = std::move(cluster);
    add_draws(*testbed.content, point, merged);
    if (!testbed.content->contains("workload")) return merged;
    Json workload = (*testbed.content)["workload"];
    if (point.contains("workload")) workload.merge_patch(point["workload"]);
    merged["workload"] = std::move(workload);
    return merged;
}

Json on_its_testbed(Json point, const std::string& scenario, const Sources& sources) {
    const auto testbed = testbed_of(point, scenario, sources);
    return testbed ? on_testbed(*testbed, point) : std::move(point);
}

ConfigError at_its_place(const ConfigError& error, const Testbed& testbed, const Json& point,
                         const std::string& scenario) {
    if (error.file() != scenario || has_at(point, error.path()) ||
        !has_at(*testbed.content, error.path()))
        return error;
    return {testbed.file, error.path(), error.fault()};
}

}  // namespace paceline

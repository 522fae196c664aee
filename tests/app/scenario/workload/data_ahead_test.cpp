#include "app/scenario/workload/data_ahead.hpp"

#include <set>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/scenario/study.hpp"
#include "app/scenario/workload/data.hpp"
#include "tests/app/json/in_memory.hpp"

namespace paceline::data_ahead_test {
namespace {

constexpr auto mixture =
    R"({"kind": "gaussian-mixture", "train": 60, "test": 20, "dimension": 3, "classes": 2})";

ScenarioText scenario(const std::string& data, const std::string& sweep) {
    return {"s.json",
            fmt::format(R"({{
                "cluster": {{"nodes": 2, "fabric": {{"kind": "star",
                                                   "link": {{"bandwidth": "1Gbps"}}}}}},
                "workload": {{"model": {{"kind": "softmax-regression"}}, "data": {}, "batch": 2,
                              "step_time": "1ms"}},
                "optimizer": {{"learning_rate": 0.1}}, "algorithm": {{"kind": "dense"}},
                "stop": {{"iterations": 1}}, "sweep": {}}})",
                        data, sweep),
            in_memory({})};
}

const Dataset& data_of(const Point& point) {
    return *point.scenario.training->data.set;
}

TEST_CASE("data ahead: the data of each seed are those that its point alone has") {
    const ScenarioText all = scenario(mixture, R"({"seed": [1, 2, 3, 4, 5, 6, 7]})");
    const Study study = read_study(all, {});
    for (int seed = 1; seed <= 7; ++seed) {
        CAPTURE(seed);
        // A text of its own has a shelf of its own.
        const Point alone =
            read_single_point(scenario(mixture, "{}"), {fmt::format("seed={}", seed)});
        const Point point = study.points[static_cast<std::size_t>(seed - 1)];
        CHECK(data_of(point).train.inputs == data_of(alone).train.inputs);
        CHECK(data_of(point).train.labels == data_of(alone).train.labels);
        CHECK(data_of(point).test.inputs == data_of(alone).test.inputs);
    }
}

TEST_CASE("data ahead: equal data are made once, and kept") {
    const Study study =
        read_study(scenario(mixture, R"({"cluster.nodes": [2, 4], "seed": [1, 2, 3]})"), {});
    std::set<const Dataset*> different;
    for (int time = 0; time < 2; ++time)
        for (const Point& point : study.points) different.insert(&data_of(point));
    CHECK(different.size() == 3);
}

TEST_CASE("data ahead: data with errors are left to the point that has them") {
    const std::string nothing_in_it =
        R"({"kind": "gaussian-mixture", "train": 60, "test": 20, "dimension": 0, "classes": 2})";
    CHECK_THROWS_AS(
        static_cast<void>(read_study(scenario(nothing_in_it, R"({"seed": [1, 2]})"), {})),
        ConfigError);
    try {
        static_cast<void>(
            read_study(scenario(mixture, R"({"workload.data.classes": [2, 3, -1]})"), {}));
        FAIL("-1 classes are refused");
    } catch (const ConfigError& error) {
        CHECK(error.path() == "sweep.workload.data.classes[2]");
    }
}

TEST_CASE("data ahead: what is wished is on the shelf, each once") {
    const Sources sources = in_memory({});
    std::vector<Json> points;
    for (const int seed : {1, 2, 2})
        points.push_back({{"cluster", Json::parse(R"({"nodes": 2, "fabric": {"kind": "star",
                                          "link": {"bandwidth": "1Gbps"}}})")},
                          {"seed", seed},
                          {"workload", {{"data", Json::parse(mixture)}}}});
    const std::string file = "s.json";
    make_data_ahead(points, file, sources);
    for (const int seed : {1, 2}) {
        const Json& data = points[static_cast<std::size_t>(seed - 1)]["workload"]["data"];
        const DataWish wish = data_wish({&data, &file, "workload.data", &sources}, 2,
                                        static_cast<std::uint64_t>(seed));
        CHECK(sources.shelf->has(wish.key));
    }
}

}  // namespace
}  // namespace paceline::data_ahead_test

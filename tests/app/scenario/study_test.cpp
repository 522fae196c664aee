#include "app/scenario/study.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline::study_test {
namespace {

// A scenario of four nodes with a `sweep`, in its own file.
struct ScenarioFile {
    TemporaryFolder folder;
    std::string name;

    explicit ScenarioFile(std::string_view sweep = "{}")
        : name(folder.write("scenario.json", fmt::format(R"({{
            "title": "a study", "seed": 7,
            "cluster": {{"nodes": 4, "fabric": {{"kind": "star",
                                               "link": {{"bandwidth": "1Gbps"}}}}}},
            "workload": {{"gradient": "1MB", "step_time": "10ms"}},
            "algorithm": {{"kind": "dense"}},
            "stop": {{"iterations": 3}},
            "sweep": {}}})",
                                                         sweep))) {}

    [[nodiscard]] Study study(const std::vector<std::string>& settings = {}) const {
        return read_study(name, settings);
    }
    // Returns the file or command line, the path and the problem of the refusal.
    [[nodiscard]] std::string problem(const std::vector<std::string>& settings = {}) const {
        try {
            (void)study(settings);
        } catch (const ConfigError& error) {
            return fmt::format("{}: {}: {}", error.file() == name ? "file" : error.file(),
                               error.path(), error.problem());
        }
        return "no problem";
    }
};

Json resolved(const Study& study, std::size_t point) {
    return Json::parse(study.points[point].resolved);
}

std::vector<int> nodes_of(const Study& study) {
    std::vector<int> nodes;
    for (const Point& point : study.points) nodes.push_back(point.scenario.cluster.nodes);
    return nodes;
}

TEST_CASE("study: a scenario without a sweep is one point") {
    const ScenarioFile file;

    const Study study = file.study();

    CHECK(study.file == file.name);
    CHECK(study.title == "a study");
    CHECK(study.axes.empty());
    CHECK(study.points.size() == 1);
    CHECK(study.points.front().choice.empty());
    CHECK(study.points.front().scenario.cluster.nodes == 4);
    CHECK(study.points.front().scenario.seed == 7);
}

TEST_CASE("study: a sweep is the cross product of its axes, the last axis fastest") {
    const ScenarioFile file(R"({"seed": [1, 2], "cluster.nodes": [8, 4, 2]})");

    const Study study = file.study();

    CHECK(nodes_of(study) == std::vector<int>{8, 4, 2, 8, 4, 2});
    CHECK(study.points[2].scenario.seed == 1);
    CHECK(study.points[3].scenario.seed == 2);
    CHECK(study.points[5].choice == std::vector<std::size_t>{1, 2});
}

TEST_CASE("study: axes stand in the order of the file, and so do their values") {
    const ScenarioFile file(R"({"stop.iterations": [9, 1], "cluster.nodes": [3, 2, 30]})");

    const Study study = file.study();

    CHECK(study.axes.at(0).path == "stop.iterations");
    CHECK(study.axes.at(0).names == std::vector<std::string>{"9", "1"});
    CHECK(study.axes.at(1).path == "cluster.nodes");
    CHECK(study.axes.at(1).names == std::vector<std::string>{"3", "2", "30"});
}

TEST_CASE("study: a value is named by its label, else by its kind or preset, else by itself") {
    const ScenarioFile file(R"({
        "cluster.fabric.link": [{"label": "slow", "preset": "1GbE-tcp"}, {"preset": "10GbE-tcp"},
                                {"bandwidth": "5Gbps"}],
        "algorithm": [{"kind": "dense"}, {"kind": "dgc", "label": "compressed"}],
        "workload.step_time": ["1ms", "2ms"]})");

    const Study study = file.study();

    CHECK(study.axes[0].names ==
          std::vector<std::string>{"slow", "10GbE-tcp", R"({"bandwidth":"5Gbps"})"});
    CHECK(study.axes[1].names == std::vector<std::string>{"dense", "compressed"});
    CHECK(study.axes[2].names == std::vector<std::string>{"1ms", "2ms"});
}

TEST_CASE("study: an object replaces the whole subtree, and its label does not stay in it") {
    const ScenarioFile file(
        R"({"workload": [{"label": "net", "profile": "alexnet", "step_time": "1s"}]})");

    const Study study = file.study();

    CHECK(resolved(study, 0).at("workload").dump() == R"({"profile":"alexnet","step_time":"1s"})");
}

TEST_CASE("study: the label of a swept algorithm is the algorithm's own") {
    const ScenarioFile file(R"({"algorithm": [{"label": "mine", "kind": "dense"}]})");

    CHECK(file.study().points[0].scenario.algorithm.label == "mine");
}

TEST_CASE("study: a point that is only resolved is the one that is read") {
    const ScenarioFile file(R"({"cluster.nodes": [2, 4], "seed": [1, 2]})");
    const Study study = file.study({"workload.gradient=2MB"});

    for (std::size_t point = 0; point < 4; ++point)
        CHECK(study.points.resolved(point) == study.points[point].resolved);
}

TEST_CASE("study: a resolved point has no sweep") {
    const ScenarioFile file(R"({"cluster.nodes": [1, 2]})");

    CHECK(!resolved(file.study(), 0).contains("sweep"));
}

TEST_CASE("study: an axis below another wins, whichever comes first in the file") {
    const std::string shallow = R"("algorithm": [{"kind": "dgc", "density": 0.5}])";
    const std::string deep = R"("algorithm.density": [0.25, 0.125])";
    const ScenarioFile shallow_first(fmt::format("{{{}, {}}}", shallow, deep));
    const ScenarioFile deep_first(fmt::format("{{{}, {}}}", deep, shallow));

    CHECK(resolved(shallow_first.study(), 0)["algorithm"]["density"] == 0.25);
    CHECK(resolved(shallow_first.study(), 1)["algorithm"]["density"] == 0.125);
    CHECK(resolved(deep_first.study(), 0)["algorithm"]["density"] == 0.25);
    CHECK(resolved(deep_first.study(), 1)["algorithm"]["density"] == 0.125);
}

TEST_CASE("study: a sweep may fill in what the scenario leaves out") {
    const TemporaryFolder folder;
    const std::string file = folder.write("scenario.json", R"({
        "cluster": {"nodes": 2, "fabric": {"kind": "star"}},
        "workload": {"gradient": "1MB", "step_time": "10ms"},
        "algorithm": {"kind": "dense"}, "stop": {"iterations": 3},
        "sweep": {"cluster.fabric.link.bandwidth": ["1Gbps", "10Gbps"]}})");

    CHECK(read_study(file, {}).points.size() == 2);
}

TEST_CASE("study: a setting changes every point") {
    const ScenarioFile file(R"({"seed": [1, 2]})");

    const Study study = file.study({"cluster.nodes=32"});

    CHECK(nodes_of(study) == std::vector<int>{32, 32});
}

TEST_CASE("study: a setting of a swept path replaces its axis") {
    const ScenarioFile file(R"({"seed": [1, 2], "cluster.nodes": [8, 4, 2]})");

    const Study study = file.study({"cluster.nodes=32"});

    CHECK(study.axes.size() == 1);
    CHECK(study.axes[0].path == "seed");
    CHECK(nodes_of(study) == std::vector<int>{32, 32});
}

TEST_CASE("study: a setting above swept paths replaces their axes") {
    const ScenarioFile file(R"({"cluster.fabric.link.bandwidth": ["1Gbps", "10Gbps"],
                                "cluster.fabric.link.latency": ["0s", "1us"]})");

    const Study study = file.study({R"(cluster.fabric.link={"preset": "25GbE-tcp"})"});

    CHECK(study.axes.empty());
    CHECK(resolved(study, 0)["cluster"]["fabric"]["link"].dump() == R"({"preset":"25GbE-tcp"})");
}

TEST_CASE("study: a setting below a swept object changes each of its values") {
    const ScenarioFile file(R"({"algorithm": [{"kind": "dense", "label": "a"},
                                              {"kind": "dense", "label": "b"}]})");

    const Study study = file.study({"algorithm.all_reduce=halving-doubling"});

    CHECK(study.axes.size() == 1);
    CHECK(resolved(study, 0)["algorithm"]["all_reduce"] == "halving-doubling");
    CHECK(resolved(study, 1)["algorithm"]["all_reduce"] == "halving-doubling");
    CHECK(study.points[1].scenario.algorithm.label == "b");
}

TEST_CASE("study: a path that only begins like a setting's keeps its axis") {
    const ScenarioFile file(R"({"stop.iterations": [1, 2]})");

    CHECK(file.study({"title=stop"}).axes.size() == 1);
    CHECK(file.study({"stop.time=1s"}).axes.size() == 1);
}

TEST_CASE("study: a setting is JSON if it can be, else a text") {
    const ScenarioFile file;

    CHECK(resolved(file.study({"cluster.nodes=8"}), 0)["cluster"]["nodes"] == 8);
    CHECK(resolved(file.study({"workload.step_time=5ms"}), 0)["workload"]["step_time"] == "5ms");
    CHECK(resolved(file.study({R"(workload.step_time="5ms")"}), 0)["workload"]["step_time"] ==
          "5ms");
    CHECK(file.study({"title=a = b"}).title == "a = b");
    CHECK(file.study({"title="}).title.empty());
}

TEST_CASE("study: of two settings of one path the last one counts") {
    const ScenarioFile file;

    CHECK(nodes_of(file.study({"cluster.nodes=8", "cluster.nodes=16"})) == std::vector<int>{16});
}

TEST_CASE("study: a setting that is not path=value is refused") {
    const ScenarioFile file;

    CHECK(file.problem({"cluster.nodes"}) ==
          "command line: --set: \"cluster.nodes\" is not path=value, such as cluster.nodes=8");
    CHECK(file.problem({"=8"}).starts_with("command line: --set: \"=8\" is not path=value"));
}

TEST_CASE("study: a setting of a path that the schema does not have is refused") {
    const ScenarioFile file;

    CHECK(
        file.problem({"cluster.nodse=8"}) ==
        "command line: --set cluster.nodse: \"nodse\" is not a key on this path; did you mean "
        "\"nodes\"? known: nodes, devices, devices_per_node, nics, bus, fabric, transport, "
        "library, "
        "stragglers, "
        "speeds, compute_jitter, classes, sites, failures, placement, background, access, testbed");
}

TEST_CASE("study: a sweep cannot be set, rather than set and forgotten") {
    const ScenarioFile file;

    CHECK(file.problem({R"(sweep={"cluster.nodes": [1, 2, 3]})"})
              .starts_with("command line: --set sweep: "));
}

TEST_CASE("study: a wrong value from the command line is blamed on the command line") {
    const ScenarioFile file;

    CHECK(file.problem({"cluster.nodes=0"}) ==
          "command line: --set cluster.nodes: 0 is not a whole number from 1 to 100000000");
    CHECK(file.problem({R"(algorithm={"kind": "dgc", "density": 2})"}) ==
          "command line: --set algorithm.density: 2 is not a number above 0 and at most 1");
    CHECK(file.problem({"workload.step_time=5"}).starts_with("command line: --set workload."));
    CHECK(file.problem({R"(algorithm={"kind": "dgc", "kind": "dense"})"})
              .starts_with("command line: "));
}

TEST_CASE("study: a setting through a value that is not an object is blamed on the command line") {
    const ScenarioFile file;

    CHECK(file.problem({"algorithm=dense", "algorithm.wire=fp16"}).starts_with("command line: "));
}

TEST_CASE("study: a wrong swept value is blamed on its place in the sweep") {
    const ScenarioFile file(R"({"seed": [1, 2], "cluster.nodes": [8, -4]})");

    CHECK(file.problem() ==
          "file: sweep.cluster.nodes[1]: -4 is not a whole number from 1 to 100000000");
}

TEST_CASE("study: of two axes that lead to a fault the deeper is blamed") {
    const ScenarioFile file(R"({"algorithm": [{"kind": "dgc"}], "algorithm.density": [0.5, 2]})");

    CHECK(file.problem() ==
          "file: sweep.algorithm.density[1]: 2 is not a number above 0 and at most 1");
}

// Found by a fuzz test: "sweep.algorithm[0].mixing" was blamed, which nobody wrote.
TEST_CASE(
    "study: an object that a deeper axis makes within a swept one is blamed on the deeper axis") {
    const ScenarioFile file(
        R"({"algorithm": [{"kind": "dense"}], "algorithm.mixing.kind": [1, 2]})");

    CHECK(file.problem().starts_with(
        "file: sweep.algorithm.mixing.kind[0]: \"mixing\" is not a key here; known: "));
}

TEST_CASE("study: a wrong key of a swept object is blamed on its place there") {
    const ScenarioFile file(R"({"algorithm": [{"kind": "dense"}, {"kind": "dgc", "mixing": 1}]})");

    CHECK(file.problem().starts_with("file: sweep.algorithm[1].mixing: \"mixing\" is not a key"));
}

TEST_CASE("study: a wrong value outside the sweep is blamed on its own place") {
    const TemporaryFolder folder;
    const std::string file = folder.write("scenario.json", R"({
        "cluster": {"nodes": 2, "fabric": {"kind": "star", "link": {"bandwidth": "1Gb"}}},
        "workload": {"gradient": "1MB", "step_time": "10ms"},
        "algorithm": {"kind": "dense"}, "stop": {"iterations": 3},
        "sweep": {"cluster.nodes": [1, 2]}})");

    try {
        (void)read_study(file, {});
        FAIL("must be refused");
    } catch (const ConfigError& error) {
        CHECK(error.file() == file);
        CHECK(error.path() == "cluster.fabric.link.bandwidth");
    }
}

TEST_CASE("study: a fault of the file that a setting removes is no fault") {
    const ScenarioFile file(R"({"cluster.nodes": [0]})");

    CHECK(file.problem({"cluster.nodes=1"}) == "no problem");
}

TEST_CASE("study: the same value as a number and as a text is one name and refused") {
    const ScenarioFile file(R"({"cluster.nodes": ["1", 1]})");

    CHECK(file.problem().starts_with(
        "file: sweep.cluster.nodes[1]: \"1\" occurs twice on this axis"));
}

TEST_CASE("study: a thousand points are read, each with its own choice") {
    std::string values = "1";
    for (int i = 2; i <= 1000; ++i) values += fmt::format(", {}", i);
    const ScenarioFile file(fmt::format(R"({{"seed": [{}]}})", values));

    const Study study = file.study();

    CHECK(study.points.size() == 1000);
    CHECK(study.points[999].scenario.seed == 1000);
}

}  // namespace
}  // namespace paceline::study_test

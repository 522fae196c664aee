#include "app/scenario/sweep.hpp"

#include <map>
#include <random>
#include <set>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/scenario/study.hpp"
#include "tests/app/json/in_memory.hpp"

namespace paceline::sweep_test {
namespace {

// A scenario on links of three kinds with a `sweep`.
ScenarioText scenario(const std::string& sweep) {
    return {"s.json",
            fmt::format(R"({{
                "cluster": {{"nodes": 4, "fabric": {{"kind": "star",
                    "link": {{"bandwidth": "1Gbps"}},
                    "other_links": [{{"nodes": [0], "link": {{"bandwidth": "2Gbps"}}}},
                                    {{"nodes": [1], "link": {{"bandwidth": "3Gbps"}}}}]}}}},
                "workload": {{"gradient": "1MB", "step_time": "10ms", "batch": 1}},
                "algorithm": {{"kind": "dense"}}, "stop": {{"iterations": 1}},
                "sweep": {}}})",
                        sweep),
            in_memory({})};
}

std::string problem(const std::string& sweep, const Settings& settings = {},
                    const Picks& picks = {}) {
    try {
        static_cast<void>(read_study(scenario(sweep), settings, picks));
    } catch (const ConfigError& error) {
        return fmt::format("{}: {}: {}", error.file(), error.path(), error.problem());
    }
    return "no problem";
}

// Returns nodes and batch of each point.
std::vector<std::pair<int, std::int64_t>> nodes_and_batch(const Study& study) {
    std::vector<std::pair<int, std::int64_t>> all;
    for (const Point& point : study.points)
        all.emplace_back(point.scenario.cluster.nodes, *point.scenario.workload.batch);
    return all;
}

constexpr auto zipped = R"({"zip": {"cluster.nodes": [2, 4, 8], "workload.batch": [4, 2, 1]}})";

TEST_CASE("sweep: the axes of a zip advance together") {
    const Study study = read_study(scenario(zipped), {});

    CHECK(nodes_and_batch(study) ==
          std::vector<std::pair<int, std::int64_t>>{{2, 4}, {4, 2}, {8, 1}});
    CHECK(study.axes.size() == 2);
    CHECK(study.axes[0].zip.has_value());
    CHECK(study.axes[0].zip == study.axes[1].zip);
}

// The oracle is the definition: all combinations of one value of each group, the last group
// fastest.
TEST_CASE("sweep: zips and axes make the combinations of their groups") {
    std::mt19937_64 draw(3);
    for (int trial = 0; trial < 50; ++trial) {
        const auto some = [&] { return static_cast<std::size_t>(draw() % 4 + 1); };
        const std::size_t a = some();
        const std::size_t b = some();
        const std::size_t c = some();
        const auto list = [](std::size_t n, int first) {
            Json values = Json::array();
            for (std::size_t i = 0; i < n; ++i) values.push_back(first + static_cast<int>(i));
            return values;
        };
        const Json sweep = {
            {"seed", list(a, 1)},
            {"zip",
             Json::array({{{"cluster.nodes", list(b, 2)}, {"workload.batch", list(b, 10)}}})},
            {"stop.iterations", list(c, 5)}};
        const Study study = read_study(scenario(sweep.dump()), {});
        REQUIRE(study.points.size() == a * b * c);
        std::size_t number = 0;
        for (std::size_t i = 0; i < a; ++i)
            for (std::size_t j = 0; j < b; ++j)
                for (std::size_t k = 0; k < c; ++k, ++number) {
                    const Point point = study.points[number];
                    CHECK(point.number == number);
                    CHECK(point.choice == std::vector<std::size_t>{i, j, j, k});
                    CHECK(study.points.position(number).choice == point.choice);
                    CHECK(point.scenario.seed == i + 1);
                    CHECK(point.scenario.cluster.nodes == static_cast<int>(j) + 2);
                    CHECK(point.scenario.workload.batch == static_cast<std::int64_t>(j) + 10);
                    CHECK(point.scenario.stop.iterations == static_cast<std::int64_t>(k) + 5);
                }
    }
}

TEST_CASE("sweep: a zip may repeat a value of one axis, but no pair") {
    CHECK(problem(R"({"zip": {"cluster.nodes": [2, 2], "workload.batch": [1, 2]}})") ==
          "no problem");
    CHECK(problem(R"({"zip": {"cluster.nodes": [2, 2], "workload.batch": [1, 1]}})") ==
          "s.json: sweep.zip.cluster.nodes[1]: \"2, 1\" occurs twice in this zip; remove one, or "
          "give each object its own \"label\"");
}

TEST_CASE("sweep: axes of a zip that differ in length are refused") {
    CHECK(problem(R"({"zip": {"cluster.nodes": [2, 4], "workload.batch": [1]}})") ==
          "s.json: sweep.zip.workload.batch: has 1 values and \"cluster.nodes\" has 2; axes of a "
          "zip need the same number");
}

TEST_CASE("sweep: a path that is swept twice is refused") {
    CHECK(problem(R"({"cluster.nodes": [2], "zip": {"cluster.nodes": [4]}})") ==
          "s.json: sweep.zip.cluster.nodes: is swept twice; keep one of the axes");
}

TEST_CASE("sweep: a wrong value of a zip is blamed on its place") {
    CHECK(problem(R"({"zip": {"cluster.nodes": [2, 0], "workload.batch": [1, 2]}})")
              .starts_with("s.json: sweep.zip.cluster.nodes[1]: 0 is "));
}

TEST_CASE("sweep: an element of a list is named by its index") {
    for (const char* path : {"cluster.fabric.other_links.1.link.bandwidth",
                             "cluster.fabric.other_links[1].link.bandwidth"}) {
        CAPTURE(path);
        const Study study =
            read_study(scenario(fmt::format(R"({{"{}": ["5Gbps", "6Gbps"]}})", path)), {});
        REQUIRE(study.points.size() == 2);
        const Json links =
            Json::parse(study.points[1].resolved)["cluster"]["fabric"]["other_links"];
        CHECK(links[0]["link"]["bandwidth"] == "2Gbps");
        CHECK(links[1]["link"]["bandwidth"] == "6Gbps");
        const Study set = read_study(scenario("{}"), {std::string(path) + "=7Gbps"});
        CHECK(Json::parse(set.points[0].resolved)["cluster"]["fabric"]["other_links"][1]["link"]
                                                 ["bandwidth"] == "7Gbps");
    }
}

TEST_CASE("sweep: an index that a list does not have, or that is none, is refused") {
    CHECK(problem(R"({"cluster.fabric.other_links.2.link": [{"bandwidth": "5Gbps"}]})") ==
          "s.json: sweep.cluster.fabric.other_links.2.link: names element 2 of a list that has 2; "
          "elements count from 0");
    CHECK(problem(R"({"cluster.fabric.other_links.first.link": [{"bandwidth": "5Gbps"}]})") ==
          "s.json: sweep.cluster.fabric.other_links.first.link: \"first\" is not an index of a "
          "list; elements count from 0");
    CHECK(problem("{}", {"cluster.fabric.other_links.9=1"}) ==
          "command line: --set cluster.fabric.other_links.9: names element 9 of a list that has "
          "2; elements count from 0");
}

TEST_CASE("sweep: a wrong value below an index is blamed on its place in the sweep") {
    CHECK(problem(R"({"cluster.fabric.other_links.1.link.bandwidth": ["5Gbps", "fast"]})")
              .starts_with("s.json: sweep.cluster.fabric.other_links.1.link.bandwidth[1]: "));
    CHECK(problem("{}", {"cluster.fabric.other_links.1.link.bandwidth=fast"})
              .starts_with("command line: --set cluster.fabric.other_links[1].link.bandwidth: "));
}

TEST_CASE("sweep: a setting of an axis to a list gives the axis these values") {
    const Study study =
        read_study(scenario(R"({"cluster.nodes": [2, 4], "workload.batch": [1, 3]})"),
                   {"cluster.nodes=[8, 16, 32]"});

    CHECK(study.axes[0].names == std::vector<std::string>{"8", "16", "32"});
    CHECK(nodes_and_batch(study) == std::vector<std::pair<int, std::int64_t>>{
                                        {8, 1}, {8, 3}, {16, 1}, {16, 3}, {32, 1}, {32, 3}});
    CHECK(problem(R"({"cluster.nodes": [2, 4]})", {"cluster.nodes=[8, 0]"})
              .starts_with("command line: --set cluster.nodes[1]: 0 is "));
    CHECK(problem(R"({"cluster.nodes": [2, 4]})", {"cluster.nodes=[]"}) ==
          "command line: --set cluster.nodes: is empty; give at least one value");
    CHECK(problem(zipped, {"cluster.nodes=[8, 16]"}) ==
          "command line: --set cluster.nodes: has 2 values, and the axis advances with others "
          "that have 3");
}

TEST_CASE("sweep: where values are lists, a list is one value and a list of lists are values") {
    const std::string sweep = R"({"cluster.fabric.other_links": [[], [{"nodes": [2],
                                  "link": {"bandwidth": "9Gbps"}}]]})";
    const std::string one = R"([{"nodes": [3], "link": {"bandwidth": "8Gbps"}}])";

    CHECK(read_study(scenario(sweep), {"cluster.fabric.other_links=" + one}).axes.empty());
    const Study several = read_study(
        scenario(sweep), {fmt::format("cluster.fabric.other_links=[[], {}, {}]", one,
                                      R"([{"nodes": [0], "link": {"preset": "1GbE-tcp"}}])")});
    CHECK(several.points.size() == 3);
}

TEST_CASE("sweep: a pick keeps the value of that label, and several keep several") {
    const std::string sweep = R"({"cluster.nodes": [2, 4, 8],
        "algorithm": [{"kind": "dense"}, {"kind": "dgc", "label": "small, fast"}]})";
    const auto labels = [&](const Picks& picks) {
        std::vector<std::string> all;
        for (const Point& point : read_study(scenario(sweep), {}, picks).points)
            all.push_back(
                fmt::format("{} {}", point.scenario.cluster.nodes, point.scenario.algorithm.label));
        return all;
    };
    using Labels = std::vector<std::string>;

    CHECK(labels({"cluster.nodes=4"}) == Labels{"4 dense", "4 small, fast"});
    CHECK(labels({"nodes=8", "algorithm=small, fast"}) == Labels{"8 small, fast"});
    CHECK(labels({"nodes=8", "nodes=2", "algorithm=dense"}) == Labels{"2 dense", "8 dense"});
    const Study one = read_study(scenario(sweep), {}, {"nodes=8", "algorithm=dense"});
    CHECK(one.axes.size() == 2);  // columns stay
    CHECK(one.points[0].number == 0);
}

TEST_CASE("sweep: picks of a zip keep what all of them keep") {
    CHECK(nodes_and_batch(read_study(scenario(zipped), {}, {"nodes=4"})) ==
          std::vector<std::pair<int, std::int64_t>>{{4, 2}});
    CHECK(nodes_and_batch(read_study(scenario(zipped), {}, {"nodes=4", "nodes=8", "batch=1"})) ==
          std::vector<std::pair<int, std::int64_t>>{{8, 1}});
    CHECK(problem(zipped, {}, {"nodes=4", "batch=4"})
              .starts_with("command line: --pick batch=4: leaves no point"));
}

TEST_CASE("sweep: a pick of what is not there names what is") {
    constexpr auto sweep = R"({"cluster.nodes": [2, 4]})";
    CHECK(problem(sweep, {}, {"cluster.nodse=2"})
              .starts_with("command line: --pick cluster.nodse=2: \"cluster.nodse\" is not an axis "
                           "of the sweep; did you mean \"cluster.nodes\"?"));
    CHECK(problem(sweep, {}, {"nodes=3"})
              .starts_with("command line: --pick nodes=3: \"3\" is not a value of this axis"));
    CHECK(problem(sweep, {}, {"nodes"}) ==
          "command line: --pick: \"nodes\" is not axis=label, such as algorithm=dgc");
    CHECK(problem("{}", {}, {"nodes=3"}) ==
          "command line: --pick nodes=3: the scenario has no axis to pick from");
}

TEST_CASE("sweep: a setting wins over a pick of its axis") {
    const Study study =
        read_study(scenario(R"({"cluster.nodes": [2, 4]})"), {"cluster.nodes=16"}, {"nodes=4"});

    CHECK(study.points.size() == 1);
    CHECK(study.points[0].scenario.cluster.nodes == 16);
}

TEST_CASE("sweep: the title belongs to the study") {
    ScenarioText text = scenario(R"({"cluster.nodes": [2, 4]})");
    text.text.insert(1, R"("title": "of all points",)");

    const Study study = read_study(text, {});

    CHECK(study.title == "of all points");
    CHECK_FALSE(Json::parse(study.points[1].resolved).contains("title"));
    CHECK(read_study(text, {"title=another"}).title == "another");
    CHECK(problem(R"({"title": ["a", "b"]})") ==
          "s.json: sweep.title: applies to the whole study and cannot be swept");
}

TEST_CASE("sweep: reading shows each point once and can be ended") {
    std::vector<std::size_t> seen;
    struct Enough {};
    const auto see = [&](const Point& point) {
        seen.push_back(point.number);
        if (point.number == 2) throw Enough{};
    };
    CHECK_THROWS_AS(static_cast<void>(
                        read_study(scenario(R"({"cluster.nodes": [2, 3, 4, 5, 6]})"), {}, {}, see)),
                    Enough);
    CHECK(seen == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("sweep: a file that points name is read once") {
    int reads = 0;
    ScenarioText text = scenario(R"({"cluster.nodes": [2, 3, 4, 5, 6]})");
    Sources sources = in_memory({});
    sources.text = [&](const std::string&) {
        ++reads;
        return std::string(R"({"name": "n", "source": "s", "layers": [
            {"name": "l", "macs": 1, "tensors": [{"name": "w", "shape": [2, 2]}]}]})");
    };
    text.sources = sources;

    const Study study =
        read_study(text, {R"(workload={"profile": "mine.json", "step_time": "1ms", "batch": 1})"});
    for (const Point& point : study.points) CHECK(point.scenario.workload.name == "n");

    CHECK(reads == 1);
    CHECK(study.points[0].scenario.workload.layout == study.points[1].scenario.workload.layout);
}

}  // namespace
}  // namespace paceline::sweep_test

#include "app/scenario/nodes/node_list.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace paceline::node_list_test {
namespace {

std::vector<int> read(const std::string& text, int nodes) {
    static const std::string file = "file.json";
    const Json json = Json::parse(text);
    return read_nodes({&json, &file, "nodes"}, nodes);
}

std::string refusal(const std::string& text, int nodes) {
    try {
        (void)read(text, nodes);
    } catch (const ConfigError& error) {
        return error.path() + ": " + error.problem();
    }
    return "accepted";
}

using Nodes = std::vector<int>;

TEST_CASE("node list: a list names nodes in its order") {
    CHECK(read("[3, 0, 2]", 4) == Nodes{3, 0, 2});
}

TEST_CASE("node list: a range has both its ends, as far as its steps meet them") {
    CHECK(read(R"({"from": 1, "to": 3})", 4) == Nodes{1, 2, 3});
    CHECK(read(R"({"from": 2, "to": 2})", 4) == Nodes{2});
    CHECK(read(R"({"from": 1, "to": 8, "step": 3})", 9) == Nodes{1, 4, 7});
    CHECK(read(R"({"from": 0, "to": 8, "step": 4})", 9) == Nodes{0, 4, 8});
}

TEST_CASE("node list: words name all nodes, or every second one") {
    CHECK(read("\"all\"", 3) == Nodes{0, 1, 2});
    CHECK(read("\"even\"", 5) == Nodes{0, 2, 4});
    CHECK(read("\"odd\"", 5) == Nodes{1, 3});
    CHECK(read("\"even\"", 1) == Nodes{0});
}

TEST_CASE("node list: what names no node, or one that there is not, is refused") {
    CHECK(refusal("[]", 4).starts_with("nodes: names no nodes; give a list such as [0, 3]"));
    CHECK(refusal("3", 4).starts_with("nodes: names no nodes"));
    CHECK(refusal("[0, 4]", 4).starts_with("nodes[1]: "));
    CHECK(refusal("[0, 2, 0]", 4) == "nodes[2]: node 0 is listed twice; list each once");
    CHECK(refusal("\"odd\"", 1) == "nodes: there is node 0 alone; name it by [0] or \"all\"");
    CHECK(refusal("\"evne\"", 4).find("did you mean \"even\"?") != std::string::npos);
    CHECK(refusal(R"({"from": 2, "to": 1})", 4) == "nodes.to: lies before \"from\", 2");
    CHECK(refusal(R"({"from": 0, "to": 4})", 4).starts_with("nodes.to: "));
    CHECK(refusal(R"({"from": 0})", 4).find("\"to\" is missing") != std::string::npos);
}

// --- shares ---

NodesOfObjects deal(const std::string& text, int nodes, std::uint64_t seed = 1) {
    static const std::string file = "file.json";
    static Json json;
    json = Json::parse(text);
    const Place list{&json, &file, "list"};
    std::vector<Place> objects;
    for (std::size_t i = 0; i < json.size(); ++i) objects.push_back(list.element(i));
    return read_nodes_of(objects, {nodes, seed}, "test");
}

std::string refusal_of_share(const std::string& text, int nodes) {
    try {
        (void)deal(text, nodes);
    } catch (const ConfigError& error) {
        return error.path() + ": " + error.problem();
    }
    return "accepted";
}

TEST_CASE("share of nodes, property: counts are exact and no node is drawn twice, for every seed") {
    for (int nodes = 2; nodes <= 40; ++nodes)
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            CAPTURE(nodes);
            CAPTURE(seed);
            const auto dealt =
                deal(R"([{"share": 0.3}, {"nodes": [0]}, {"share": 0.25}, {}])", nodes, seed);
            REQUIRE(dealt.nodes.size() == 4);
            const Nodes& first = *dealt.nodes[0];
            const Nodes& second = *dealt.nodes[2];
            CHECK(std::ssize(first) == std::lround(0.3 * nodes));
            CHECK(std::ssize(first) + std::ssize(second) == std::lround(0.55 * nodes));
            CHECK(*dealt.nodes[1] == Nodes{0});
            CHECK_FALSE(dealt.nodes[3]);
            std::set<int> all{0};
            for (const Nodes& drawn : {first, second}) {
                CHECK(std::ranges::is_sorted(drawn));
                for (const int node : drawn) {
                    CHECK((node > 0 && node < nodes));
                    CHECK(all.insert(node).second);
                }
            }
            REQUIRE(dealt.drawn.size() == 2);
            CHECK(dealt.drawn[1].path == "list[2]");
            CHECK(dealt.drawn[1].share == 0.25);
            CHECK(dealt.drawn[1].of == nodes);
            CHECK(dealt.drawn[1].nodes == second);
        }
}

TEST_CASE("share of nodes: shares that add up to 1 have every node") {
    for (const int nodes : {1, 2, 3, 7, 10, 100}) {
        CAPTURE(nodes);
        const auto dealt = deal(R"([{"share": 0.5}, {"share": 0.25}, {"share": 0.25}])", nodes);
        std::set<int> all;
        for (const auto& drawn : dealt.nodes) all.insert(drawn->begin(), drawn->end());
        CHECK(std::ssize(all) == nodes);
    }
}

TEST_CASE("share of nodes: the seed decides, and every node is drawn as often") {
    constexpr int nodes = 20;
    constexpr int seeds = 4000;
    std::vector<int> times(nodes);
    std::set<Nodes> draws;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        const Nodes drawn = *deal(R"([{"share": 0.3}])", nodes, seed).nodes[0];
        CHECK(drawn == *deal(R"([{"share": 0.3}])", nodes, seed).nodes[0]);
        draws.insert(drawn);
        for (const int node : drawn) ++times[static_cast<std::size_t>(node)];
    }
    CHECK(draws.size() > 3500);  // of 38,760 sets of 6 nodes
    // 0.3 of 4000 are 1200; the deviation of such a count is 29, and five of them are 145.
    for (const int count : times) CHECK(std::abs(count - 1200) < 145);
}

TEST_CASE("share of nodes: an object at the end of the list changes none before it") {
    const auto one = deal(R"([{"share": 0.3}])", 50, 7);
    const auto two = deal(R"([{"share": 0.3}, {"share": 0.4}])", 50, 7);
    CHECK(one.nodes[0] == two.nodes[0]);
}

TEST_CASE("share of nodes: too many, both or none are refused, with the fix") {
    CHECK(refusal_of_share(R"([{"share": 0.7}, {"share": 0.4}])", 10) ==
          "list[1].share: the shares of this list add up to 1.1; 1 is all nodes");
    CHECK(refusal_of_share(R"([{"nodes": [1, 2, 3]}, {"share": 0.8}])", 10) ==
          "list[1].share: the shares of this list are 8 of 10 nodes, and \"nodes\" of other "
          "objects leave 7; lower a share or name fewer nodes");
    CHECK(
        refusal_of_share(R"([{"nodes": [1], "share": 0.1}])", 10) ==
        "list[0].share: cannot be used with \"nodes\", because it draws them; give one of the two");
    for (const char* share : {"0", "-0.1", "1.5", "\"half\""}) {
        CAPTURE(share);
        const std::string text = std::string(R"([{"share": )") + share + "}]";
        CHECK(refusal_of_share(text, 10).starts_with("list[0].share: "));
    }
    CHECK(refusal_of_share(R"([{"share": 1}])", 10) == "accepted");
}

}  // namespace
}  // namespace paceline::node_list_test

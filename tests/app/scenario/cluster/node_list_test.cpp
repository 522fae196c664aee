#include "app/scenario/cluster/node_list.hpp"

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
    CHECK(refusal("[0, 2, 0]", 4) == "nodes[2]: node 0 stands twice; name each once");
    CHECK(refusal("\"odd\"", 1) == "nodes: there is node 0 alone; name it by [0] or \"all\"");
    CHECK(refusal("\"evne\"", 4).find("did you mean \"even\"?") != std::string::npos);
    CHECK(refusal(R"({"from": 2, "to": 1})", 4) == "nodes.to: lies before \"from\", 2");
    CHECK(refusal(R"({"from": 0, "to": 4})", 4).starts_with("nodes.to: "));
    CHECK(refusal(R"({"from": 0})", 4).find("\"to\" is missing") != std::string::npos);
}

}  // namespace
}  // namespace paceline::node_list_test

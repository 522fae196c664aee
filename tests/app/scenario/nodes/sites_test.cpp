// The levels of clusters: those of fabrics, and those of "sites".
#include "app/scenario/nodes/sites.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/scenario/cluster/cluster_choice.hpp"

namespace paceline::sites_test {
namespace {

using Groups = std::vector<std::vector<int>>;

Levels levels_of(int nodes, const std::string& fabric, const std::string& others = "") {
    const Json cluster = Json::parse(
        fmt::format(R"({{"nodes": {}, "fabric": {{"link": {{"bandwidth": "1Gbps"}}, {}}}{}}})",
                    nodes, fabric, others));
    const std::string file = "s.json";
    return read_cluster({&cluster, &file, "cluster"}).levels();
}

Groups groups(const Levels& levels, std::string_view name) {
    return levels.find(name).value().groups();
}

TEST_CASE("sites: leaves, pods, sides and cells are levels by themselves") {
    using Names = std::vector<std::string_view>;
    const Levels leaf_spine =
        levels_of(5, R"("kind": "leaf-spine", "hosts_per_leaf": 2, "spines": 1)");
    const Levels fat_tree = levels_of(7, R"("kind": "fat-tree", "k": 4)");
    const Levels dumbbell =
        levels_of(5, R"("kind": "dumbbell", "bottleneck": {"bandwidth": "1Gbps"})");
    const Levels cells =
        levels_of(5, R"("kind": "cell", "nodes_per_cell": 3, "capacity": "1Gbps")");

    CHECK(groups(leaf_spine, "leaf") == Groups{{0, 1}, {2, 3}, {4}});
    CHECK(fat_tree.names() == Names{"machine", "leaf", "pod"});
    CHECK(groups(fat_tree, "leaf") == Groups{{0, 1}, {2, 3}, {4, 5}, {6}});
    CHECK(groups(fat_tree, "pod") == Groups{{0, 1, 2, 3}, {4, 5, 6}});
    CHECK(groups(dumbbell, "side") == Groups{{0, 1}, {2, 3, 4}});
    CHECK(groups(cells, "cell") == Groups{{0, 1, 2}, {3, 4}});
    CHECK(levels_of(3, R"("kind": "star")").names() == Names{"machine"});
}

TEST_CASE("sites: levels are lists of nodes, or groups of so many") {
    const Levels levels = levels_of(6, R"("kind": "star")",
                                    R"(, "sites": [{"level": "rack", "size": 2}, {"level": "site",
                                    "groups": [[4, 5], {"from": 0, "to": 3}]}])");

    CHECK(groups(levels, "rack") == Groups{{0, 1}, {2, 3}, {4, 5}});
    CHECK(groups(levels, "site") == Groups{{4, 5}, {0, 1, 2, 3}});
}

TEST_CASE("sites: a placed job has its own machines in the groups of their nodes") {
    const Levels levels = levels_of(
        6, R"("kind": "leaf-spine", "hosts_per_leaf": 2, "spines": 1)",
        R"(, "placement": [4, 0, 1], "sites": [{"level": "site", "groups": [[0, 5], [2, 3],
                  [1, 4]]}])");

    CHECK(levels.machines() == 3);
    CHECK(groups(levels, "leaf") == Groups{{1, 2}, {0}});
    CHECK(groups(levels, "site") == Groups{{1}, {0, 2}});
}

}  // namespace
}  // namespace paceline::sites_test

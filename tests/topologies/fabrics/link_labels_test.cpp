// The labels of links, on every fabric.
#include "topologies/fabrics/link_labels.hpp"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "topologies/fabrics/cell.hpp"
#include "topologies/fabrics/dumbbell.hpp"
#include "topologies/fabrics/fat_tree.hpp"
#include "topologies/fabrics/graph.hpp"
#include "topologies/fabrics/leaf_spine.hpp"
#include "topologies/fabrics/machines.hpp"
#include "topologies/fabrics/placed.hpp"
#include "topologies/fabrics/regions.hpp"
#include "topologies/fabrics/star.hpp"
#include "topologies/fabrics/torus.hpp"

namespace paceline::link_labels_test {
namespace {

using namespace literals;

const Link link{1_Gbps};

Fabric cells() {
    const UpAndDown both{link, link};
    return make_cells({.nodes = 7,
                       .servers = 2,
                       .nodes_per_cell = 3,
                       .own = both,
                       .air = both,
                       .backhaul = both,
                       .server = both});
}

Fabric graph() {
    return make_graph({.hosts = 3,
                       .switches = 2,
                       .cables = {{0, 3, link}, {1, 3, link}, {3, 4, link}, {4, 2, link}},
                       .switch_names = {"top", "s2"}},
                      1);
}

struct Named {
    std::string name;
    Fabric fabric;
};

std::vector<Named> fabrics() {
    std::vector<Named> all;
    all.push_back({"star", make_star(5, link, link)});
    all.push_back({"dumbbell", make_dumbbell(5, link, link)});
    all.push_back({"leaf-spine", make_leaf_spine({10, 4, 3, link, link}, 1)});
    all.push_back(
        {"fat-tree", make_fat_tree({.hosts = 13, .k = 4, .link = link, .uplink = link}, 1)});
    all.push_back({"torus", make_torus({3, 2, 4}, link, 1)});
    all.push_back({"ring", make_torus({5}, link, 1)});
    all.push_back({"cells", cells()});
    all.push_back({"graph", graph()});
    all.push_back({"regions", make_regions({.regions = {{"a", 2, link, link}, {"b", 1, link, link}},
                                            .pipes = {{link, link}, {link, link}}})});
    return all;
}

TEST_CASE("link labels: every link of every fabric has a name of its own") {
    std::vector<Named> all = fabrics();
    for (const BusKind kind : {BusKind::switched, BusKind::bridged})
        all.push_back({"machines", make_machines(7, 2, {kind, link}, make_star(4, link, link))});
    for (const auto& [name, fabric] : all) {
        CAPTURE(name);
        std::set<std::string> names;
        for (LinkId id = 0; id < fabric.links.size(); ++id) {
            const LinkLabel label = fabric.label(id);
            CAPTURE(label.name);
            CHECK(names.insert(label.name).second);
            CHECK_FALSE(label.kind.empty());
        }
    }
}

TEST_CASE("link labels: a way begins at its host's own link and ends at the other's") {
    for (const auto& [name, fabric] : fabrics()) {
        CAPTURE(name);
        Route route;
        for (int from = 0; from < fabric.hosts; ++from)
            for (int to = 0; to < fabric.hosts; ++to) {
                if (from == to) continue;
                fabric.find_route(from, to, route);
                const LinkLabel first = fabric.label(route.front());
                const LinkLabel last = fabric.label(route.back());
                CHECK(first.role == LinkRole::node);
                CHECK(last.role == LinkRole::node);
                CHECK(first.name.starts_with(fmt::format("node {} ", from)));
                CHECK((last.name == fmt::format("node {} down", to) ||
                       last.name.ends_with(fmt::format("-> node {}", to))));
            }
    }
}

// Splits "a -> b" into its ends.
std::pair<std::string, std::string> ends_of(const std::string& name) {
    const std::size_t arrow = name.find(" -> ");
    return {name.substr(0, arrow), name.substr(arrow + 4)};
}

TEST_CASE("link labels: between switches each link of a way begins where the one before it ends") {
    for (const auto& [name, fabric] : fabrics()) {
        CAPTURE(name);
        if (name == "cells") continue;  // its links do not have two ends with names
        Route route;
        for (int from = 0; from < fabric.hosts; ++from)
            for (int to = 0; to < fabric.hosts; ++to) {
                if (from == to) continue;
                fabric.find_route(from, to, route);
                std::string at;
                for (const LinkId id : route) {
                    const LinkLabel label = fabric.label(id);
                    if (label.name.find(" -> ") == std::string::npos) continue;
                    const auto [begin, end] = ends_of(label.name);
                    if (!at.empty()) CHECK(begin == at);
                    at = end;
                }
            }
    }
}

TEST_CASE("link labels: cables between the same two ends are numbered") {
    Graph twice;
    twice.hosts = 2;
    twice.cables = {{0, 1, {}}, {1, 0, {}}};
    const Fabric fabric = make_graph(twice, 1);
    CHECK(fabric.label(0).name == "node 0 -> node 1");
    CHECK(fabric.label(3).name == "node 0 -> node 1 (2)");
}

TEST_CASE("link labels: a graph's switches have the names that the list gives them") {
    const Fabric fabric = graph();

    CHECK(fabric.label(0).name == "node 0 -> top");
    CHECK(fabric.label(1).name == "top -> node 0");
    CHECK(fabric.label(4).name == "top -> s2");
    CHECK(fabric.label(4).role == LinkRole::core);
    CHECK(fabric.label(4).host == -1);
    CHECK(fabric.label(6).host == 2);
}

TEST_CASE("link labels: hosts that are placed use the links of their places") {
    const Fabric fabric = make_placed({4, 2}, make_star(5, link, link));
    Route route;
    fabric.find_route(0, 1, route);

    CHECK(fabric.label(route.front()).name == "node 4 up");
    CHECK(fabric.label(route.back()).name == "node 2 down");
}

TEST_CASE("link labels: inside a machine, links belong to the bus") {
    const Fabric direct = make_machines(4, 2, {BusKind::direct, link}, make_star(2, link, link));
    Route route;
    direct.find_route(3, 2, route);

    CHECK(direct.label(route.front()).name == "device 3 -> device 2");
    CHECK(direct.label(route.front()).role == LinkRole::bus);
    direct.find_route(3, 0, route);
    CHECK(direct.label(route.front()).name == "node 1 up");
}

}  // namespace
}  // namespace paceline::link_labels_test

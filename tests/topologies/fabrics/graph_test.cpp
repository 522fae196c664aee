#include "topologies/fabrics/graph.hpp"

#include <algorithm>
#include <set>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "sim/engine/random.hpp"
#include "tests/topologies/fabrics/wiring.hpp"

namespace paceline::graph_test {
namespace {

using namespace literals;

const Link link{10_Gbps};
using Pair = std::pair<int, int>;

Graph graph_of(int hosts, int switches, const std::vector<Pair>& cables) {
    Graph graph{hosts, switches, {}};
    for (const auto& [first, second] : cables) graph.cables.push_back({first, second, link});
    return graph;
}

TEST_CASE("graph: every cable is two links, of its own figures") {
    Graph graph = graph_of(2, 1, {{0, 2}, {1, 2}});
    graph.cables[1].link = {1_Gbps};
    const Fabric fabric = make_graph(graph, 1);

    CHECK(fabric.hosts == 2);
    REQUIRE(fabric.links.size() == 4);
    CHECK(fabric.links[0].bandwidth == 10_Gbps);
    CHECK(fabric.links[1].bandwidth == 10_Gbps);
    CHECK(fabric.links[2].bandwidth == 1_Gbps);
    CHECK(fabric.links[3].bandwidth == 1_Gbps);
}

TEST_CASE("graph: a route goes the way with the fewest links, whatever their bandwidth") {
    // 0 - s3 - s4 - s5 - 1, and a shortcut s3 - s5. Host 2 is on s4; its cable is listed switch
    // first.
    const Fabric fabric =
        make_graph(graph_of(3, 3, {{0, 3}, {3, 4}, {4, 5}, {5, 1}, {3, 5}, {4, 2}}), 1);

    CHECK(route(fabric, 0, 1) == Route{0, 8, 6});
    CHECK(route(fabric, 1, 0) == Route{7, 9, 1});
    CHECK(route(fabric, 0, 2) == Route{0, 2, 10});
    CHECK(route(fabric, 2, 1) == Route{11, 4, 6});
}

TEST_CASE("graph: a cable between two hosts serves these two, and nobody else") {
    // 0 - 1 directly; all hosts are also on switches, 0 and 2 on s3, 1 on s4.
    const Fabric fabric = make_graph(graph_of(3, 2, {{0, 1}, {0, 3}, {2, 3}, {3, 4}, {1, 4}}), 1);

    CHECK(route(fabric, 0, 1) == Route{0});
    CHECK(route(fabric, 1, 0) == Route{1});
    CHECK(route(fabric, 2, 1) == Route{4, 6, 9});  // not through host 0
}

TEST_CASE("graph: a host on two switches uses the nearer one, and does not join them") {
    // Host 0 on s3 and s5 of the line s3 - s4 - s5; host 1 on s3, host 2 on s5.
    const Fabric fabric =
        make_graph(graph_of(3, 3, {{0, 3}, {0, 5}, {3, 4}, {4, 5}, {1, 3}, {2, 5}}), 1);

    CHECK(route(fabric, 0, 1) == Route{0, 9});
    CHECK(route(fabric, 0, 2) == Route{2, 11});
    CHECK(route(fabric, 1, 2) == Route{8, 4, 6, 11});
}

TEST_CASE("graph: each of several parallel cables is drawn by some pair") {
    std::set<LinkId> seen;
    for (std::uint64_t seed = 0; seed < 60; ++seed)
        seen.insert(route(
            make_graph(graph_of(2, 2, {{0, 2}, {2, 3}, {3, 2}, {2, 3}, {1, 3}}), seed), 0, 1)[1]);

    CHECK(seen == std::set<LinkId>{2, 5, 6});
}

TEST_CASE("graph: the cable of each step is drawn apart") {
    // 0 - s2 = s3 = s4 - 1: each of the four routes over the two pairs of cables is drawn.
    const Graph graph = graph_of(2, 3, {{0, 2}, {2, 3}, {2, 3}, {3, 4}, {3, 4}, {4, 1}});
    std::set<Route> seen;
    for (std::uint64_t seed = 0; seed < 100; ++seed)
        seen.insert(route(make_graph(graph, seed), 0, 1));

    CHECK(seen == std::set<Route>{{0, 2, 6, 10}, {0, 2, 8, 10}, {0, 4, 6, 10}, {0, 4, 8, 10}});
}

TEST_CASE("graph: hosts without a way between them are found") {
    CHECK(!unconnected_hosts(graph_of(1, 0, {})));
    CHECK(!unconnected_hosts(graph_of(2, 0, {{0, 1}})));
    CHECK(!unconnected_hosts(graph_of(3, 0, {{0, 1}, {1, 2}, {2, 0}})));
    CHECK(unconnected_hosts(graph_of(3, 0, {{0, 1}, {1, 2}})) == Pair{0, 2});
    CHECK(unconnected_hosts(graph_of(2, 1, {{0, 2}})) == Pair{0, 1});
    CHECK(unconnected_hosts(graph_of(2, 1, {{1, 2}})) == Pair{0, 1});
    CHECK(unconnected_hosts(graph_of(2, 2, {{0, 2}, {1, 3}})) == Pair{0, 1});
    CHECK(unconnected_hosts(graph_of(100'000'000, 1, {{0, 100'000'000}})) == Pair{0, 1});
    // There are three parts, and any two hosts have one of them in common.
    CHECK(!unconnected_hosts(graph_of(3, 3, {{0, 3}, {0, 4}, {1, 4}, {1, 5}, {2, 5}, {2, 3}})));
}

// Each host is on up to three switches, with random cables: some graphs are connected.
Graph random_graph(RandomStream& rng) {
    const int hosts = 1 + static_cast<int>(rng() % 8);
    const int switches = static_cast<int>(rng() % 9);
    const int vertices = hosts + switches;
    Graph graph{hosts, switches, {}};
    const auto cable = [&](int first, int second) {
        if (first == second) return;
        if (rng() % 2 == 0) std::swap(first, second);
        graph.cables.push_back({first, second, link});
    };
    for (int host = 0; host < hosts; ++host)
        for (auto left = 1 + rng() % 3; left > 0 && switches > 0; --left)
            cable(host, hosts + static_cast<int>(rng() % static_cast<unsigned>(switches)));
    for (auto left = rng() % 20; left > 0; --left)
        cable(static_cast<int>(rng() % static_cast<unsigned>(vertices)),
              static_cast<int>(rng() % static_cast<unsigned>(vertices)));
    std::ranges::rotate(
        graph.cables, graph.cables.begin() + static_cast<std::ptrdiff_t>(graph.cables.size() / 2));
    return graph;
}

std::optional<Pair> unconnected_by_search(const Wiring& wiring) {
    for (int from = 0; from < wiring.hosts; ++from) {
        const std::vector<int> far = wiring.distances(from);
        for (int to = from + 1; to < wiring.hosts; ++to)
            if (far[static_cast<std::size_t>(to)] < 0) return Pair{from, to};
    }
    return std::nullopt;
}

TEST_CASE("graph, property: on random graphs routes are as short as a breadth-first search finds") {
    int connected = 0;
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        CAPTURE(seed);
        RandomStream rng = RandomStreams(seed).stream("graph");
        const Graph graph = random_graph(rng);
        const Wiring wiring = wiring_of_graph(graph);
        const auto apart = unconnected_by_search(wiring);

        const auto found = unconnected_hosts(graph);
        REQUIRE(found.has_value() == apart.has_value());
        if (found) {
            const auto far = wiring.distances(found->first);
            CHECK(far[static_cast<std::size_t>(found->second)] < 0);
            CHECK_THROWS_AS(make_graph(graph, seed), LogicError);
            continue;
        }
        ++connected;
        const Fabric fabric = make_graph(graph, seed);
        for (int from = 0; from < graph.hosts; ++from) {
            const std::vector<int> far = wiring.distances(from);
            for (int to = 0; to < graph.hosts; ++to) {
                if (from == to) continue;
                const Route links = route(fabric, from, to);
                int at = from;
                for (const LinkId link_id : links) {
                    const auto [tail, head] = wiring.ends(link_id);
                    REQUIRE(tail == at);
                    at = head;
                }
                REQUIRE(at == to);
                REQUIRE(static_cast<int>(links.size()) == far[static_cast<std::size_t>(to)]);
            }
        }
    }
    CHECK(connected > 400);
    CHECK(connected < 1900);
}

TEST_CASE("graph: cables that join nothing, and hosts apart, are programming errors") {
    CHECK_THROWS_AS(make_graph(graph_of(0, 1, {}), 1), LogicError);
    CHECK_THROWS_AS(make_graph(graph_of(1, -1, {}), 1), LogicError);
    CHECK_THROWS_AS(make_graph(graph_of(1, 4097, {}), 1), LogicError);
    CHECK_THROWS_AS(make_graph(graph_of(2, 0, {{0, 2}}), 1), LogicError);
    CHECK_THROWS_AS(make_graph(graph_of(2, 0, {{-1, 1}}), 1), LogicError);
    CHECK_THROWS_AS(make_graph(graph_of(2, 1, {{0, 1}, {2, 2}}), 1), LogicError);
    CHECK_THROWS_AS(make_graph(graph_of(2, 0, {}), 1), LogicError);
}

}  // namespace
}  // namespace paceline::graph_test

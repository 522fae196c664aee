#include "topologies/fabrics/regions.hpp"

#include <string>

#include <boost/random/uniform_int_distribution.hpp>
#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "sim/engine/random.hpp"
#include "tests/topologies/fabrics/wiring.hpp"
#include "topologies/fabrics/graph.hpp"

namespace paceline::regions_test {
namespace {

using namespace literals;

const Link access{10_Gbps};

// Hosts 0, 1 in the first region, 2 in the second, 3, 4, 5 in the third; the pipe from i to j has
// 10 i + j Mbps.
Regions three() {
    Regions shape;
    shape.regions = {
        {"east", 2, access, access}, {"west", 1, access, access}, {"north", 3, access, access}};
    shape.pipes.assign(3, std::vector<Link>(3));
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            shape.pipes[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)].bandwidth =
                (10 * i + j) * 1_Mbps;
    return shape;
}

TEST_CASE("regions: each ordered pair has a pipe of its own, and only what goes between uses it") {
    const Fabric fabric = make_regions(three());

    REQUIRE(fabric.links.size() == 18);
    CHECK(route(fabric, 0, 1) == Route{0, 3});
    CHECK(route(fabric, 5, 3) == Route{10, 7});
    CHECK(route(fabric, 0, 2) == Route{0, 12, 5});
    CHECK(route(fabric, 2, 1) == Route{4, 13, 3});
    CHECK(route(fabric, 1, 4) == Route{2, 14, 9});
    CHECK(route(fabric, 3, 2) == Route{6, 17, 5});
    CHECK(fabric.links[12].bandwidth == 1_Mbps);   // from east to west
    CHECK(fabric.links[13].bandwidth == 10_Mbps);  // and back
    CHECK(fabric.links[14].bandwidth == 2_Mbps);
    CHECK(fabric.links[17].bandwidth == 21_Mbps);
}

TEST_CASE("regions: a pipe is named by its regions") {
    const Fabric fabric = make_regions(three());

    CHECK(fabric.label(12).name == "east -> west");
    CHECK(fabric.label(13).name == "west -> east");
    CHECK(fabric.label(17).name == "north -> west");
    CHECK(fabric.label(17).kind == "region -> region");
    CHECK(fabric.label(11).name == "node 5 down");
}

TEST_CASE("regions: without hosts or pipes it is a programming error") {
    Regions empty = three();
    empty.regions[1].hosts = 0;
    Regions cut = three();
    cut.pipes.pop_back();

    CHECK_THROWS_AS(make_regions(empty), LogicError);
    CHECK_THROWS_AS(make_regions(cut), LogicError);
    CHECK_THROWS_AS(make_regions({}), LogicError);
}

// With the same links and routes, the network does the same to the last bit.
TEST_CASE(
    "regions, property: a graph of one switch for each region has the same links and routes") {
    for (unsigned seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        RandomStream random = RandomStreams(seed).stream("regions");
        const auto draw = [&](int least, int most) {
            return boost::random::uniform_int_distribution<int>(least, most)(random);
        };
        Regions shape;
        for (int i = draw(1, 5); i > 0; --i)
            shape.regions.push_back({"r" + std::to_string(i),
                                     draw(1, 4),
                                     {draw(1, 9) * 1_Gbps},
                                     {draw(1, 9) * 1_Gbps}});
        const auto count = shape.regions.size();
        shape.pipes.assign(count, std::vector<Link>(count));
        for (auto& row : shape.pipes)
            for (Link& pipe : row) pipe = {draw(1, 9) * 1_Mbps, Duration{draw(0, 99)}};

        Graph graph{.hosts = shape.hosts(), .switches = static_cast<int>(count), .cables = {}};
        std::vector<std::pair<Link, Link>> ways;
        int host = 0;
        for (std::size_t i = 0; i < count; ++i)
            for (int k = 0; k < shape.regions[i].hosts; ++k) {
                graph.cables.push_back({host++, graph.hosts + static_cast<int>(i), {1_Gbps}});
                ways.emplace_back(shape.regions[i].up, shape.regions[i].down);
            }
        for (std::size_t i = 0; i < count; ++i)
            for (std::size_t j = i + 1; j < count; ++j) {
                graph.cables.push_back({graph.hosts + static_cast<int>(i),
                                        graph.hosts + static_cast<int>(j),
                                        {1_Gbps}});
                ways.emplace_back(shape.pipes[i][j], shape.pipes[j][i]);
            }
        Fabric listed = make_graph(graph, seed);
        for (std::size_t cable = 0; cable < ways.size(); ++cable) {
            listed.links[2 * cable] = ways[cable].first;
            listed.links[2 * cable + 1] = ways[cable].second;
        }

        const Fabric fabric = make_regions(shape);
        CHECK(fabric.hosts == listed.hosts);
        CHECK(fabric.links == listed.links);
        CHECK(fabric.back == listed.back);
        for (int from = 0; from < fabric.hosts; ++from)
            for (int to = 0; to < fabric.hosts; ++to)
                if (from != to) CHECK(route(fabric, from, to) == route(listed, from, to));
    }
}

}  // namespace
}  // namespace paceline::regions_test

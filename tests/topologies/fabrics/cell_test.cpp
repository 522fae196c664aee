#include "topologies/fabrics/cell.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>
#include <vector>

#include <boost/random/uniform_int_distribution.hpp>
#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "sim/engine/random.hpp"
#include "tests/sim/network/whole_problems.hpp"
#include "tests/topologies/fabrics/wiring.hpp"

namespace paceline::cell_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using doctest::Approx;

// Links that can be identified by their rates.
CellShape shape_of(int nodes, int per_cell, int servers, bool backhaul) {
    CellShape shape;
    shape.nodes = nodes;
    shape.nodes_per_cell = per_cell;
    shape.servers = servers;
    shape.own = {{4_Mbps, 10ms}, {12_Mbps, 20ms}};
    shape.air = {{50_Mbps}, {150_Mbps}};
    if (backhaul) shape.backhaul = UpAndDown{{300_Mbps}, {400_Mbps}};
    shape.server = {{9_Gbps, 1us}, {10_Gbps, 2us}};
    return shape;
}

enum class Part { own_up, own_down, air_up, air_down, backhaul_up, backhaul_down };

// Returns what a link is, judging by its rate.
Part part_of(const Link& link) {
    static const std::map<std::int64_t, Part> parts{
        {4_Mbps .bits_per_second, Part::own_up},
        {9_Gbps .bits_per_second, Part::own_up},
        {12_Mbps .bits_per_second, Part::own_down},
        {10_Gbps .bits_per_second, Part::own_down},
        {50_Mbps .bits_per_second, Part::air_up},
        {150_Mbps .bits_per_second, Part::air_down},
        {300_Mbps .bits_per_second, Part::backhaul_up},
        {400_Mbps .bits_per_second, Part::backhaul_down}};
    return parts.at(link.bandwidth.bits_per_second);
}

TEST_CASE(
    "cell: every route goes up from its node and down to the other, by the parts of the way") {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        CAPTURE(seed);
        RandomStream random = RandomStreams(seed).stream("cells");
        const auto draw = [&](int least, int most) {
            return boost::random::uniform_int_distribution<int>(least, most)(random);
        };
        const CellShape shape = shape_of(draw(1, 12), draw(1, 5), draw(1, 3), draw(0, 1) == 1);
        const Fabric fabric = make_cells(shape);
        const int cells = shape.cells();
        REQUIRE(fabric.links.size() ==
                static_cast<std::size_t>(2 * shape.hosts() + (shape.backhaul ? 4 : 2) * cells));
        for (int from = 0; from < shape.hosts(); ++from)
            for (int to = 0; to < shape.hosts(); ++to) {
                if (from == to) continue;
                const bool node_here = from < shape.nodes;
                const bool node_there = to < shape.nodes;
                const int here = node_here ? from / shape.nodes_per_cell : -1;
                const int there = node_there ? to / shape.nodes_per_cell : -1;
                std::vector<Part> expected{Part::own_up};
                if (node_here) expected.push_back(Part::air_up);
                if (node_here && shape.backhaul && here != there)
                    expected.push_back(Part::backhaul_up);
                if (node_there && shape.backhaul && here != there)
                    expected.push_back(Part::backhaul_down);
                if (node_there) expected.push_back(Part::air_down);
                expected.push_back(Part::own_down);

                std::vector<Part> parts;
                for (const LinkId link : route(fabric, from, to))
                    parts.push_back(part_of(fabric.links[link]));
                CHECK(parts == expected);
                CHECK(route(fabric, from, to).front() == static_cast<LinkId>(from));
                CHECK(route(fabric, from, to).back() == static_cast<LinkId>(shape.hosts() + to));
            }
    }
}

TEST_CASE("cell: nodes of one cell share its air, those of two do not") {
    const Fabric fabric = make_cells(shape_of(6, 3, 1, true));  // 0 1 2 | 3 4 5, server 6

    CHECK(route(fabric, 6, 0)[2] == route(fabric, 6, 2)[2]);
    CHECK(route(fabric, 6, 0)[2] != route(fabric, 6, 3)[2]);
    CHECK(route(fabric, 0, 6)[1] == route(fabric, 1, 6)[1]);
    CHECK(route(fabric, 0, 6)[1] != route(fabric, 5, 6)[1]);
    CHECK(route(fabric, 0, 6)[2] == route(fabric, 1, 5)[2]);  // the backhaul
}

TEST_CASE("cell: the other way of each link is that of its cable") {
    const Fabric fabric = make_cells(shape_of(4, 2, 1, true));

    REQUIRE(fabric.back.size() == fabric.links.size());
    for (LinkId link = 0; link < fabric.links.size(); ++link) {
        CAPTURE(link);
        const auto is_up = [](Part part) {
            return part == Part::own_up || part == Part::air_up || part == Part::backhaul_up;
        };
        CHECK(fabric.back[fabric.back[link]] == link);
        CHECK(is_up(part_of(fabric.links[link])) !=
              is_up(part_of(fabric.links[fabric.back[link]])));
    }
}

// Returns the rates that max-min fairness gives to these pairs of hosts, in Mbit/s.
std::vector<double> rates(const Fabric& fabric, const std::vector<std::pair<int, int>>& flows) {
    std::vector<double> capacity;
    for (const Link& link : fabric.links)
        capacity.push_back(static_cast<double>(link.capacity().bits_per_second) * 1e-6);
    std::vector<std::uint32_t> first_hop{0};
    std::vector<std::uint32_t> hops;
    for (const auto& [from, to] : flows) {
        for (const LinkId link : route(fabric, from, to)) hops.push_back(link);
        first_hop.push_back(static_cast<std::uint32_t>(hops.size()));
    }
    WholeProblems solver;
    const auto solved = solver.solve(capacity, first_hop, hops);
    return {solved.begin(), solved.end()};
}

TEST_CASE("cell: m downloads of one cell have min(own, capacity / m) each, and uploads likewise") {
    const Fabric fabric = make_cells(shape_of(50, 25, 1, false));
    for (int m = 1; m <= 25; ++m) {
        CAPTURE(m);
        std::vector<std::pair<int, int>> down;
        std::vector<std::pair<int, int>> up;
        for (int node = 0; node < m; ++node) {
            down.emplace_back(50, node);
            up.emplace_back(node, 50);
        }
        down.emplace_back(50, 30);  // a pair of another cell, which has its own air

        const std::vector<double> of_down = rates(fabric, down);
        const std::vector<double> of_up = rates(fabric, up);
        for (int node = 0; node < m; ++node) {
            CHECK(of_down[static_cast<std::size_t>(node)] == Approx(std::min(12.0, 150.0 / m)));
            CHECK(of_up[static_cast<std::size_t>(node)] == Approx(std::min(4.0, 50.0 / m)));
        }
        CHECK(of_down.back() == Approx(12));
    }
}

TEST_CASE("cell: without nodes, or without nodes in a cell, it is a programming error") {
    CHECK_THROWS_AS(make_cells(shape_of(0, 1, 1, false)), LogicError);
    CHECK_THROWS_AS(make_cells(shape_of(1, 0, 1, false)), LogicError);
    CHECK_THROWS_AS(make_cells(shape_of(1, 1, -1, false)), LogicError);
}

}  // namespace
}  // namespace paceline::cell_test

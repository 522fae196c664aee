// Laws that hold for every fabric: routes are connected, shortest, free of repeated links, and
// drawn from the seed alone, and the bisection is what the headers say. The oracles are closed
// forms and a breadth-first search over cables, which tests/topologies/fabrics/wiring.cpp lists
// independently.
#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/sim/network/whole_problems.hpp"
#include "tests/topologies/fabrics/wiring.hpp"
#include "topologies/fabrics/dumbbell.hpp"
#include "topologies/fabrics/regions.hpp"
#include "topologies/fabrics/torus.hpp"

namespace paceline::topologies_fabrics_test {
namespace {

using namespace literals;
using doctest::Approx;

const Link gigabit{1_Gbps};

struct Sample {
    std::string name;
    std::function<Fabric(std::uint64_t seed)> make;
    Wiring wiring;
    int diameter;  // according to the header
};

Sample leaf_spine(int hosts, int hosts_per_leaf, int spines) {
    const LeafSpine shape{hosts, hosts_per_leaf, spines, gigabit, gigabit};
    const int between_leaves = hosts > hosts_per_leaf ? 4 : 2;
    return {fmt::format("leaf-spine {} {} {}", hosts, hosts_per_leaf, spines),
            [shape](std::uint64_t seed) { return make_leaf_spine(shape, seed); },
            wiring_of_leaf_spine(shape), hosts == 1 ? 0 : between_leaves};
}

Sample fat_tree(int hosts, int k) {
    const FatTree shape{hosts, k, gigabit, gigabit};
    const int edge = k / 2;
    const int diameter = hosts > edge * edge ? 6 : hosts > edge ? 4 : 2;
    return {fmt::format("fat tree {} {}", hosts, k),
            [shape](std::uint64_t seed) { return make_fat_tree(shape, seed); },
            wiring_of_fat_tree(shape), hosts == 1 ? 0 : diameter};
}

Sample torus(const std::vector<int>& dims) {
    int diameter = 0;
    for (const int extent : dims) diameter += extent / 2;
    return {fmt::format("torus {}", fmt::join(dims, " x ")),
            [dims](std::uint64_t seed) { return make_torus(dims, gigabit, seed); },
            wiring_of_torus(dims), diameter};
}

Sample dumbbell(int hosts) {
    return {fmt::format("dumbbell {}", hosts),
            [hosts](std::uint64_t /*seed*/) { return make_dumbbell(hosts, gigabit, gigabit); },
            wiring_of_dumbbell(hosts), hosts == 1 ? 0 : 3};
}

// A ring of switches with one host on each and a second one on every other switch.
Sample graph(int switches) {
    Graph graph{switches + switches / 2, switches, {}};
    const auto vertex = [&](int i) { return graph.hosts + i % switches; };
    for (int i = 0; i < switches; ++i) graph.cables.push_back({vertex(i + 1), vertex(i), gigabit});
    for (int host = 0; host < switches; ++host)
        graph.cables.push_back({host, vertex(host), gigabit});
    for (int i = 0; i < switches / 2; ++i)
        graph.cables.push_back({vertex(2 * i), switches + i, gigabit});
    return {fmt::format("graph {}", switches),
            [graph](std::uint64_t seed) { return make_graph(graph, seed); }, wiring_of_graph(graph),
            2 + switches / 2};
}

Sample regions(const std::vector<int>& hosts) {
    Regions shape;
    for (const int own : hosts)
        shape.regions.push_back({fmt::format("r{}", shape.regions.size()), own, gigabit, gigabit});
    shape.pipes.assign(hosts.size(), std::vector<Link>(hosts.size(), gigabit));
    const int diameter = hosts.size() > 1 ? 3 : 2 * int{hosts[0] > 1};
    return {fmt::format("regions {}", fmt::join(hosts, ", ")),
            [shape](std::uint64_t /*seed*/) { return make_regions(shape); },
            wiring_of_regions(hosts), diameter};
}

std::vector<Sample> samples() {
    return {leaf_spine(1, 1, 1),
            leaf_spine(2, 1, 1),
            leaf_spine(5, 2, 3),
            leaf_spine(6, 8, 2),
            leaf_spine(48, 8, 4),
            leaf_spine(9, 1, 5),
            fat_tree(1, 2),
            fat_tree(2, 2),
            fat_tree(2, 4),
            fat_tree(4, 4),
            fat_tree(13, 4),
            fat_tree(16, 4),
            fat_tree(54, 6),
            fat_tree(33, 8),
            torus({1}),
            torus({2}),
            torus({3}),
            torus({4}),
            torus({17}),
            torus({40}),
            torus({4, 4}),
            torus({2, 3}),
            torus({3, 2}),
            torus({5, 1, 4}),
            torus({3, 4, 5}),
            torus({2, 2, 2, 2}),
            torus({4, 2, 4}),
            dumbbell(1),
            dumbbell(2),
            dumbbell(3),
            dumbbell(16),
            dumbbell(17),
            graph(3),
            graph(8),
            graph(9),
            regions({1}),
            regions({3}),
            regions({2, 1, 4, 3})};
}

bool is_walk(const Wiring& wiring, const Route& links, int from, int to) {
    int at = from;
    for (const LinkId link : links) {
        const auto [tail, head] = wiring.ends(link);
        if (tail != at) return false;
        at = head;
    }
    return at == to;
}

bool has_link_twice(const Route& links) {
    return std::set<LinkId>(links.begin(), links.end()).size() != links.size();
}

TEST_CASE("fabrics, property: every cable has two links") {
    for (const Sample& sample : samples()) {
        CAPTURE(sample.name);
        const Fabric fabric = sample.make(1);

        CHECK(fabric.hosts == sample.wiring.hosts);
        CHECK(fabric.links.size() == 2 * sample.wiring.cables.size());
    }
}

TEST_CASE("fabrics, property: a route is connected, shortest, and crosses no link twice") {
    for (const Sample& sample : samples())
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
            CAPTURE(sample.name);
            CAPTURE(seed);
            const Fabric fabric = sample.make(seed);
            for (int from = 0; from < fabric.hosts; ++from) {
                const std::vector<int> far = sample.wiring.distances(from);
                for (int to = 0; to < fabric.hosts; ++to) {
                    if (from == to) continue;
                    const Route links = route(fabric, from, to);
                    REQUIRE(is_walk(sample.wiring, links, from, to));
                    REQUIRE(!has_link_twice(links));
                    REQUIRE(static_cast<int>(links.size()) == far[static_cast<std::size_t>(to)]);
                }
            }
        }
}

TEST_CASE("fabrics, property: there and back are equally long") {
    for (const Sample& sample : samples()) {
        CAPTURE(sample.name);
        const Fabric fabric = sample.make(1);
        for (int from = 0; from < fabric.hosts; ++from)
            for (int to = 0; to < from; ++to)
                REQUIRE(route(fabric, from, to).size() == route(fabric, to, from).size());
    }
}

TEST_CASE("fabrics, property: the diameter is the documented one") {
    for (const Sample& sample : samples()) {
        CAPTURE(sample.name);
        const Fabric fabric = sample.make(1);
        std::size_t longest = 0;
        for (int from = 0; from < fabric.hosts; ++from)
            for (int to = 0; to < fabric.hosts; ++to)
                if (from != to) longest = std::max(longest, route(fabric, from, to).size());

        CHECK(static_cast<int>(longest) == sample.diameter);
        CHECK(sample.wiring.diameter() == sample.diameter);
    }
}

TEST_CASE("fabrics, property: one seed draws the same routes, in any order and from any copy") {
    for (const Sample& sample : samples()) {
        CAPTURE(sample.name);
        const Fabric fabric = sample.make(7);
        const Fabric again = sample.make(7);
        const auto copy = again.find_route;
        std::vector<Route> forwards;
        for (int from = 0; from < fabric.hosts; ++from)
            for (int to = 0; to < fabric.hosts; ++to)
                if (from != to) forwards.push_back(route(fabric, from, to));

        for (int from = fabric.hosts - 1; from >= 0; --from)
            for (int to = fabric.hosts - 1; to >= 0; --to) {
                if (from == to) continue;
                Route links;
                copy(from, to, links);
                REQUIRE(links == forwards.back());
                forwards.pop_back();
            }
    }
}

// For each of some links, counts the routes of all pairs that use it.
std::vector<int> use_of(const Fabric& fabric, const std::vector<LinkId>& links) {
    std::vector<int> use(fabric.links.size());
    for (int from = 0; from < fabric.hosts; ++from)
        for (int to = 0; to < fabric.hosts; ++to)
            if (from != to)
                for (const LinkId link : route(fabric, from, to)) ++use[link];
    std::vector<int> counts;
    for (const LinkId link : links) counts.push_back(use[link]);
    return counts;
}

std::vector<LinkId> numbers(LinkId first, LinkId count, LinkId step) {
    std::vector<LinkId> links(count);
    for (LinkId i = 0; i < count; ++i) links[i] = first + i * step;
    return links;
}

TEST_CASE("fabrics: pairs are spread evenly over the spines") {
    // 96 hosts, 8 per leaf: the 8 x 88 pairs of each leaf spread over 6 spines, up and down.
    const Fabric fabric = make_leaf_spine({96, 8, 6, gigabit, gigabit}, 3);

    for (LinkId leaf = 0; leaf < 12; ++leaf) {
        CAPTURE(leaf);
        const LinkId first = 2 * (96 + 6 * leaf);
        const std::vector<int> up = use_of(fabric, numbers(first, 6, 2));
        const std::vector<int> down = use_of(fabric, numbers(first + 1, 6, 2));

        CHECK(std::accumulate(up.begin(), up.end(), 0) == 8 * 88);
        CHECK(std::accumulate(down.begin(), down.end(), 0) == 8 * 88);
        CHECK(is_even(up));
        CHECK(is_even(down));
    }
}

TEST_CASE("fabrics: pairs are spread evenly over the aggregation switches and over the cores") {
    // k = 8, 128 hosts. The 16 x 112 pairs of each pod climb to 16 cores.
    const Fabric fabric = make_fat_tree({128, 8, gigabit, gigabit}, 3);

    for (LinkId pod = 0; pod < 8; ++pod) {
        CAPTURE(pod);
        const std::vector<int> up = use_of(fabric, numbers(2 * (256 + 16 * pod), 16, 2));
        const std::vector<int> down = use_of(fabric, numbers(2 * (256 + 16 * pod) + 1, 16, 2));

        CHECK(std::accumulate(up.begin(), up.end(), 0) == 16 * 112);
        CHECK(std::accumulate(down.begin(), down.end(), 0) == 16 * 112);
        CHECK(is_even(up));
        CHECK(is_even(down));
    }
    const std::vector<int> of_edge = use_of(fabric, numbers(2 * 128, 4, 2));
    CHECK(std::accumulate(of_edge.begin(), of_edge.end(), 0) == 4 * 124);
    CHECK(is_even(of_edge));
}

TEST_CASE("fabrics: pairs exactly half way round are spread evenly over both ways") {
    for (const std::vector<int>& dims : {std::vector{4, 400}, std::vector{400, 4}}) {
        const Fabric torus = make_torus(dims, gigabit, 3);
        const bool is_first = dims[0] == 4;
        const int step = is_first ? 2 : 2 * 400;
        std::vector<int> forth_and_back(2);
        for (int from = 0; from < 1600; ++from) {
            const int place = is_first ? from % 4 : from / 400;
            const Route links = route(torus, from, place < 2 ? from + step : from - step);
            REQUIRE(links.size() == 2);
            ++forth_and_back[links[0] % 2];
        }

        CHECK(is_even(forth_and_back));
    }
}

TEST_CASE("fabrics: pairs are spread evenly over the cables between two switches") {
    Graph graph{100, 2, {}};
    for (int cable = 0; cable < 5; ++cable) graph.cables.push_back({100, 101, gigabit});
    for (int host = 0; host < 100; ++host) graph.cables.push_back({host, 100 + host % 2, gigabit});
    const Fabric fabric = make_graph(graph, 3);

    CHECK(is_even(use_of(fabric, numbers(0, 5, 2))));
    CHECK(is_even(use_of(fabric, numbers(1, 5, 2))));
}

using Pairs = std::vector<std::pair<int, int>>;

// Returns the total rate of all pairs, in Gbps, when all send continuously.
double throughput(const Fabric& fabric, const Pairs& pairs) {
    std::vector<double> capacity;
    for (const Link& link : fabric.links)
        capacity.push_back(static_cast<double>(link.capacity().bits_per_second) * 1e-9);
    std::vector<std::uint32_t> first_hop{0};
    std::vector<std::uint32_t> hops;
    for (const auto& [from, to] : pairs) {
        for (const LinkId link : route(fabric, from, to)) hops.push_back(link);
        first_hop.push_back(static_cast<std::uint32_t>(hops.size()));
    }
    WholeProblems solver;
    const auto rates = solver.solve(capacity, first_hop, hops);
    return std::accumulate(rates.begin(), rates.end(), 0.0);
}

// Pairs host i of the lower half with host i of the upper half, in both directions.
Pairs across(int hosts) {
    Pairs pairs;
    for (int i = 0; i < hosts / 2; ++i) pairs.emplace_back(i, hosts / 2 + i);
    return pairs;
}
Pairs reversed(Pairs pairs) {
    for (auto& [from, to] : pairs) std::swap(from, to);
    return pairs;
}

TEST_CASE("dumbbell: the bisection is that of the bottleneck, or what half of the hosts send") {
    const Link access{10_Gbps};
    const Pairs there = across(8);
    Pairs both = reversed(there);
    both.insert(both.end(), there.begin(), there.end());

    CHECK(throughput(make_dumbbell(8, access, {15_Gbps}), there) == Approx(15));
    CHECK(throughput(make_dumbbell(8, access, {15_Gbps}), reversed(there)) == Approx(15));
    CHECK(throughput(make_dumbbell(8, access, {15_Gbps}), both) == Approx(30));
    CHECK(throughput(make_dumbbell(8, access, {100_Gbps}), there) == Approx(40));
}

TEST_CASE("torus: two planes of links cross the longest even extent, one if the extent is two") {
    struct Cut {
        std::vector<int> dims;  // the last one is bisected
        double links;           // 2 N / n, or N / 2
    };
    for (const auto& [dims, links] :
         {Cut{{8}, 2}, Cut{{4}, 2}, Cut{{2}, 1}, Cut{{40}, 2}, Cut{{4, 6}, 8}, Cut{{3, 4}, 6},
          Cut{{5, 2}, 5}, Cut{{2, 2, 2}, 4}, Cut{{3, 4, 6}, 24}})
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
            CAPTURE(fmt::format("{}", fmt::join(dims, " x ")));
            CAPTURE(seed);
            const Fabric torus = make_torus(dims, gigabit, seed);
            const int extent = dims.back();
            const int plane = torus.hosts / extent;
            // Every host of the lower half sends to the corresponding host of the upper half. All
            // traffic in one direction shares the links at that border, so both borders are full.
            // (In a ring of four, ties may leave a direction to one pair; it still fills its
            // border.)
            Pairs pairs;
            for (int place = 0; place < plane; ++place)
                for (int i = 0; i < extent / 2; ++i)
                    for (int j = extent / 2; j < extent; ++j)
                        pairs.emplace_back(place + plane * i, place + plane * j);
            const Wiring wiring = wiring_of_torus(dims);
            const auto is_cut = [&](const std::pair<int, int>& cable) {
                return (cable.first < torus.hosts / 2) != (cable.second < torus.hosts / 2);
            };

            CHECK(throughput(torus, pairs) == Approx(links));
            CHECK(throughput(torus, reversed(pairs)) == Approx(links));
            CHECK(static_cast<double>(std::ranges::count_if(wiring.cables, is_cut)) == links);
        }
}

TEST_CASE("leaf-spine: with one spine the oversubscription is what is lost across the middle") {
    for (const double ratio : {0.5, 1.0, 2.0, 4.0, 7.5}) {
        CAPTURE(ratio);
        const Link uplink = oversubscribed_uplink(gigabit, 8, 1, ratio);
        const Fabric fabric = make_leaf_spine({32, 8, 1, gigabit, uplink}, 1);

        CHECK(throughput(fabric, across(32)) == Approx(16 / std::max(1.0, ratio)));
        CHECK(throughput(fabric, reversed(across(32))) == Approx(16 / std::max(1.0, ratio)));
    }
}

TEST_CASE("leaf-spine, property: no more crosses the middle than the uplinks carry") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        const Link uplink = oversubscribed_uplink(gigabit, 8, 4, 2);
        const Fabric drawn = make_leaf_spine({32, 8, 4, gigabit, uplink}, seed);
        const Fabric wide = make_leaf_spine({32, 8, 4, gigabit, {8_Gbps}}, seed);
        const Fabric one_each = make_leaf_spine({16, 1, 1, gigabit, gigabit}, seed);

        CHECK(throughput(drawn, across(32)) <= 8 * (1 + 1e-9));
        CHECK(throughput(drawn, across(32)) >= 2 * (1 - 1e-9));  // one uplink of each leaf is full
        CHECK(throughput(wide, across(32)) == Approx(16));       // no collision can fill an uplink
        CHECK(throughput(one_each, across(16)) == Approx(8));
    }
}

TEST_CASE("fat tree, property: at most what half of the hosts send crosses the middle") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        const Fabric equal = make_fat_tree({54, 6, gigabit, gigabit}, seed);
        const Fabric wide = make_fat_tree({54, 6, gigabit, {9_Gbps}}, seed);

        CHECK(throughput(equal, across(54)) <= 27 * (1 + 1e-9));
        CHECK(throughput(wide, across(54)) == Approx(27));  // 9 hosts of a pod fill no uplink
    }
}

}  // namespace
}  // namespace paceline::topologies_fabrics_test

#include "topologies/fabrics/leaf_spine.hpp"

#include <chrono>
#include <set>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "tests/topologies/fabrics/wiring.hpp"

namespace paceline::leaf_spine_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using doctest::Approx;

const Link access{10_Gbps, 1us, 0.9};
const Link trunk{40_Gbps, 3us, 1.0};

// Cables 0-4 belong to the hosts. Leaf 0 (hosts 0, 1) has cables 5, 6, leaf 1 (2, 3) has 7, 8, and
// leaf 2 (host 4) has 9, 10, to spines 0, 1.
const LeafSpine five{.hosts = 5, .hosts_per_leaf = 2, .spines = 2, .link = access, .uplink = trunk};

TEST_CASE("leaf-spine: hosts fill leaves in order, and every leaf has a cable to every spine") {
    const Fabric fabric = make_leaf_spine(five, 1);

    CHECK(fabric.hosts == 5);
    CHECK(five.leaves() == 3);
    REQUIRE(fabric.links.size() == 22);
    for (LinkId link = 0; link < 10; ++link) {
        CHECK(fabric.links[link].latency == 1us);
        CHECK(fabric.links[link].capacity() == 9_Gbps);
    }
    for (LinkId link = 10; link < 22; ++link) {
        CHECK(fabric.links[link].latency == 3us);
        CHECK(fabric.links[link].capacity() == 40_Gbps);
    }
}

TEST_CASE("leaf-spine: within a leaf a route is up and down") {
    const Fabric fabric = make_leaf_spine(five, 1);

    CHECK(route(fabric, 0, 1) == Route{0, 3});
    CHECK(route(fabric, 1, 0) == Route{2, 1});
    CHECK(route(fabric, 3, 2) == Route{6, 5});
}

TEST_CASE("leaf-spine: between leaves a route crosses one spine") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        const Fabric fabric = make_leaf_spine(five, seed);
        const Route there = route(fabric, 1, 3);  // leaf 0 to leaf 1
        const Route again = route(fabric, 4, 0);  // leaf 2 to leaf 0

        CHECK((there == Route{2, 10, 15, 7} || there == Route{2, 12, 17, 7}));
        CHECK((again == Route{8, 18, 11, 1} || again == Route{8, 20, 13, 1}));
    }
}

TEST_CASE("leaf-spine: with one spine there is no choice") {
    const LeafSpine shape{.hosts = 4, .hosts_per_leaf = 2, .spines = 1, .link = access};
    const Fabric fabric = make_leaf_spine(shape, 1);

    CHECK(route(fabric, 0, 3) == Route{0, 8, 11, 7});
    CHECK(route(fabric, 3, 0) == Route{6, 10, 9, 1});
}

TEST_CASE("leaf-spine: the seed changes which spines are drawn") {
    std::set<LinkId> uplinks;
    for (std::uint64_t seed = 0; seed < 20; ++seed)
        uplinks.insert(route(make_leaf_spine(five, seed), 0, 2)[1]);

    CHECK(uplinks == std::set<LinkId>{10, 12});
}

TEST_CASE("leaf-spine: an oversubscription is what hosts can send over what uplinks carry") {
    // 16 hosts of 10 Gbps over 4 uplinks: 1:1 needs 40 Gbps each.
    CHECK(oversubscribed_uplink(access, 16, 4, 1).bandwidth == 40_Gbps);
    CHECK(oversubscribed_uplink(access, 16, 4, 4).bandwidth == 10_Gbps);
    CHECK(oversubscribed_uplink(access, 16, 4, 0.5).bandwidth == 80_Gbps);
    CHECK(oversubscribed_uplink(access, 1, 3, 1).bandwidth.bits_per_second == 3'333'333'333);
    CHECK(oversubscribed_uplink(access, 2, 3, 1).bandwidth.bits_per_second == 6'666'666'667);
    CHECK(oversubscribed_uplink(access, 16, 4, 4).latency == 1us);
    CHECK(oversubscribed_uplink(access, 16, 4, 4).efficiency == 0.9);
}

TEST_CASE("leaf-spine, property: the ratio comes back from the uplink, to the bit") {
    for (const int hosts_per_leaf : {1, 3, 16, 48})
        for (const int spines : {1, 2, 5, 16})
            for (const double ratio : {0.25, 1.0, 1.5, 3.0, 20.0}) {
                const Link uplink = oversubscribed_uplink(access, hosts_per_leaf, spines, ratio);
                const double hosts = 10e9 * hosts_per_leaf;
                const double uplinks =
                    static_cast<double>(uplink.bandwidth.bits_per_second) * spines;

                CHECK(hosts / uplinks == Approx(ratio).epsilon(1e-8));
            }
}

TEST_CASE("leaf-spine: an absurd oversubscription leaves a valid bandwidth or none") {
    CHECK(oversubscribed_uplink({1_Mbps}, 1, 1, 1e9).bandwidth.bits_per_second == 0);
    CHECK(oversubscribed_uplink(access, 100'000'000, 1, 1e-9).bandwidth.bits_per_second ==
          std::int64_t{1} << 62);
}

TEST_CASE("leaf-spine: shapes without hosts, leaves or spines are programming errors") {
    CHECK_THROWS_AS(make_leaf_spine({.hosts = 0}, 1), LogicError);
    CHECK_THROWS_AS(make_leaf_spine({.hosts_per_leaf = 0}, 1), LogicError);
    CHECK_THROWS_AS(make_leaf_spine({.spines = 0}, 1), LogicError);
    CHECK_THROWS_AS(make_leaf_spine({.hosts = 100'000, .spines = 100'000}, 1), LogicError);
    CHECK_THROWS_AS(oversubscribed_uplink(access, 1, 1, 0), LogicError);
}

}  // namespace
}  // namespace paceline::leaf_spine_test

#include "topologies/fabrics/machines.hpp"

#include <chrono>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "sim/network/network.hpp"
#include "tests/sim/collectives/star_run.hpp"
#include "topologies/fabrics/star.hpp"

namespace paceline::machines_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link wire{10_Gbps, 20us};
const Link lane{100_Gbps, 3us};

Fabric two_by_two(BusKind kind) {
    return make_machines(4, 2, {kind, lane}, make_star(2, wire, wire));
}

/// Returns when each message is delivered; all of them start at time 0.
std::vector<Duration> delivered(Fabric fabric, const std::vector<std::pair<int, int>>& pairs) {
    StarRun run(static_cast<int>(pairs.size()), std::move(fabric));
    const auto carry = [](Network& network, int from, int to) -> Task<> {
        Join sent(1);
        network.send(from, to, 1, 1_MB, Protocol::eager, sent);
        co_await Receive(network, to, from, 1);
    };
    for (int i = 0; i < static_cast<int>(pairs.size()); ++i) {
        const auto [from, to] = pairs[static_cast<std::size_t>(i)];
        run.spawn(i, carry(run.network, from, to));
    }
    run.simulation.run();
    return run.ended;
}

TEST_CASE("machines: devices fill them, the last may be smaller") {
    CHECK(machines_for(1, 8) == 1);
    CHECK(machines_for(8, 8) == 1);
    CHECK(machines_for(9, 8) == 2);
    CHECK(make_machines(9, 8, {BusKind::switched, lane}, make_star(2, wire, wire)).hosts == 9);
}

TEST_CASE("machines: inside one a message pays the bus, between two also the network") {
    CHECK(delivered(two_by_two(BusKind::switched), {{0, 1}}) == std::vector<Duration>{80us + 6us});
    CHECK(delivered(two_by_two(BusKind::bridged), {{0, 1}}) == std::vector<Duration>{80us + 9us});
    CHECK(delivered(two_by_two(BusKind::direct), {{0, 1}}) == std::vector<Duration>{80us + 3us});
    for (const BusKind kind : {BusKind::switched, BusKind::bridged})
        CHECK(delivered(two_by_two(kind), {{0, 2}}) == std::vector<Duration>{800us + 46us});
    CHECK(delivered(two_by_two(BusKind::direct), {{0, 2}}) == std::vector<Duration>{800us + 40us});
}

TEST_CASE(
    "machines: devices share cards by their order, and only those of one card share its link") {
    const auto four = [](int cards) {
        return make_machines(8, 4, {BusKind::switched, lane, cards},
                             make_star(2 * cards, wire, wire));
    };
    const std::vector<std::pair<int, int>> all{{0, 4}, {1, 5}, {2, 6}, {3, 7}};
    for (const int cards : {1, 2, 4})
        CHECK(delivered(four(cards), all) == std::vector<Duration>(4, 4 / cards * 800us + 46us));
    // Of two cards, devices 0 and 1 have the first, 2 and 3 the second.
    CHECK(delivered(four(2), {{0, 4}, {1, 6}}) == std::vector<Duration>(2, 2 * 800us + 46us));
    CHECK(delivered(four(2), {{1, 4}, {2, 6}}) == std::vector<Duration>(2, 800us + 46us));
    CHECK(delivered(four(2), {{1, 4}, {2, 5}}) == std::vector<Duration>(2, 2 * 800us + 46us));
}

TEST_CASE("machines: a card's links are named after their machine") {
    const Fabric fabric =
        make_machines(8, 4, {BusKind::switched, lane, 2}, make_star(4, wire, wire));
    const LinkLabel label = fabric.label(star_up(3));
    CHECK(label.name == "node 1 card 1 up");
    CHECK(label.host == 1);
    CHECK(label.kind == make_star(4, wire, wire).label(star_up(3)).kind);
}

TEST_CASE("machines: pairs of one machine share a bridge, not a switch") {
    const auto four = [](BusKind kind) {
        return make_machines(4, 4, {kind, lane}, make_star(1, wire, wire));
    };
    const std::vector<std::pair<int, int>> pairs{{0, 1}, {2, 3}};

    CHECK(delivered(four(BusKind::switched), pairs) == std::vector<Duration>{86us, 86us});
    CHECK(delivered(four(BusKind::bridged), pairs) == std::vector<Duration>{169us, 169us});
    CHECK(delivered(four(BusKind::direct), pairs) == std::vector<Duration>{83us, 83us});
}

TEST_CASE("machines: each has a bridge of its own") {
    CHECK(delivered(two_by_two(BusKind::bridged), {{0, 1}, {2, 3}}) ==
          std::vector<Duration>{80us + 9us, 80us + 9us});
}

TEST_CASE("machines: a direct bus has a link of its own for each pair and direction") {
    Fabric fabric = make_machines(4, 4, {BusKind::direct, lane}, make_star(1, wire, wire));
    const std::vector<std::pair<int, int>> pairs{{0, 1}, {0, 2}, {0, 3}, {1, 0}, {2, 0}, {2, 1}};

    CHECK(delivered(std::move(fabric), pairs) == std::vector<Duration>(6, 80us + 3us));
}

TEST_CASE("machines: devices of one machine share its network link") {
    for (const BusKind kind : {BusKind::switched, BusKind::bridged, BusKind::direct}) {
        const Duration bus = kind == BusKind::direct ? 0us : 6us;
        const Duration both = 1600us + 40us + bus;
        CHECK(delivered(two_by_two(kind), {{0, 2}, {1, 3}}) == std::vector<Duration>{both, both});
    }
}

TEST_CASE("machines: the fabric between them has a host for each") {
    CHECK_THROWS_AS(make_machines(4, 2, {}, make_star(4, wire, wire)), LogicError);
    CHECK_THROWS_AS(make_machines(4, 2, {BusKind::switched, lane, 2}, make_star(2, wire, wire)),
                    LogicError);
    CHECK_THROWS_AS(make_machines(4, 2, {BusKind::switched, lane, 3}, make_star(6, wire, wire)),
                    LogicError);
    CHECK_THROWS_AS(make_machines(0, 2, {}, make_star(1, wire, wire)), LogicError);
}

}  // namespace
}  // namespace paceline::machines_test

#include "sim/collectives/plans/card_rings.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "analysis/forms/closed_forms.hpp"
#include "analysis/measures/link_use.hpp"
#include "sim/collectives/all_reduce.hpp"
#include "sim/collectives/pipelined.hpp"
#include "sim/collectives/plans/all_reduce_plan.hpp"
#include "sim/collectives/reduce_scatter.hpp"
#include "sim/engine/check.hpp"
#include "tests/sim/collectives/star_run.hpp"
#include "topologies/fabrics/machines.hpp"

namespace paceline::card_rings_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link wire{1_Gbps, 25us};
const Link lane{100_Gbps, 2us};

// A system of full machines: hosts, devices and cards of each, and what joins them.
struct System {
    int machines;
    int devices;
    int cards;
    Link lanes = lane;
    BusKind kind = BusKind::switched;

    [[nodiscard]] int workers() const { return machines * devices; }
    [[nodiscard]] Fabric fabric() const {
        return make_machines(workers(), devices, {kind, lanes, cards},
                             make_star(machines * cards, wire, wire));
    }
};

std::vector<System> systems() {
    std::vector<System> all;
    for (const int machines : {2, 3, 8})
        for (const int devices : {2, 4, 8})
            for (int cards = 1; cards <= devices; cards *= 2)
                all.push_back({machines, devices, cards});
    return all;
}

AllReducePlan rings_of(AllReduce method, int cards) {
    AllReducePlan plan = method;
    plan.cards = cards;
    return plan;
}

Duration time_of(const System& system, const AllReducePlan& plan, Bytes size) {
    StarRun run(system.workers(), system.fabric());
    run.spawn_all([&](Rank self) { return all_reduce(plan, self, size); });
    run.simulation.run();
    REQUIRE(run.processes.finished());
    return run.last_end();
}

// Returns whom each device sends to, by stream.
std::map<Stream, std::map<int, int>> ways_of(const System& system) {
    StarRun run(system.workers(), system.fabric());
    std::map<Stream, std::map<int, int>> ways;
    const NetworkObserver observer{
        .begins = [&](std::uint32_t, const NetworkObserver::Message& message) {
            const auto [place, is_new] = ways[message.stream].emplace(message.from, message.to);
            REQUIRE(place->second == message.to);
        }};
    run.network.observe(&observer);
    run.spawn_all([&](Rank self) {
        return all_reduce(rings_of(AllReduce::ring, system.cards), self, 960'000_B);
    });
    run.simulation.run();
    REQUIRE(run.processes.finished());
    return ways;
}

std::vector<int> followed(const std::map<int, int>& next, int first) {
    std::vector<int> all{first};
    while (next.at(all.back()) != first) all.push_back(next.at(all.back()));
    return all;
}

TEST_CASE("rings of cards: each enters a machine at its card's first device, and goes down") {
    const auto of_two = ways_of({2, 4, 2});
    REQUIRE(of_two.size() == 2);
    CHECK(followed(of_two.begin()->second, 0) == std::vector<int>{0, 3, 2, 1, 4, 7, 6, 5});
    CHECK(followed(of_two.rbegin()->second, 2) == std::vector<int>{2, 1, 0, 3, 6, 5, 4, 7});

    const auto of_three = ways_of({2, 3, 3});
    REQUIRE(of_three.size() == 3);
    CHECK(followed(of_three.begin()->second, 0) == std::vector<int>{0, 2, 1, 3, 5, 4});
    CHECK(followed(std::next(of_three.begin())->second, 1) == std::vector<int>{1, 0, 2, 4, 3, 5});
    CHECK(followed(of_three.rbegin()->second, 2) == std::vector<int>{2, 1, 0, 5, 4, 3});
}

TEST_CASE("rings of cards: every card carries as much, each way: the part of a ring") {
    for (const System& system : systems()) {
        CAPTURE(system.machines);
        CAPTURE(system.devices);
        CAPTURE(system.cards);
        const int n = system.workers();
        const Bytes chunk_of_part = 1000_B;
        StarRun run(n, system.fabric());
        LinkUse use;
        const NetworkObserver observer{
            .begins = [&](std::uint32_t id,
                          const NetworkObserver::Message& m) { use.begins(id, m.route, m.since); },
            .drains = [&](std::uint32_t id,
                          Bytes sent) { use.drains(id, sent, run.simulation.now()); },
            .carries = [&](const Route& route, Bytes bytes,
                           Duration busy) { use.carries(route, bytes, busy); }};
        run.network.observe(&observer);
        run.spawn_all([&](Rank self) {
            return all_reduce(rings_of(AllReduce::ring, system.cards), self,
                              system.cards * (n * chunk_of_part));
        });
        run.simulation.run();
        const Bytes of_ring = 2 * (n - 1) * chunk_of_part;
        for (int card = 0; card < system.machines * system.cards; ++card) {
            REQUIRE(use.bytes(star_up(card)) == of_ring);
            REQUIRE(use.bytes(star_down(card, system.machines * system.cards)) == of_ring);
        }
    }
}

TEST_CASE("rings of cards: they take the closed form of one ring with a part of the vector") {
    for (const System& system : systems()) {
        CAPTURE(system.machines);
        CAPTURE(system.devices);
        CAPTURE(system.cards);
        const int n = system.workers();
        const double t = 10'000 * 8e-9;
        const Bytes size = std::int64_t{system.cards} * n * 10'000_B;
        const Duration simulated = time_of(system, rings_of(AllReduce::ring, system.cards), size);
        REQUIRE(to_seconds(simulated) == doctest::Approx(2 * (n - 1) * (54e-6 + t)).epsilon(1e-9));
        const auto form =
            rings_of_cards_time(n, size, system.cards, {100_Gbps, 4us}, {1_Gbps, 54us});
        REQUIRE(form == simulated);
    }
}

// On a bus that takes no time, a ring is where its messages between machines are. All its members
// could as well be nodes of their own, each on a card that carries only that ring's part.
TEST_CASE("rings of cards: on a bus without time they are a ring of nodes with a card each") {
    for (const System& system : systems()) {
        CAPTURE(system.machines);
        CAPTURE(system.devices);
        CAPTURE(system.cards);
        const int n = system.workers();
        System on_free_bus = system;
        on_free_bus.lanes = {unlimited, 0us};
        for (const Bytes part : {std::int64_t{n} * 10'000_B, std::int64_t{n} * 77'777_B}) {
            const Duration as_nodes =
                time_on_star(n, wire, [&](Rank self) { return ring_all_reduce(self, part); });
            REQUIRE(time_of(on_free_bus, rings_of(AllReduce::ring, system.cards),
                            system.cards * part) == as_nodes);
            // The same for slices, which messages between machines alone pace.
            const Slices cut{20'000_B, 3};
            AllReducePlan plan = rings_of(AllReduce::pipelined_ring, system.cards);
            plan.slices = cut;
            const Duration sliced = time_on_star(
                n, wire, [&](Rank self) { return pipelined_ring_all_reduce(self, part, cut); });
            REQUIRE(time_of(on_free_bus, plan, system.cards * part) == sliced);
        }
    }
}

TEST_CASE("rings of cards: through one card, and inside one machine, there is one ring") {
    for (const AllReduce method : {AllReduce::ring, AllReduce::pipelined_ring})
        for (const Bytes size : {1_B, 97'001_B, 1_MB}) {
            CHECK(time_of({3, 4, 1}, rings_of(method, 1), size) ==
                  time_of({3, 4, 1}, method, size));
            CHECK(time_of({1, 4, 4}, rings_of(method, 4), size) ==
                  time_of({1, 4, 4}, method, size));
        }
}

// Whatever shares the lanes, each message has at least an even share of its lanes, or all of a
// card; and no message between machines is faster than its card.
TEST_CASE("rings of cards, property: no slower than even shares allow, no faster than a card") {
    for (unsigned seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const auto up_to = [&random](int most) {
            return static_cast<int>(random() % static_cast<unsigned>(most));
        };
        const int cards = 1 + up_to(4);
        System system{2 + up_to(3), cards * (1 + up_to(3)), cards};
        if (system.devices == 1) continue;
        const std::int64_t mbps = 200 + up_to(20'000);
        system.lanes = {{mbps * 1'000'000}, Duration{std::int64_t{1000} * up_to(60'000)}};
        const int n = system.workers();
        const std::int64_t chunk = 1 + up_to(200'000);
        const Bytes size{chunk * n * cards};
        const double bus = static_cast<double>(chunk) * 8 / (static_cast<double>(mbps) * 1e6);
        const double card = static_cast<double>(chunk) * 8e-9;
        const double inside = 2 * to_seconds(system.lanes.latency);
        const double across = 50e-6 + inside;
        const double simulated =
            to_seconds(time_of(system, rings_of(AllReduce::ring, cards), size));
        const double rounds = 2 * (n - 1);
        REQUIRE(simulated <= rounds * (across + std::max(card, cards * bus)) * (1 + 1e-6) + 1e-9);
        REQUIRE(simulated >= rounds * (across + std::max(card, bus)) * (1 - 1e-6) - 1e-9);
        const IdleStar in_bus{system.lanes.bandwidth, multiple(2, system.lanes.latency)};
        const auto form =
            rings_of_cards_time(n, size, cards, in_bus, {1_Gbps, sum(50us, in_bus.latency)});
        REQUIRE(form.has_value() == (mbps >= 1000 * cards));
        if (form) REQUIRE(to_seconds(*form) == doctest::Approx(simulated).epsilon(1e-9));
    }
}

TEST_CASE("rings of cards: a machine that is filled in part lets them enter where it has devices") {
    for (const int devices : {5, 6, 7, 9, 11}) {
        CAPTURE(devices);
        StarRun run(devices, make_machines(devices, 4, {BusKind::switched, lane, 4},
                                           make_star(4 * machines_for(devices, 4), wire, wire)));
        run.spawn_all(
            [](Rank self) { return all_reduce(rings_of(AllReduce::ring, 4), self, 97'001_B); });
        run.simulation.run();
        CHECK(run.processes.finished());
        CHECK(run.network.messages_delivered() ==
              static_cast<std::uint64_t>(4 * 2 * devices * (devices - 1)));
        std::int64_t between = 0;
        for (int host = 0; host < devices; ++host) between += run.network.traffic(host).sent.count;
        CHECK(static_cast<double>(between) ==
              doctest::Approx(machines_for(devices, 4) * 2.0 * (devices - 1) * 97'001 / devices)
                  .epsilon(1e-3));
    }
}

TEST_CASE("rings of cards: reduce-scatter and all-gather take half of the all-reduce each") {
    for (const System& system : systems()) {
        CAPTURE(system.machines);
        CAPTURE(system.devices);
        CAPTURE(system.cards);
        const Bytes size = std::int64_t{system.cards} * system.workers() * 10'000_B;
        const Duration all = time_of(system, rings_of(AllReduce::ring, system.cards), size);
        for (const auto half : {&ring_reduce_scatter, &ring_all_gather_chunks}) {
            StarRun run(system.workers(), system.fabric());
            run.spawn_all(
                [&](Rank self) { return on_rings_of_cards(self, size, system.cards, half); });
            run.simulation.run();
            CHECK(2 * run.last_end() == all);
        }
    }
}

TEST_CASE("rings of cards: a member that is dropped in between leaves nothing behind") {
    StarRun run(8, System{2, 4, 4}.fabric());
    run.spawn_all([](Rank self) { return all_reduce(rings_of(AllReduce::ring, 4), self, 10_MB); });
    run.simulation.run(Time{1ms});
    CHECK(!run.processes.finished());
}  // leaving the scope frees all frames, which sanitizers check

}  // namespace
}  // namespace paceline::card_rings_test

#include "sim/collectives/in_switches.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "analysis/forms/message_counts.hpp"
#include "sim/collectives/plans/all_reduce_plan.hpp"
#include "tests/sim/collectives/star_run.hpp"
#include "topologies/fabrics/machines.hpp"

namespace paceline::in_switches_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using doctest::Approx;
using Inside = InSwitches::Inside;
using Between = InSwitches::Between;

constexpr std::int64_t gigabit = 1'000'000'000;

// Machines whose devices have lanes, and whose cards have links.
struct Machines {
    int machines = 2;
    int devices = 4;
    int cards = 4;
    Link lane{100_Gbps, {}};
    Link link{10_Gbps, {}};
    InSwitches how{};
    Slices cut{Bytes{10'000}, 8, 8};

    [[nodiscard]] int workers() const { return machines * devices; }
    [[nodiscard]] Fabric fabric() const {
        Fabric between = make_star(machines * cards, link, link);
        if (devices == 1) return between;
        return make_machines(workers(), devices, {BusKind::switched, lane, cards},
                             std::move(between));
    }
    [[nodiscard]] AllReducePlan plan() const {
        AllReducePlan plan = AllReduce::in_switches;
        plan.devices = devices;
        plan.switches = how;
        plan.switches.heads = cards;
        plan.slices = cut;
        return plan;
    }
    // Runs it with one member that comes later, and returns when each has ended.
    [[nodiscard]] std::vector<Duration> ends(Bytes size, int late = 0, Duration by = {},
                                             std::uint64_t* messages = nullptr) const {
        StarRun run(workers(), fabric());
        for (int place = 0; place < workers(); ++place)
            run.spawn(place, all_reduce(plan(), run.rank(place), size),
                      place == late ? by : Duration{});
        run.simulation.run();
        if (messages != nullptr) *messages = run.network.messages_delivered();
        return run.ended;
    }
    [[nodiscard]] double seconds(Bytes size) const {
        return to_seconds(std::ranges::max(ends(size)));
    }
};

std::vector<InSwitches> all_ways() {
    std::vector<InSwitches> all;
    for (const Inside inside : {Inside::in_switch, Inside::direct, Inside::chain})
        for (const Between between : {Between::double_tree, Between::in_switch})
            all.push_back({inside, between});
    return all;
}

Machines machines_by(unsigned seed) {
    std::mt19937 rng(seed);
    Machines at;
    at.machines = 2 + static_cast<int>(rng() % 5);
    at.devices = 1 << (rng() % 4);
    at.cards = 1 + static_cast<int>(rng() % static_cast<unsigned>(at.devices));
    const auto below = [&](int end) {
        return static_cast<std::int64_t>(rng() % static_cast<unsigned>(end));
    };
    at.lane = {Bandwidth{(20 + below(400)) * gigabit}, Duration{below(900'000)}};
    at.link = {Bandwidth{(5 + below(50)) * gigabit}, Duration{below(5'000'000)}};
    at.how = all_ways()[rng() % 6];
    if (at.devices == 1) at.how.inside = Inside::chain;
    at.cut = {Bytes{1'000 + below(50'000)}, 8, 1 + static_cast<int>(below(8))};
    return at;
}

// What no device has yet is in no sum.
TEST_CASE("sums in switches: nobody has the sum before the last member has come") {
    for (unsigned seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        const Machines at = machines_by(seed);
        const int late = static_cast<int>(seed) % at.workers();
        const std::vector<Duration> ended = at.ends(Bytes{400'000}, late, 10s);
        CHECK(std::ranges::min(ended) > 10s);
        CHECK(std::ranges::max(ended) < 20s);
    }
}

TEST_CASE("the sum in one switch: nobody has it before the last member has come") {
    for (const int n : {2, 3, 8}) {
        StarRun run(n, Link{100_Gbps, 1us});
        for (int place = 0; place < n; ++place)
            run.spawn(place, all_reduce(AllReduce::in_switch, run.rank(place), Bytes{1000}),
                      place == n / 2 ? 1s : 0s);
        run.simulation.run();
        for (const Duration ended : run.ended) CHECK(ended == 1s + 80ns + 2us);
    }
}

TEST_CASE("sums in switches: as many messages as the form counts") {
    for (unsigned seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        const Machines at = machines_by(seed);
        const Bytes size{100 + static_cast<std::int64_t>(seed) * 7'777};
        std::uint64_t messages = 0;
        static_cast<void>(at.ends(size, 0, {}, &messages));
        CHECK(std::cmp_equal(messages, all_reduce_messages(at.plan(), at.workers(), size)));
    }
}

// S bytes; h heads; B and C bytes per second of lanes and cards.
TEST_CASE("sums in switches: with short slices the slowest stage is all that takes time") {
    const Bytes size{80'000'000};
    const auto bytes = static_cast<double>(size.count);
    for (const int cards : {2, 4})
        for (const int machines : {2, 8}) {
            CAPTURE(cards);
            CAPTURE(machines);
            Machines at{.machines = machines, .cards = cards};
            at.cut.slice = Bytes{100'000};
            const double h = cards;
            const double by_network = bytes / (h * 10e9 / 8);
            // Cards of 10 Gbps are slower than lanes of 100 Gbps, whatever happens inside.
            for (const Inside inside : {Inside::in_switch, Inside::direct}) {
                at.how = {inside, Between::in_switch};
                CHECK(at.seconds(size) >= by_network);
                CHECK(at.seconds(size) <= 1.03 * by_network);
                at.how = {inside, Between::double_tree};
                CHECK(at.seconds(size) >= by_network);
                CHECK(at.seconds(size) <= (machines == 2 ? 1.03 : 2.2) * by_network);
            }
            // Slow lanes take the vector, a shard from the switch, and one to or from the card.
            at.lane.bandwidth = Bandwidth{gigabit};
            at.how = {Inside::in_switch, Between::in_switch};
            const double by_lanes = bytes * (h + 2) / h / (1e9 / 8);
            CHECK(at.seconds(size) >= by_lanes);
            CHECK(at.seconds(size) <= 1.03 * by_lanes);
        }
}

TEST_CASE("sums in switches: a head passes on no more than it can") {
    const Bytes size{40'000'000};
    for (const InSwitches how : all_ways()) {
        Machines at{.machines = 3, .how = how};
        at.how.of_head = 2_Gbps;
        at.cut.slice = Bytes{50'000};
        const double by_heads = 40e6 / 4 / (2e9 / 8);
        CHECK(at.seconds(size) == Approx(by_heads).epsilon(0.03));
    }
}

// One slice passes all stages one after the other.
TEST_CASE("sums in switches: one slice takes the stages one after the other") {
    const Bytes size{1'000'000};
    Machines at{.machines = 2, .devices = 4, .cards = 4};
    at.cut.slice = size;
    at.lane.latency = 3us;
    at.link.latency = 20us;
    const double inside = 1e6 * 5 / 4 / 2 / (100e9 / 8) + 6e-6;
    const double between = 1e6 / 4 / (10e9 / 8) + 6e-6 + 40e-6;
    at.how = {Inside::in_switch, Between::in_switch};
    CHECK(at.seconds(size) == Approx(2 * inside + between).epsilon(1e-3));
    // A shard of a quarter comes from three others at once.
    at.how.inside = Inside::direct;
    const double direct = 3 * 1e6 / 4 / (100e9 / 8) + 6e-6;
    CHECK(at.seconds(size) == Approx(2 * direct + between).epsilon(1e-3));
}

TEST_CASE("sums in switches: more bytes take more time") {
    for (unsigned seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        const Machines at = machines_by(seed);
        double before = 0;
        for (std::int64_t bytes = 1000; bytes <= 4'096'000; bytes *= 4) {
            const double now = at.seconds({bytes});
            CHECK(now >= before);
            before = now;
        }
    }
}

}  // namespace
}  // namespace paceline::in_switches_test

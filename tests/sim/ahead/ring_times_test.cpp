// The vectorized ring against the recurrence member by member, and both against a closed form.
#include "sim/ahead/ring_times.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "sim/ahead/round_times.hpp"
#include "sim/collectives/chunks.hpp"

namespace paceline::ring_times_test {
namespace {

struct Ring {
    MessageRounds rounds;
    std::vector<Wire> wires;
    std::vector<Time> entries;
};

Ring random_ring(std::mt19937_64& random, int members, int most_rounds) {
    const auto up_to = [&random](std::int64_t most) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most + 1));
    };
    const int n = members;
    const int slices = 1 + static_cast<int>(up_to(4));
    const int first = static_cast<int>(up_to(n - 1));
    Ring ring;
    ring.rounds = ring_of_chunks(n, 1 + static_cast<int>(up_to(most_rounds - 1)), {up_to(100'000)},
                                 first, slices, 1 + static_cast<int>(up_to(3)));
    for (int i = 0; i < n; ++i) {
        ring.wires.push_back({.slowest = {1'000'000 * (1 + up_to(3000))},
                              .latency = Duration{up_to(2'000'000)},
                              .overhead = Duration{random() % 2 == 0 ? 0 : up_to(1'000'000)},
                              .is_unlimited = false,
                              .apart = random() % 4 != 0});
        ring.entries.emplace_back(Duration{up_to(50'000'000)});
    }
    return ring;
}

Ring random_ring(std::mt19937_64& random) {
    const int n = 2 + static_cast<int>(random() % 41);
    return random_ring(random, n, 2 * n - 2);
}

RoundTimes member_by_member(const Ring& ring, std::mt19937_64& random) {
    RoundTimes times;
    times.begin(ring.rounds,
                [&ring](int from, int) { return ring.wires[static_cast<std::size_t>(from)]; });
    std::vector<int> order(ring.entries.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    std::ranges::shuffle(order, random);
    for (const int place : order) times.enter(place, ring.entries[static_cast<std::size_t>(place)]);
    return times;
}

TEST_CASE("ring times, property: the vectorized ring has the times and bytes of the recurrence") {
    for (unsigned seed = 0; seed < 2000; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const Ring ring = random_ring(random);
        const RoundTimes slow = member_by_member(ring, random);
        RingTimes fast;
        REQUIRE(fast.begin(ring.rounds, ring.wires, ring.entries));
        fast.run_to_end();
        REQUIRE(fast.ends_at_once() == slow.failed());
        for (int place = 0; place < ring.rounds.members; ++place) {
            REQUIRE(slow.has_ended(place));
            REQUIRE(fast.end(place) == slow.end(place));
            REQUIRE(fast.ends_by(place) == slow.ends_by(place));
            const bool apart = ring.wires[static_cast<std::size_t>(place)].apart;
            REQUIRE(slow.traffic(place).sent ==
                    (apart ? fast.chunks().sent(place, ring.rounds.count) : Bytes{0}));
        }
    }
}

TEST_CASE("ring times, property: several rounds at a time are those of the recurrence") {
    for (unsigned seed = 0; seed < 4; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const Ring ring = random_ring(random, 2048 + static_cast<int>(random() % 600), 20);
        const RoundTimes slow = member_by_member(ring, random);
        RingTimes fast;
        REQUIRE(fast.begin(ring.rounds, ring.wires, ring.entries));
        fast.run_to_end();
        for (int place = 0; place < ring.rounds.members; ++place)
            REQUIRE(fast.end(place) == slow.end(place));
    }
}

TEST_CASE("ring times, property: going on from the rounds before an instant changes nothing") {
    for (unsigned seed = 0; seed < 1000; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const Ring ring = random_ring(random);
        const RoundTimes whole = member_by_member(ring, random);
        RingTimes fast;
        REQUIRE(fast.begin(ring.rounds, ring.wires, ring.entries));
        const Time now{Duration{static_cast<std::int64_t>(random() % 200'000'000)}};
        const RoundTimes::Frontier frontier = fast.run_before(now);
        RoundTimes rest;
        rest.begin(ring.rounds,
                   [&ring](int from, int) { return ring.wires[static_cast<std::size_t>(from)]; });
        std::vector<RoundTraffic> traffic(ring.entries.size());
        for (int place = 0; place < ring.rounds.members; ++place)
            if (ring.wires[static_cast<std::size_t>(place)].apart)
                traffic[static_cast<std::size_t>(place)].sent =
                    fast.chunks().sent(place, frontier.round);
        rest.resume(frontier, traffic);
        for (int place = 0; place < ring.rounds.members; ++place) {
            if (frontier.round == ring.rounds.count) continue;
            REQUIRE(rest.end(place) == whole.end(place));
            REQUIRE(rest.traffic(place).sent == whole.traffic(place).sent);
        }
    }
}

TEST_CASE("ring times: equal members take a chunk and a latency per step") {
    const MessageRounds rounds = ring_of_chunks(64, 126, {64'000'000}, 0);
    const std::vector<Wire> wires(64, {.slowest = {1'000'000'000},
                                       .latency = std::chrono::microseconds{100},
                                       .is_unlimited = false});
    RingTimes ring;
    REQUIRE(ring.begin(rounds, wires, std::vector<Time>(64)));
    ring.run_to_end();
    for (int place = 0; place < 64; ++place)
        CHECK(ring.end(place) ==
              Time{126 * (std::chrono::milliseconds{8} + std::chrono::microseconds{100})});
}

}  // namespace
}  // namespace paceline::ring_times_test

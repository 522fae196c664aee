// The vectorized ring with slots against the recurrence of sim/ahead/message_rounds.hpp, message by
// message.
#include "sim/ahead/slot_times.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/collectives/chunks.hpp"

namespace paceline::slot_times_test {
namespace {

struct SlotRing {
    MessageRounds rounds;
    std::vector<Wire> wires;
    std::vector<Duration> way_back;
    std::vector<Time> entries;
};

SlotRing random_slot_ring(std::mt19937_64& random) {
    const auto up_to = [&random](std::int64_t most) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most + 1));
    };
    const int n = 2 + static_cast<int>(up_to(random() % 10 == 0 ? 600 : 20));
    SlotRing ring;
    ring.rounds = ring_of_chunks(n, 1 + static_cast<int>(up_to(std::min(2 * n - 3, 40))),
                                 {up_to(100'000)}, static_cast<int>(up_to(n - 1)),
                                 1 + static_cast<int>(up_to(4)), 1, 1 + static_cast<int>(up_to(9)));
    for (int i = 0; i < n; ++i) {
        ring.wires.push_back({.slowest = {1'000'000 * (1 + up_to(3000))},
                              .latency = Duration{up_to(2'000'000)},
                              .overhead = Duration{random() % 2 == 0 ? 0 : up_to(1'000'000)},
                              .is_unlimited = false,
                              .apart = random() % 4 != 0});
        ring.way_back.emplace_back(up_to(3'000'000));
        ring.entries.emplace_back(Duration{up_to(50'000'000)});
    }
    return ring;
}

// The recurrence as it is written, with all times kept.
class Reference {
  public:
    explicit Reference(const SlotRing& ring) : ring_(ring) {
        const int n = ring.rounds.members;
        for (int k = 0; k < ring.rounds.count; ++k)
            for (int p = 0; p < n; ++p) {
                Time set_out = ready(p, k);
                set_out = std::max(set_out, grant((p + 1) % n, k));
                if (k > 0) set_out = std::max(set_out, messages_.at({p, k - 1}).drain);
                const Wire& wire = ring.wires[static_cast<std::size_t>(p)];
                const Bytes size = sent_in_round(ring.rounds, p, k);
                const bool known = set_out != never;
                const Time drain = known ? set_out + wire.time(size) : never;
                messages_[{p, k}] = {known ? set_out : never, drain,
                                     known ? drain + wire.latency : never, size, wire.apart};
            }
    }
    [[nodiscard]] const RoundMessage& message(int from, int round) const {
        return messages_.at({from, round});
    }
    [[nodiscard]] Time arrive(int at, int round) const {
        const int n = ring_.rounds.members;
        return messages_.at({(at + n - 1) % n, round}).arrive;
    }
    [[nodiscard]] Time grant(int at, int round) const {
        const Time entry = ring_.entries[static_cast<std::size_t>(at)];
        if (round < ring_.rounds.slots || entry == never) return entry;
        const int n = ring_.rounds.members;
        const Time arrival = arrive(at, round - ring_.rounds.slots);
        if (arrival == never) return never;
        return arrival + ring_.way_back[static_cast<std::size_t>((at + n - 1) % n)];
    }

  private:
    [[nodiscard]] Time ready(int at, int round) const {
        const Time entry = ring_.entries[static_cast<std::size_t>(at)];
        const int lag = ring_.rounds.chunks.slices;
        return round < lag ? entry : std::max(entry, arrive(at, round - lag));
    }

    const SlotRing& ring_;
    std::map<std::pair<int, int>, RoundMessage> messages_;
};

TEST_CASE("slot times, property: the vectorized ring has the times of the recurrence") {
    for (unsigned seed = 0; seed < 1500; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const SlotRing ring = random_slot_ring(random);
        const Reference slow(ring);
        SlotTimes fast;
        REQUIRE(fast.begin(ring.rounds, ring.wires, ring.way_back, ring.entries));
        fast.run_to_end();
        const int last = ring.rounds.count - 1;
        for (int place = 0; place < ring.rounds.members; ++place) {
            const Time drain = slow.message(place, last).drain;
            const Time arrive = slow.arrive(place, last);
            REQUIRE(fast.end(place) == std::max(drain, arrive));
            REQUIRE(fast.ends_by(place) ==
                    (arrive >= drain ? EventRank::arrives : EventRank::drains));
        }
    }
}

TEST_CASE("slot times, property: no ring is faster than a hop's line and slots, or a chunk's way") {
    for (unsigned seed = 0; seed < 1500; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        SlotRing ring = random_slot_ring(random);
        std::ranges::fill(ring.entries, Time{});
        SlotTimes fast;
        REQUIRE(fast.begin(ring.rounds, ring.wires, ring.way_back, ring.entries));
        fast.run_to_end();
        const int n = ring.rounds.members;
        Time end;
        for (int place = 0; place < n; ++place) end = std::max(end, fast.end(place));
        const Bytes shortest{ring.rounds.chunks.vector.count / n / ring.rounds.chunks.slices};
        const int steps = ring.rounds.count / ring.rounds.chunks.slices;
        const int last = ring.rounds.count - 1;
        for (int from = 0; from < n; ++from) {
            const auto at = static_cast<std::size_t>(from);
            const Wire& wire = ring.wires[at];
            const Duration t = wire.time(shortest);
            const Duration window = t + wire.latency + ring.way_back[at];
            const Duration of_hop = (last / ring.rounds.slots) * window +
                                    (last % ring.rounds.slots + 1) * t + wire.latency;
            CHECK(end >= Time{of_hop});
            Duration of_chunk{};
            for (int step = 0; step < steps; ++step) {
                const Wire& next = ring.wires[static_cast<std::size_t>((from + step) % n)];
                of_chunk += next.time(shortest) + next.latency;
            }
            CHECK(end >= Time{of_chunk});
        }
    }
}

TEST_CASE("slot times, property: what has happened by an instant, also while members are away") {
    int crossing = 0;
    for (unsigned seed = 0; seed < 1500; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        SlotRing ring = random_slot_ring(random);
        if (seed % 3 == 0)
            for (Time& entry : ring.entries)
                if (random() % 8 == 0) entry = never;
        const Reference slow(ring);
        const Time now{Duration{static_cast<std::int64_t>(random() % 200'000'000)}};
        SlotTimes fast;
        REQUIRE(fast.begin(ring.rounds, ring.wires, ring.way_back, ring.entries));
        const std::vector<SlotTimes::Member> members =
            fast.members_by([now](Time at, EventRank, int) { return at <= now; }, ring.wires);
        const int n = ring.rounds.members;
        const int count = ring.rounds.count;
        for (int place = 0; place < n; ++place) {
            const SlotTimes::Member& did = members[static_cast<std::size_t>(place)];
            int drained = 0;
            while (drained < count && slow.message(place, drained).drain <= now) ++drained;
            int delivered = 0;
            while (delivered < count && slow.arrive(place, delivered) <= now) ++delivered;
            REQUIRE(did.drained == drained);
            REQUIRE(did.delivered == delivered);
            if (drained < count) {
                REQUIRE(did.next.set_out == slow.message(place, drained).set_out);
                REQUIRE(did.next.drain == slow.message(place, drained).drain);
            }
            const int open = std::min(ring.rounds.slots, count - delivered);
            REQUIRE(static_cast<int>(did.posts.size()) == open);
            for (int i = 0; i < open; ++i)
                REQUIRE(did.posts[static_cast<std::size_t>(i)] == slow.grant(place, delivered + i));
            const int before = (place + n - 1) % n;
            std::size_t on_the_way = 0;
            for (int k = delivered; k < count && slow.message(before, k).drain <= now; ++k)
                ++on_the_way;
            REQUIRE(did.crossing.size() == on_the_way);
            crossing += static_cast<int>(on_the_way);
        }
    }
    CHECK(crossing > 1000);
}

}  // namespace
}  // namespace paceline::slot_times_test

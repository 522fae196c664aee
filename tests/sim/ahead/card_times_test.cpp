#include "sim/ahead/card_times.hpp"

#include <chrono>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

namespace paceline::card_times_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

constexpr Bandwidth byte_per_ns = 8_Gbps;

// A reduce-scatter between two machines: one message of half the vector each way.
MessageRounds ring_of_two(Bytes vector) {
    MessageRounds rounds;
    rounds.members = 2;
    rounds.count = 1;
    rounds.chunks = {vector, 1};
    return rounds;
}

CardTimes times_of(const std::vector<MessageRounds>& rings,
                   const std::vector<std::vector<Time>>& entries, Bandwidth alone) {
    const std::vector<Wire> wires(2, {.slowest = alone, .latency = 100ns, .is_unlimited = false});
    std::vector<CardTimes::Ring> all;
    for (std::size_t i = 0; i < rings.size(); ++i) all.push_back({rings[i], wires, entries[i]});
    CardTimes times;
    times.begin(all, {alone, alone}, {byte_per_ns, byte_per_ns});
    CHECK_FALSE(times.run_before(never, std::numeric_limits<int>::max()));
    CHECK(times.have_ended());
    return times;
}

TEST_CASE("card times: a message that joins another one halves its rate until one has drained") {
    // 1000 bytes from 0 on, 1000 from 400 ns on: 400 alone, 600 at a half, then 400 alone
    const CardTimes times = times_of({ring_of_two(2000_B), ring_of_two(2000_B)},
                                     {{Time{}, Time{}}, {Time{400ns}, Time{400ns}}}, byte_per_ns);
    for (const int place : {0, 1}) {
        CHECK(times.end(0, place) == Time{1700ns});
        CHECK(times.end(1, place) == Time{2100ns});
        CHECK(times.ends_by(0, place) == EventRank::arrives);
    }
}

TEST_CASE("card times: messages that are bound below their share do not slow each other") {
    const CardTimes times = times_of({ring_of_two(2000_B), ring_of_two(2000_B)},
                                     {{Time{}, Time{}}, {Time{400ns}, Time{}}}, 4_Gbps);
    CHECK(times.end(0, 0) == Time{2100ns});
    CHECK(times.end(1, 0) == Time{2500ns});
}

TEST_CASE("card times: what a member is at, by an instant") {
    const MessageRounds rounds = ring_of_two(2000_B);
    const std::vector<Wire> wires(
        2, {.slowest = byte_per_ns, .latency = 100ns, .is_unlimited = false});
    const std::vector<Time> here(2), late{Time{400ns}, Time{400ns}};
    const std::vector<CardTimes::Ring> rings{{rounds, wires, here}, {rounds, wires, late}};
    CardTimes times;
    times.begin(rings, {byte_per_ns, byte_per_ns}, {byte_per_ns, byte_per_ns});

    const Time now{500ns};
    times.run_before(now, std::numeric_limits<int>::max());
    CHECK(times.standing(0, 0, now).round == 0);
    CHECK(times.standing(0, 0, now).sent.drain == Time{1600ns});
    CHECK(times.progress(0, 0).since == Time{400ns});
    CHECK(times.progress(0, 0).remaining == doctest::Approx(600));

    const Time later{1650ns};  // the message has drained, and the other one is on its way
    times.run_before(later, std::numeric_limits<int>::max());
    CHECK(times.standing(0, 0, later).round == 0);
    CHECK(times.standing(0, 0, later).sent.drain == Time{1600ns});
    CHECK(times.standing(0, 0, later).received.arrive == Time{1700ns});
    CHECK(times.standing(1, 0, later).sent.drain == Time{2000ns});
    CHECK(times.standing(0, 0, Time{1701ns}).round == 1);
}

}  // namespace
}  // namespace paceline::card_times_test

#include "sim/ahead/grouped_times.hpp"

#include <chrono>
#include <functional>
#include <utility>

#include <doctest/doctest.h>

namespace paceline::grouped_times_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

constexpr Bandwidth byte_per_ns = 8_Gbps;

// Every member sends block(to) to each other one.
MessageRounds group_of(int n, std::function<Bytes(int to)> block) {
    const auto who = [n](int place, int round) -> RoundOfMember {
        return {(place + round + 1) % n, (place + n - round - 1) % n};
    };
    const auto size = [who, block = std::move(block)](int place, int round) {
        return block(who(place, round).to);
    };
    MessageRounds rounds{n, n - 1, Partners::everybody, who, size, {}};
    rounds.in_flight = n - 1;
    rounds.grouped = true;
    return rounds;
}

MessageRounds equal_group_of(int n) {
    return group_of(n, [](int) { return 1000_B; });
}

TEST_CASE("grouped times: each entry slows down the messages that are on their way") {
    const MessageRounds rounds = equal_group_of(4);
    GroupedTimes times;
    times.begin(rounds);
    REQUIRE(times.enter(0, Time{}, byte_per_ns));
    REQUIRE(times.enter(1, Time{}, byte_per_ns));
    REQUIRE(times.enter(2, Time{400ns}, byte_per_ns));
    REQUIRE(times.enter(3, Time{2000ns}, byte_per_ns));
    times.work_out();

    // 400 bytes alone, 600 at a half
    CHECK(times.flow(0, 1).set_out == Time{});
    CHECK(times.flow(0, 1).drain == Time{1600ns});
    CHECK(times.flow(1, 0).drain == Time{1600ns});
    // 800 bytes at a half, 200 at a third
    CHECK(times.flow(0, 2).set_out == Time{400ns});
    CHECK(times.flow(2, 1).drain - Time{2600ns} <= Duration{1});
    CHECK(times.flow(2, 1).drain >= Time{2600ns});
    CHECK(times.flow(0, 2).progress.since == Time{2000ns});
    CHECK(times.flow(0, 2).progress.remaining == doctest::Approx(200));
    // All of it at a third
    CHECK(times.flow(3, 0).drain - Time{5000ns} <= Duration{1});
    CHECK(times.flow(3, 0).drain >= Time{5000ns});
}

TEST_CASE("grouped times: of unequal blocks, those to one member drain together") {
    const MessageRounds rounds = group_of(3, [](int to) { return (to + 1) * 1000_B; });
    GroupedTimes times;
    times.begin(rounds);
    for (int place = 0; place < 3; ++place) REQUIRE(times.enter(place, Time{5ns}, byte_per_ns));
    times.work_out();

    CHECK(times.flow(1, 0).drain == Time{2005ns});
    CHECK(times.flow(2, 0).drain == Time{2005ns});
    CHECK(times.flow(0, 1).drain == Time{4005ns});
    CHECK(times.flow(1, 2).drain == Time{6005ns});
    CHECK(times.block(2) == 3000_B);
}

TEST_CASE("grouped times: what does not follow is left out") {
    GroupedTimes times;
    const MessageRounds unequal = group_of(3, [](int to) { return (to + 1) * 1000_B; });
    times.begin(unequal);
    REQUIRE(times.enter(0, Time{}, byte_per_ns));
    REQUIRE(times.enter(1, Time{}, byte_per_ns));
    CHECK_FALSE(times.enter(2, Time{1ns}, byte_per_ns));
    CHECK_FALSE(times.is_here(2));
    times.work_out();
    CHECK(times.flow(0, 1).drain == Time{2000ns});  // alone

    const MessageRounds equal = equal_group_of(3);
    times.begin(equal);
    REQUIRE(times.enter(0, Time{}, byte_per_ns));
    CHECK_FALSE(times.enter(1, Time{}, 9_Gbps));

    const MessageRounds empty = group_of(3, [](int to) { return to == 1 ? 0_B : 1_B; });
    times.begin(empty);
    CHECK_FALSE(times.enter(0, Time{}, byte_per_ns));
}

}  // namespace
}  // namespace paceline::grouped_times_test

#include "algorithms/rounds/rounds.hpp"

#include <doctest/doctest.h>

namespace paceline::rounds_test {
namespace {

int as_digits(const Round<int>& round) {
    int digits = 0;
    for (std::size_t i = 0; i < round.members(); ++i) digits = 10 * digits + round.of(i);
    return digits;
}

TEST_CASE("rounds: a value is formed in the order of members, in whatever order they entered") {
    Rounds<int> rounds;
    Round<int>& round = rounds.at(7, 3);
    round.enter(2, 3);
    round.enter(0, 1);
    round.enter(1, 2);

    CHECK(round.once(as_digits) == 123);
}

TEST_CASE("rounds: a value is formed once") {
    Rounds<int> rounds;
    Round<int>& round = rounds.at(7, 1);
    round.enter(0, 5);
    int formed = 0;
    const auto count = [&](const Round<int>& r) { return 10 * r.of(0) + ++formed; };

    const int first = round.once(count);
    const int second = round.once(count);

    CHECK(first == 51);
    CHECK(second == 51);
    CHECK(formed == 1);
}

TEST_CASE("rounds: a missing contribution cannot be read, and no member enters twice") {
    Rounds<int> rounds;
    Round<int>& round = rounds.at(7, 2);
    round.enter(0, 5);

    CHECK(round.of(0) == 5);
    CHECK_THROWS_AS(static_cast<void>(round.of(1)), LogicError);
    CHECK_THROWS_AS(round.enter(0, 6), LogicError);
}

TEST_CASE("rounds: rounds of different keys are independent") {
    Rounds<int> rounds;
    rounds.at(1, 1).enter(0, 11);
    rounds.at(2, 1).enter(0, 22);

    CHECK(rounds.at(1, 1).of(0) == 11);
    CHECK(rounds.at(2, 1).of(0) == 22);
}

TEST_CASE("rounds: a round is erased when every member has left it") {
    Rounds<int> rounds;
    rounds.at(7, 2).enter(0, 1);
    rounds.at(7, 2).enter(1, 2);

    rounds.leave(7);
    const bool after_one = rounds.size() == 0;
    rounds.leave(7);

    CHECK_FALSE(after_one);
    CHECK(rounds.size() == 0);
    CHECK_THROWS_AS(static_cast<void>(rounds.at(7, 2).of(0)), LogicError);
}

}  // namespace
}  // namespace paceline::rounds_test

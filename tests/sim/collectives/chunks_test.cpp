#include "sim/collectives/chunks.hpp"

#include <cstdint>
#include <random>
#include <set>

#include <doctest/doctest.h>

#include "sim/engine/units.hpp"

namespace paceline::sim_schedule_test {
namespace {

using namespace literals;

TEST_CASE("schedule: what does not divide evenly makes the last chunks a byte longer") {
    static_assert(chunk(10_B, 4, 0) == 2_B);
    static_assert(chunk(10_B, 4, 1) == 2_B);
    static_assert(chunk(10_B, 4, 2) == 3_B);
    static_assert(chunk(10_B, 4, 3) == 3_B);

    CHECK(chunks(10_B, 4, 0, 2) == 4_B);
    CHECK(chunks(10_B, 4, 1, 2) == 5_B);
    CHECK(chunks(10_B, 4, 2, 2) == 6_B);
    CHECK(chunks(10_B, 4, 4, 0) == 0_B);
}

TEST_CASE("schedule: a vector of fewer bytes than chunks leaves the first ones empty") {
    CHECK(chunk(2_B, 5, 2) == 0_B);
    CHECK(chunk(2_B, 5, 3) == 1_B);
    CHECK(chunk(0_B, 5, 4) == 0_B);
}

TEST_CASE("schedule, property: chunks sum to the size, differ by a byte at most, and add up") {
    for (unsigned seed = 0; seed < 3000; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        const auto n = static_cast<int>(1 + rng() % 70);
        const Bytes size{static_cast<std::int64_t>(rng() >> (1 + rng() % 63))};
        const auto first = static_cast<int>(rng() % static_cast<unsigned>(n + 1));
        const auto count = static_cast<int>(rng() % static_cast<unsigned>(n - first + 1));

        const Bytes range = chunks(size, n, first, count);

        Bytes all;
        Bytes in_range;
        for (int index = 0; index < n; ++index) {
            const Bytes one = chunk(size, n, index);
            const std::int64_t over = one.count - size.count / n;
            REQUIRE(over >= 0);
            REQUIRE(over <= 1);
            REQUIRE(one >= chunk(size, n, 0));
            all += one;
            if (index >= first && index < first + count) in_range += one;
        }
        REQUIRE(all == size);
        REQUIRE(range == in_range);
    }
}

TEST_CASE("schedule: a number below 2n is wrapped into 0 .. n-1") {
    CHECK(wrapped(0, 5) == 0);
    CHECK(wrapped(4, 5) == 4);
    CHECK(wrapped(5, 5) == 0);
    CHECK(wrapped(9, 5) == 4);
}

TEST_CASE("schedule: a power of two is not folded") {
    const Fold fold(8);

    CHECK(fold.survivors == 8);
    CHECK(fold.extra == 0);
    CHECK(fold.steps == 3);
    CHECK(fold.place(5) == 5);
}

TEST_CASE("schedule: six places fold onto four, of which the first two stand for two") {
    const Fold fold(6);

    CHECK(fold.survivors == 4);
    CHECK(fold.extra == 2);
    CHECK(fold.steps == 2);
    CHECK(fold.drops_out(0));
    CHECK(fold.drops_out(2));
    CHECK_FALSE(fold.drops_out(1));
    CHECK_FALSE(fold.drops_out(4));
    CHECK(fold.place(0) == 1);
    CHECK(fold.place(1) == 3);
    CHECK(fold.place(2) == 4);
    CHECK(fold.place(3) == 5);
    CHECK(fold.contributions(0, 1) == 4);
    CHECK(fold.contributions(2, 1) == 2);
    CHECK(fold.contributions(1, 2) == 6);
}

TEST_CASE("schedule, property: survivors are numbered by the places that stay, one to one") {
    for (int n = 1; n <= 300; ++n) {
        CAPTURE(n);
        const Fold fold(n);

        std::set<int> survivors;
        int dropped = 0;
        for (int place = 0; place < n; ++place) {
            CAPTURE(place);
            if (fold.drops_out(place)) {
                REQUIRE_FALSE(fold.drops_out(place + 1));
                REQUIRE(fold.stands_for_two(fold.survivor(place + 1)));
                ++dropped;
                continue;
            }
            survivors.insert(fold.survivor(place));
            REQUIRE(fold.place(fold.survivor(place)) == place);
        }

        REQUIRE(fold.survivors == 1 << fold.steps);
        REQUIRE(2 * fold.survivors > n);
        REQUIRE(dropped == fold.extra);
        REQUIRE(static_cast<int>(survivors.size()) == fold.survivors);
        REQUIRE(*survivors.begin() == 0);
        REQUIRE(*survivors.rbegin() == fold.survivors - 1);
    }
}

TEST_CASE("schedule, property: the blocks of each step hold every contribution once") {
    for (int n = 1; n <= 300; ++n) {
        CAPTURE(n);
        const Fold fold(n);
        for (int step = 0; step <= fold.steps; ++step) {
            CAPTURE(step);
            int all = 0;
            for (int first = 0; first < fold.survivors; first += 1 << step) {
                int in_block = 0;
                for (int survivor = first; survivor < first + (1 << step); ++survivor)
                    in_block += fold.stands_for_two(survivor) ? 2 : 1;
                REQUIRE(fold.contributions(first, step) == in_block);
                REQUIRE(fold.contributions(first + (1 << step) - 1, step) == in_block);
                all += in_block;
            }
            REQUIRE(all == n);
        }
    }
}

}  // namespace
}  // namespace paceline::sim_schedule_test

#include "sim/collectives/all_to_all.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "analysis/forms/closed_forms.hpp"
#include "tests/sim/collectives/pairwise_rounds.hpp"
#include "tests/sim/collectives/star_run.hpp"

namespace paceline::all_to_all_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

TEST_CASE("all-to-all: on an idle star it takes (n-1) (L + V/B)") {
    for (int n = 1; n <= 65; ++n) {
        CAPTURE(n);
        const Duration simulated = time_on_star(
            n, {1_Gbps, 25us}, [](Rank self) { return all_to_all(AllToAll::rounds, self, 1_MB); });
        REQUIRE(simulated == (n - 1) * (50us + 8ms));
        REQUIRE(simulated == all_to_all_time(AllToAll::rounds, n, 1_MB, {1_Gbps, 50us}));
    }
}

TEST_CASE("all-to-all, grouped: on an idle star it takes L + (n-1) V/B, to a picosecond") {
    for (int n = 1; n <= 65; ++n)
        for (const Bytes block : {1_B, 1000_B, 999'983_B}) {
            CAPTURE(n);
            CAPTURE(block.count);
            const Duration simulated = time_on_star(n, {1_Gbps, 25us}, [block](Rank self) {
                return all_to_all(AllToAll::grouped, self, block);
            });
            const Duration exact = n > 1 ? 50us + (n - 1) * (block / 1_Gbps) : 0us;  // 8 ns a byte
            REQUIRE(simulated >= exact);
            REQUIRE(simulated <= exact + Duration{1});
            REQUIRE(exact == all_to_all_time(AllToAll::grouped, n, block, {1_Gbps, 50us}));
        }
}

TEST_CASE("all-to-all, grouped, property: the last entry decides, whenever the others have come") {
    // All blocks weigh the same, so the links of the last member are full from its entry on.
    for (unsigned seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        const int n = 2 + static_cast<int>(rng() % 12);
        const Bytes block{static_cast<std::int64_t>(1 + rng() % 100'000)};
        StarRun run(n, {1_Gbps, 25us});
        Duration last{};
        for (int place = 0; place < n; ++place) {
            const Duration entry{static_cast<std::int64_t>(rng() % 3'000'000'000)};
            last = std::max(last, entry);
            run.spawn(place, all_to_all(AllToAll::grouped, run.rank(place), block), entry);
        }
        run.simulation.run();
        const Duration end = last + 50us + (n - 1) * (block / 1_Gbps);
        for (const Duration ended : run.ended) {
            REQUIRE(ended >= end);
            REQUIRE(ended <= end + Duration{1});
        }
    }
}

TEST_CASE("all-to-all, grouped, property: who enters together waits for its own blocks") {
    // Of unequal blocks, all to one member drain together; a member also waits until its own have.
    for (unsigned seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        Blocks blocks = random_blocks(rng, static_cast<int>(2 + rng() % 12));
        for (Bytes& block : blocks) block += 1_B;
        const auto n = static_cast<int>(blocks.size());
        StarRun run(n, {1_Gbps, 25us});
        run.spawn_all([&](Rank self) {
            return all_to_all(AllToAll::grouped, self,
                              [&](int place) { return blocks[static_cast<std::size_t>(place)]; });
        });
        run.simulation.run();
        for (std::size_t place = 0; place < blocks.size(); ++place) {
            Duration end = 50us + (n - 1) * (blocks[place] / 1_Gbps);
            for (std::size_t other = 0; other < blocks.size(); ++other)
                if (other != place) end = std::max(end, (n - 1) * (blocks[other] / 1_Gbps));
            REQUIRE(run.ended[place] >= end);
            REQUIRE(run.ended[place] <= end + Duration{1});
        }
    }
}

TEST_CASE("all-to-all: every pair exchanges one block") {
    for (const AllToAll how : {AllToAll::rounds, AllToAll::grouped}) {
        StarRun run(9, {1_Gbps, 50us});

        run.spawn_all([how](Rank self) { return all_to_all(how, self, 1001_B); });
        run.simulation.run();

        CHECK(run.network.messages_delivered() == 72);
        for (int place = 0; place < 9; ++place) {
            CHECK(run.network.traffic(place).sent == 8008_B);
            CHECK(run.network.traffic(place).received == 8008_B);
        }
    }
}

TEST_CASE("all-to-all, property: unequal blocks take what the recurrence over rounds says") {
    for (unsigned seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        const Blocks blocks = random_blocks(rng, static_cast<int>(1 + rng() % 12));
        const auto n = static_cast<int>(blocks.size());
        StarRun run(n, {1_Gbps, 25us});
        const BlockWeight weight = [&](int place) {
            return blocks[static_cast<std::size_t>(place)];
        };
        run.spawn_all([&](Rank self) { return all_to_all(AllToAll::rounds, self, weight); });
        run.simulation.run();

        REQUIRE(run.ended == all_to_all_ends(blocks, Instants(blocks.size()), {1_Gbps, 50us}));
        const Bytes longest = *std::ranges::max_element(blocks);
        REQUIRE(run.last_end() <= all_to_all_time(AllToAll::rounds, n, longest, {1_Gbps, 50us}));
        const Bytes all = std::accumulate(blocks.begin(), blocks.end(), 0_B);
        for (int place = 0; place < n; ++place) {
            const Bytes own = blocks[static_cast<std::size_t>(place)];
            REQUIRE(run.network.traffic(place).sent + own == all);
            REQUIRE(run.network.traffic(place).received == (n - 1) * own);
        }
    }
}

}  // namespace
}  // namespace paceline::all_to_all_test

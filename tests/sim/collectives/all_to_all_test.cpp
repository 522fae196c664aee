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
        const Duration simulated =
            time_on_star(n, {1_Gbps, 25us}, [](Rank self) { return all_to_all(self, 1_MB); });
        REQUIRE(simulated == (n - 1) * (50us + 8ms));
        REQUIRE(simulated == all_to_all_time(n, 1_MB, {1_Gbps, 50us}));
    }
}

TEST_CASE("all-to-all: every pair exchanges one block") {
    StarRun run(9, {1_Gbps, 50us});

    run.spawn_all([](Rank self) { return all_to_all(self, 1001_B); });
    run.simulation.run();

    CHECK(run.network.messages_delivered() == 72);
    for (int place = 0; place < 9; ++place) {
        CHECK(run.network.traffic(place).sent == 8008_B);
        CHECK(run.network.traffic(place).received == 8008_B);
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
        run.spawn_all([&](Rank self) { return all_to_all(self, weight); });
        run.simulation.run();

        REQUIRE(run.ended == all_to_all_ends(blocks, Instants(blocks.size()), {1_Gbps, 50us}));
        const Bytes longest = *std::ranges::max_element(blocks);
        REQUIRE(run.last_end() <= all_to_all_time(n, longest, {1_Gbps, 50us}));
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

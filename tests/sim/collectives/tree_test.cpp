#include "sim/collectives/tree.hpp"

#include <bit>
#include <chrono>

#include <doctest/doctest.h>

#include "analysis/forms/closed_forms.hpp"
#include "tests/sim/collectives/star_run.hpp"

namespace paceline::tree_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

using Collective = Task<> (*)(Rank, Bytes);
using Predict = Duration (*)(int, Bytes, const IdleStar&);

void hold_against(Collective collective, Predict predict) {
    for (int n = 1; n <= 70; ++n)
        for (const Bytes size : {0_B, 1_B, 97'001_B, 97_MB})
            for (const Duration latency : {Duration{0}, Duration{50us}, Duration{50ms}}) {
                CAPTURE(n);
                CAPTURE(size.count);
                CAPTURE(latency.count());
                const Duration simulated = time_on_star(
                    n, {1_Gbps, latency}, [&](Rank self) { return collective(self, size); });
                const Duration predicted = predict(n, size, {1_Gbps, 2 * latency});
                REQUIRE(simulated.count() == predicted.count());
            }
}

TEST_CASE("binomial broadcast: on an idle star it takes what the closed form says") {
    hold_against(&binomial_broadcast, &binomial_broadcast_time);
}

TEST_CASE("binomial reduce: on an idle star it takes what the closed form says") {
    hold_against(&binomial_reduce, &binomial_reduce_time);
}

TEST_CASE("tree all-reduce: on an idle star it takes what the closed form says") {
    hold_against(&tree_all_reduce, &tree_all_reduce_time);
}

TEST_CASE("binomial broadcast and reduce: log2 n (L + S/B) for powers of two") {
    for (int m = 0; m <= 8; ++m)
        for (const Collective collective : {&binomial_broadcast, &binomial_reduce}) {
            const Duration simulated = time_on_star(
                1 << m, {1_Gbps, 25us}, [&](Rank self) { return collective(self, 1_MB); });

            CHECK(simulated == m * (50us + 8ms));
        }
}

TEST_CASE("binomial broadcast: its closed form is the maximum over the places, one by one") {
    const IdleStar star{1_Gbps, 3ms};
    for (int n = 2; n <= 3000; ++n) {
        Duration most{};
        for (unsigned y = 1; y < static_cast<unsigned>(n); ++y)
            most = std::max(most, std::bit_width(y) * 8ms + std::popcount(y) * Duration{3ms});
        CAPTURE(n);
        REQUIRE(binomial_broadcast_time(n, 1_MB, star) == most);
    }
}

TEST_CASE("binomial broadcast and reduce: n-1 messages in all, each place one way or the other") {
    for (int n = 1; n <= 33; ++n) {
        CAPTURE(n);
        StarRun down(n, {1_Gbps, 50us});
        down.spawn_all([](Rank self) { return binomial_broadcast(self, 1000_B); });
        down.simulation.run();
        StarRun up(n, {1_Gbps, 50us});
        up.spawn_all([](Rank self) { return binomial_reduce(self, 1000_B); });
        up.simulation.run();

        REQUIRE(down.network.messages_delivered() == static_cast<std::uint64_t>(n - 1));
        REQUIRE(up.network.messages_delivered() == static_cast<std::uint64_t>(n - 1));
        for (int place = 1; place < n; ++place) {
            REQUIRE(down.network.traffic(place).received == 1000_B);
            REQUIRE(up.network.traffic(place).sent == 1000_B);
        }
        REQUIRE(down.network.traffic(0).received == 0_B);
        REQUIRE(up.network.traffic(0).sent == 0_B);
    }
}

}  // namespace
}  // namespace paceline::tree_test

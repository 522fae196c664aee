#include "sim/collectives/all_gather.hpp"

#include <chrono>
#include <cmath>
#include <utility>

#include <doctest/doctest.h>

#include "analysis/forms/closed_forms.hpp"
#include "tests/sim/collectives/star_run.hpp"

namespace paceline::all_gather_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using doctest::Approx;

using AllGather = Task<> (*)(Rank, Bytes);
using Predict = Duration (*)(int, Bytes, const IdleStar&);

Duration time_of(AllGather all_gather, int n, Bytes block, const Link& link) {
    return time_on_star(n, link, [&](Rank self) { return all_gather(std::move(self), block); });
}

/// Compares every n, block, latency and bandwidth with the closed form, to the picosecond.
void hold_against(AllGather all_gather, Predict predict) {
    for (const int n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 32, 64})
        for (const Bytes block : {0_B, 1_B, 97'001_B, 97_MB})
            for (const Duration latency : {Duration{0}, Duration{50us}, Duration{50ms}})
                for (const Bandwidth bandwidth : {1_Gbps, 10_Gbps, Bandwidth{7'000'000'001}}) {
                    CAPTURE(n);
                    CAPTURE(block.count);
                    CAPTURE(latency.count());
                    CAPTURE(bandwidth.bits_per_second);
                    const Duration simulated = time_of(all_gather, n, block, {bandwidth, latency});
                    const Duration predicted = predict(n, block, {bandwidth, 2 * latency});
                    REQUIRE(simulated.count() == predicted.count());
                }
}

TEST_CASE("ring all-gather: on an idle star it takes what the closed form says") {
    hold_against(&ring_all_gather, &ring_all_gather_time);
}

TEST_CASE("Bruck all-gather: on an idle star it takes what the closed form says") {
    hold_against(&bruck_all_gather, &bruck_all_gather_time);
}

TEST_CASE("ring all-gather: it takes (n-1) (L + V/B)") {
    for (int n = 1; n <= 17; ++n) {
        CAPTURE(n);

        const Duration simulated = time_of(&ring_all_gather, n, 1_MB, {1_Gbps, 25us});

        const double textbook = (n - 1) * (50e-6 + 8e-3);
        REQUIRE(to_seconds(simulated) == Approx(textbook).epsilon(1e-9).scale(1e-3));
    }
}

TEST_CASE("Bruck all-gather: it takes ceil(log2 n) L + (n-1) V/B for any n") {
    for (int n = 1; n <= 65; ++n) {
        CAPTURE(n);

        const Duration simulated = time_of(&bruck_all_gather, n, 1_MB, {1_Gbps, 25us});

        const double textbook = std::ceil(std::log2(n)) * 50e-6 + (n - 1) * 8e-3;
        REQUIRE(to_seconds(simulated) == Approx(textbook).epsilon(1e-9).scale(1e-3));
    }
}

TEST_CASE("all-gather: each rank sends and receives n-1 blocks") {
    for (const AllGather all_gather : {&ring_all_gather, &bruck_all_gather})
        for (int n = 1; n <= 17; ++n) {
            CAPTURE(n);
            StarRun run(n, {1_Gbps, 50us});

            run.spawn_all([&](Rank self) { return all_gather(std::move(self), 1001_B); });
            run.simulation.run();

            for (int host = 0; host < n; ++host) {
                REQUIRE(run.network.traffic(host).received == (n - 1) * 1001_B);
                REQUIRE(run.network.traffic(host).sent == (n - 1) * 1001_B);
            }
        }
}

TEST_CASE("Bruck all-gather: it takes ceil(log2 n) messages per rank") {
    StarRun run(11, {1_Gbps, 50us});

    run.spawn_all([&](Rank self) { return bruck_all_gather(std::move(self), 8_B); });
    run.simulation.run();

    CHECK(run.network.messages_delivered() == 11 * 4);
}

}  // namespace
}  // namespace paceline::all_gather_test

#include "sim/collectives/sparse_all_reduce.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "analysis/forms/closed_forms.hpp"
#include "tests/sim/collectives/star_run.hpp"

namespace paceline::sparse_all_reduce_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using doctest::Approx;

/// Returns the weight of the union of c contributions.
using Law = std::function<Bytes(int)>;

Law worst_case(double density, Bytes dense) {
    return [=](int c) {
        const double merged = std::min(1.0, c * density);
        return Bytes{std::llround(merged * static_cast<double>(dense.count))};
    };
}

Law independent(double density, Bytes dense) {
    return [=](int c) {
        const double merged = 1 - std::pow(1 - density, c);
        return Bytes{std::llround(merged * static_cast<double>(dense.count))};
    };
}

Duration time_of(int n, const Law& law, const Link& link) {
    const UnionWeight weight = [&law](const Union& merged) { return law(merged.count); };
    return time_on_star(n, link,
                        [&](Rank self) { return sparse_all_reduce(std::move(self), weight); });
}

/// Compares every n, latency and bandwidth with the closed form, to the picosecond.
void hold_against(const Law& law) {
    for (const int n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 32, 64})
        for (const Duration latency : {Duration{0}, Duration{50us}, Duration{50ms}})
            for (const Bandwidth bandwidth : {1_Gbps, 10_Gbps}) {
                CAPTURE(n);
                CAPTURE(latency.count());
                CAPTURE(bandwidth.bits_per_second);
                const Duration simulated = time_of(n, law, {bandwidth, latency});
                const Duration predicted = sparse_all_reduce_time(n, law, {bandwidth, 2 * latency});
                REQUIRE(simulated.count() == predicted.count());
            }
}

TEST_CASE("sparse all-reduce: with the worst-case law it takes what the closed form says") {
    hold_against(worst_case(0.001, 97_MB));
    hold_against(worst_case(0.1, 97_MB));  // dense long before all are merged
    hold_against(worst_case(0.003, 1'000'003_B));
}

TEST_CASE("sparse all-reduce: with the independent law it takes what the closed form says") {
    hold_against(independent(0.001, 97_MB));
    hold_against(independent(0.1, 97_MB));
    hold_against(independent(0.003, 1'000'003_B));
}

TEST_CASE("sparse all-reduce: in the worst case it takes log2(n) L + (n-1) C/B") {
    for (const int steps : {0, 1, 2, 3, 4, 5, 6})
        for (const double latency : {0.0, 100e-6, 0.1}) {
            CAPTURE(steps);
            CAPTURE(latency);
            const int n = 1 << steps;

            const Duration simulated =
                time_of(n, worst_case(0.001, 97_MB), {1_Gbps, from_seconds(latency / 2)});

            const double textbook = steps * latency + (n - 1) * 97e3 / 125e6;
            REQUIRE(to_seconds(simulated) == Approx(textbook).epsilon(1e-9).scale(1e-3));
        }
}

TEST_CASE("sparse all-reduce: with independent supports each step weighs 1-(1-rho)^c") {
    const Duration simulated = time_of(4, independent(0.5, 1_MB), {1_Gbps, 25us});

    CHECK(simulated == (4ms + 50us) + (6ms + 50us));  // densities 1/2 and 3/4
}

TEST_CASE("sparse all-reduce: of three places one folds in first and gets the result last") {
    const Duration simulated = time_of(3, worst_case(0.1, 1_MB), {1_Gbps, 0us});

    // 0 to 1: one contribution, 0.8 ms. Then 1 sends two to 2, 1.6 ms, and 2 its own one to 1,
    // 0.8 ms, which ends when 1 has drained. Finally 1 sends all three to 0, 2.4 ms.
    CHECK(simulated == 800us + 1600us + 2400us);
}

TEST_CASE("sparse all-reduce, property: each message merges the block that its sender stands in") {
    for (int n = 1; n <= 17; ++n) {
        CAPTURE(n);
        const Fold fold(n);
        std::map<std::tuple<int, int, int>, int> asked;
        const UnionWeight weight = [&asked](const Union& merged) {
            ++asked[{merged.step, merged.block_first, merged.count}];
            return 1000_B;
        };

        time_on_star(n, {1_Gbps, 50us},
                     [&](Rank self) { return sparse_all_reduce(std::move(self), weight); });

        std::map<std::tuple<int, int, int>, int> expected;
        for (int place = 0; place < n; ++place)
            if (fold.drops_out(place)) {
                ++expected[{-1, place, 1}];
                ++expected[{fold.steps, 0, n}];
            }
        for (int step = 0; step < fold.steps; ++step)
            for (int survivor = 0; survivor < fold.survivors; ++survivor) {
                const int first = survivor / (1 << step) * (1 << step);
                ++expected[{step, first, fold.contributions(first, step)}];
            }
        REQUIRE(asked == expected);
    }
}

TEST_CASE("sparse all-reduce: in the worst case each of 2^m ranks receives n-1 contributions") {
    StarRun run(16, {1_Gbps, 50us});
    const UnionWeight weight = [](const Union& merged) { return merged.count * 1000_B; };

    run.spawn_all([&](Rank self) { return sparse_all_reduce(std::move(self), weight); });
    run.simulation.run();

    for (int host = 0; host < 16; ++host) {
        CHECK(run.network.traffic(host).sent == 15'000_B);
        CHECK(run.network.traffic(host).received == 15'000_B);
    }
}

}  // namespace
}  // namespace paceline::sparse_all_reduce_test

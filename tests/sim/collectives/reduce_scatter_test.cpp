#include "sim/collectives/reduce_scatter.hpp"

#include <chrono>

#include <doctest/doctest.h>

#include "analysis/forms/closed_forms.hpp"
#include "sim/collectives/all_reduce.hpp"
#include "sim/collectives/chunks.hpp"
#include "tests/sim/collectives/star_run.hpp"

namespace paceline::reduce_scatter_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

Task<> both_halves(Rank self, Bytes size) {
    co_await ring_reduce_scatter(self, size);
    co_await ring_all_gather_chunks(self, size);
}

TEST_CASE("ring reduce-scatter: on an idle star it takes what the closed form says") {
    for (int n = 1; n <= 65; ++n)
        for (const Bytes size : {0_B, 1_B, 97'001_B, 97_MB})
            for (const Duration latency : {Duration{0}, Duration{50us}, Duration{50ms}}) {
                CAPTURE(n);
                CAPTURE(size.count);
                const Duration simulated = time_on_star(n, {1_Gbps, latency}, [&](Rank self) {
                    return ring_reduce_scatter(self, size);
                });
                const Duration predicted = ring_reduce_scatter_time(n, size, {1_Gbps, 2 * latency});
                REQUIRE(simulated.count() == predicted.count());
            }
}

TEST_CASE("ring reduce-scatter and its all-gather: together they take a ring all-reduce's time") {
    for (int n = 1; n <= 17; ++n) {
        CAPTURE(n);
        const Bytes size = n * 10'007_B;
        const Link link{1_Gbps, 30us};
        const Duration halves =
            time_on_star(n, link, [&](Rank self) { return both_halves(self, size); });
        const Duration whole =
            time_on_star(n, link, [&](Rank self) { return ring_all_reduce(self, size); });
        REQUIRE(halves == whole);
    }
}

TEST_CASE("ring reduce-scatter: each place sends all chunks but its own") {
    for (int n = 1; n <= 17; ++n) {
        CAPTURE(n);
        StarRun run(n, {1_Gbps, 50us});

        run.spawn_all([](Rank self) { return ring_reduce_scatter(self, 1'000'003_B); });
        run.simulation.run();

        for (int place = 0; place < n; ++place)
            REQUIRE(run.network.traffic(place).sent + chunk(1'000'003_B, n, place) == 1'000'003_B);
    }
}

}  // namespace
}  // namespace paceline::reduce_scatter_test

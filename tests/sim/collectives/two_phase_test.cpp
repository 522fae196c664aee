#include "sim/collectives/two_phase.hpp"

#include <chrono>
#include <cstddef>
#include <numeric>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "analysis/forms/closed_forms.hpp"
#include "tests/sim/collectives/pairwise_rounds.hpp"
#include "tests/sim/collectives/star_run.hpp"

namespace paceline::two_phase_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link link{1_Gbps, 25us};
const IdleStar star{1_Gbps, 50us};

// Owners' work of the given lengths; notes when each begins.
struct Owners {
    Instants work;
    Instants began;

    [[nodiscard]] auto member(StarRun& run, const Blocks& chunks, AllToAll how = AllToAll::rounds) {
        return [this, &run, &chunks, how](const Rank& self) {
            return two_phase(
                how, self, [&chunks](int place) { return chunks[static_cast<std::size_t>(place)]; },
                [this, &run, place = static_cast<std::size_t>(self.place())] {
                    return own_work(run, place);
                });
        };
    }
    Task<> own_work(StarRun& run, std::size_t place) {
        began[place] = run.simulation.now().time_since_epoch();
        co_await run.simulation.sleep(work[place]);
    }
};

TEST_CASE("two-phase: on an idle star it takes 2 (n-1) (L + V/B) + W") {
    for (int n = 1; n <= 33; ++n)
        for (const Bytes chunk : {0_B, 1_B, 97'001_B}) {
            CAPTURE(n);
            CAPTURE(chunk.count);
            const Blocks chunks(static_cast<std::size_t>(n), chunk);
            Owners owners{Instants(chunks.size(), 3ms), Instants(chunks.size())};
            StarRun run(n, link);
            run.spawn_all(owners.member(run, chunks));
            run.simulation.run();

            REQUIRE(run.last_end() == 2 * (n - 1) * (50us + chunk / 1_Gbps) + 3ms);
        }
}

TEST_CASE("two-phase, grouped: on an idle star it takes L + (n-1) V/B + W + (n-1) (L + V/B)") {
    for (int n = 2; n <= 33; ++n)
        for (const Bytes chunk : {1_B, 97'001_B}) {
            CAPTURE(n);
            CAPTURE(chunk.count);
            const Blocks chunks(static_cast<std::size_t>(n), chunk);
            Owners owners{Instants(chunks.size(), 3ms), Instants(chunks.size())};
            StarRun run(n, link);
            run.spawn_all(owners.member(run, chunks, AllToAll::grouped));
            run.simulation.run();

            const Duration wire = chunk / 1_Gbps;
            const Duration end = 50us + (n - 1) * wire + 3ms + (n - 1) * (50us + wire);
            REQUIRE(run.last_end() >= end);
            REQUIRE(run.last_end() <= end + Duration{1});
        }
}

TEST_CASE("two-phase, grouped: of 16 chunks over 1 ms, half as long as in rounds") {
    // What is left are the latencies of the ring: 15 of them, and one of the group.
    const Blocks chunks(16, 1000_B);
    Instants ends;
    for (const AllToAll how : {AllToAll::rounds, AllToAll::grouped}) {
        Owners owners{Instants(16), Instants(16)};
        StarRun run(16, {1_Gbps, 500us});
        run.spawn_all(owners.member(run, chunks, how));
        run.simulation.run();
        ends.push_back(run.last_end());
    }
    CHECK(ends[0] == 30 * (1ms + 8us));
    CHECK(ends[1] >= 16ms + 30 * 8us);
    CHECK(ends[1] <= 16ms + 30 * 8us + Duration{1});
}

TEST_CASE(
    "two-phase, property: unequal chunks and work take what the recurrence over rounds says") {
    for (unsigned seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        const Blocks chunks = random_blocks(rng, static_cast<int>(1 + rng() % 12));
        Owners owners{Instants(chunks.size()), Instants(chunks.size())};
        for (Duration& work : owners.work)
            work = Duration{static_cast<std::int64_t>(rng() % 3'000'000'000)};
        StarRun run(static_cast<int>(chunks.size()), link);
        run.spawn_all(owners.member(run, chunks));
        run.simulation.run();

        Instants ends = all_to_all_ends(chunks, Instants(chunks.size()), star);
        REQUIRE(owners.began == ends);
        for (std::size_t i = 0; i < ends.size(); ++i) ends[i] += owners.work[i];
        REQUIRE(run.ended == ring_all_gather_ends(chunks, ends, star));
    }
}

TEST_CASE("two-phase, property: the longest chunk decides, if all owners work as long") {
    for (unsigned seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        const Blocks chunks = random_blocks(rng, static_cast<int>(2 + rng() % 12));
        Owners owners{Instants(chunks.size(), 700us), Instants(chunks.size())};
        StarRun run(static_cast<int>(chunks.size()), link);
        run.spawn_all(owners.member(run, chunks));
        run.simulation.run();

        const Bytes longest = *std::ranges::max_element(chunks);
        const auto rounds = static_cast<int>(chunks.size()) - 1;
        REQUIRE(run.last_end() == 2 * rounds * (50us + longest / 1_Gbps) + 700us);
    }
}

TEST_CASE("two-phase, property: nobody has the aggregate before the slowest owner has worked") {
    for (std::size_t slow = 0; slow < 7; ++slow) {
        CAPTURE(slow);
        const Blocks chunks(7, 1000_B);
        Owners owners{Instants(7), Instants(7)};
        owners.work[slow] = 1s;
        StarRun run(7, link);
        run.spawn_all(owners.member(run, chunks));
        run.simulation.run();

        for (std::size_t place = 0; place < 7; ++place)
            if (place != slow) REQUIRE(run.ended[place] > owners.began[slow] + 1s);
    }
}

TEST_CASE(
    "two-phase, property: a member sends others' chunks, then all but that of the next place") {
    for (unsigned seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        const Blocks chunks = random_blocks(rng, static_cast<int>(2 + rng() % 11));
        const std::size_t n = chunks.size();
        Owners owners{Instants(n), Instants(n)};
        StarRun run(static_cast<int>(n), link);
        run.spawn_all(owners.member(run, chunks));
        run.simulation.run();

        const Bytes all = std::accumulate(chunks.begin(), chunks.end(), 0_B);
        REQUIRE(run.network.messages_delivered() == static_cast<std::int64_t>(2 * n * (n - 1)));
        for (std::size_t place = 0; place < n; ++place)
            REQUIRE(run.network.traffic(static_cast<int>(place)).sent + chunks[place] +
                        chunks[(place + 1) % n] ==
                    2 * all);
    }
}

}  // namespace
}  // namespace paceline::two_phase_test

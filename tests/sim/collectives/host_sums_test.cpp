// Sums on the host, held against members that add up each block between its arrival and its way on.
#include <chrono>
#include <cstdint>

#include <doctest/doctest.h>

#include "sim/collectives/plans/all_reduce_plan.hpp"
#include "tests/sim/collectives/star_run.hpp"

namespace paceline::host_sums_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

constexpr Bandwidth adds{40'000'000'000};  // 5 GB/s
const Link link{10_Gbps, 20us};

// A ring whose members add up as Open MPI's do: a block is awaited, added up, and sent on.
Task<> ring_that_adds(Rank self, Bytes size) {
    const int n = self.size();
    const Bytes block{size.count / n};
    for (int round = 0; round < 2 * (n - 1); ++round) {
        co_await self.exchange((self.place() + 1) % n, block, (self.place() + n - 1) % n);
        if (round < n - 1) co_await self.network().simulation().sleep(block / adds);
    }
}

Task<> halving_that_adds(Rank self, Bytes size) {
    const int n = self.size();
    Bytes part = size;
    for (int distance = n / 2; distance > 0; distance /= 2) {
        part = Bytes{part.count / 2};
        co_await self.exchange(self.place() ^ distance, part, self.place() ^ distance);
        co_await self.network().simulation().sleep(part / adds);
    }
    for (int distance = 1; distance < n; distance *= 2) {
        co_await self.exchange(self.place() ^ distance, part, self.place() ^ distance);
        part = 2 * part;
    }
}

Task<> doubling_that_adds(Rank self, Bytes size) {
    for (int distance = 1; distance < self.size(); distance *= 2) {
        co_await self.exchange(self.place() ^ distance, size, self.place() ^ distance);
        co_await self.network().simulation().sleep(size / adds);
    }
}

Duration by_plan(int n, AllReduce method, Bytes size) {
    StarRun run(n, link);
    Library library;
    library.sums = adds;
    for (int place = 0; place < n; ++place)
        run.spawn(place, all_reduce(method, {run.network, run.group, place, 1, library}, size));
    run.simulation.run();
    return run.last_end();
}

TEST_CASE("host sums: a ring takes as long as one whose members add up block by block") {
    for (const int n : {2, 3, 5, 8, 16}) {
        CAPTURE(n);
        const Bytes size{std::int64_t{n} * 7'000'000};
        const Duration blocks =
            time_on_star(n, link, [=](const Rank& self) { return ring_that_adds(self, size); });

        CHECK(to_seconds(by_plan(n, AllReduce::ring, size)) ==
              doctest::Approx(to_seconds(blocks)).epsilon(1e-9));
    }
}

TEST_CASE("host sums: so do the halvings and doublings of a power of two") {
    for (const int n : {2, 4, 8, 16}) {
        CAPTURE(n);
        const Bytes size{std::int64_t{n} * 1'000'000};
        const Duration halving =
            time_on_star(n, link, [=](const Rank& self) { return halving_that_adds(self, size); });
        const Duration doubling =
            time_on_star(n, link, [=](const Rank& self) { return doubling_that_adds(self, size); });

        CHECK(to_seconds(by_plan(n, AllReduce::halving_doubling, size)) ==
              doctest::Approx(to_seconds(halving)).epsilon(1e-9));
        CHECK(to_seconds(by_plan(n, AllReduce::recursive_doubling, size)) ==
              doctest::Approx(to_seconds(doubling)).epsilon(1e-9));
    }
}

TEST_CASE("host sums: plans that choose by size add up what the method they choose does") {
    CHECK(time_of_sums(AllReduce::automatic, 8, 2048_B, adds) == 3 * (2048_B / adds));
    CHECK(time_of_sums(AllReduce::automatic, 8, 8_MB, adds) == 7_MB / adds);
    CHECK(time_of_sums(AllReduce::open_mpi, 8, 8_MB, adds) == 7_MB / adds);
    CHECK(time_of_sums(AllReduce::open_mpi, 8, 80_MB, adds) == 70_MB / adds);
    CHECK(time_of_sums(AllReduce::ring, 1, 80_MB, adds) == 0s);
}

}  // namespace
}  // namespace paceline::host_sums_test

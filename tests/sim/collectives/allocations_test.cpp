// Messages allocate nothing once pools are warm. The global operator new and delete of the whole
// test program are defined here; they count for the thread that asks.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include <doctest/doctest.h>

#include "sim/collectives/all_reduce.hpp"
#include "tests/sim/collectives/star_run.hpp"

namespace {

thread_local bool counting = false;
thread_local std::size_t allocations = 0;

}  // namespace

void* operator new(std::size_t size) {
    if (counting) ++allocations;
    void* const memory = std::malloc(size == 0 ? 1 : size);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

void operator delete(void* memory) noexcept {
    std::free(memory);
}

void operator delete(void* memory, std::size_t /*size*/) noexcept {
    std::free(memory);
}

namespace paceline::allocations_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

/// Runs the simulation up to a limit and returns how often that allocates.
std::size_t allocations_of_run(Simulation& simulation, Time limit = never) {
    allocations = 0;
    counting = true;
    simulation.run(limit);
    counting = false;
    return allocations;
}

Task<> all_reduce_often(Rank self, Bytes size, int rounds) {
    for (int round = 0; round < rounds; ++round) co_await ring_all_reduce(self, size);
}

TEST_CASE("allocations: the counter counts") {
    allocations = 0;
    counting = true;
    const auto one = std::make_unique<int>(1);
    counting = false;

    CHECK(*one == 1);
    CHECK(allocations == 1);
}

TEST_CASE("allocations: a ring all-reduce among 64 nodes allocates nothing once it is under way") {
    StarRun run(64, {1_Gbps, 50us});
    run.spawn_all([](Rank self) { return ring_all_reduce(std::move(self), 64_MB); });
    run.simulation.run(Time{100ms});  // of 1021 ms: a tenth of the steps
    const std::uint64_t before = run.network.messages_delivered();

    const std::size_t allocated = allocations_of_run(run.simulation);

    CHECK(run.processes.finished());
    CHECK(run.network.messages_delivered() - before > 7000);
    CHECK(allocated == 0);
}

TEST_CASE(
    "allocations: 100 all-reduces among 8 nodes allocate a frame per rank and round at most") {
    StarRun run(8, {1_Gbps, 50us});
    run.spawn_all([](Rank self) { return all_reduce_often(std::move(self), 8_MB, 101); });
    run.simulation.run(Time{14 * 8100us});  // one round, to warm up
    const std::uint64_t before = run.network.messages_delivered();

    const std::size_t allocated = allocations_of_run(run.simulation);

    CHECK(run.processes.finished());
    CHECK(run.network.messages_delivered() - before == 100 * 8 * 14);
    CHECK(allocated <= 101 * 8);
}

TEST_CASE("allocations: messages that share links and meet late receivers allocate nothing") {
    StarRun run(16, {1_Gbps, 50us});
    for (int place = 0; place < 16; ++place) {
        run.spawn(place, ring_all_reduce(run.rank(place, 1), 16_MB), place * Duration{1ms});
        run.spawn(place, ring_all_reduce(run.rank(place, 2), 17_MB), place * Duration{300us});
    }
    run.simulation.run(Time{200ms});
    const std::uint64_t before = run.network.messages_delivered();

    const std::size_t allocated = allocations_of_run(run.simulation);

    CHECK(run.processes.finished());
    CHECK(run.network.messages_delivered() - before > 500);
    CHECK(allocated == 0);
}

}  // namespace
}  // namespace paceline::allocations_test

// A run is an object: runs on several threads at once do not affect each other.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/action.hpp"
#include "sim/engine/barrier.hpp"
#include "sim/engine/channel.hpp"
#include "sim/engine/concurrency.hpp"
#include "sim/engine/processes.hpp"
#include "sim/engine/random.hpp"
#include "sim/engine/resource.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline::parallel_simulations_test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t nodes = 8;

/// Nodes in a ring. Each computes, sends a value to the next, and waits at a barrier.
struct Ring {
    explicit Ring(std::uint64_t seed) : streams(seed) {}

    RandomStreams streams;
    std::string log;
    Simulation simulation;
    std::array<Channel<std::uint32_t>, nodes> inbox;
    Barrier barrier{static_cast<int>(nodes)};
    Resource bus{2};
    Processes processes{simulation};

    void close(std::uint32_t rank) { log += "closed by " + std::to_string(rank) + " "; }
};

Task<> compute(Ring& ring, Duration span) {
    const Resource::Lease lease = co_await ring.bus.acquire();
    co_await ring.simulation.sleep(span);
}

Task<std::uint32_t> receive(Ring& ring, std::size_t rank) {
    const std::uint32_t value = co_await ring.inbox[rank].get();
    co_return value;
}

Task<> train(Ring& ring, std::size_t rank, int steps) {
    RandomStream random = ring.streams.stream("train", rank);
    for (int step = 0; step < steps; ++step) {
        const Pending<> own =
            ring.simulation.start(make_process("test"), compute(ring, Duration{random() % 1000}));
        co_await when_all(compute(ring, Duration{random() % 1000}), compute(ring, 1ns));
        ring.inbox[(rank + 1) % nodes].put(random());
        const auto got =
            co_await first_of(receive(ring, rank), compute(ring, Duration{random() % 2000}));
        ring.log += std::to_string(rank) + ":" + std::to_string(got.index()) + "@" +
                    to_string(ring.simulation.now() - Time{}) + " ";
        ring.simulation.at_end_of_instant(
            action<&Ring::close>(ring, static_cast<std::uint32_t>(rank)));
        co_await ring.barrier.arrive();
    }
}

/// Returns a log of everything that happens in a simulation.
std::string story(std::uint64_t seed) {
    Ring ring(seed);
    for (std::size_t rank = 0; rank < nodes; ++rank)
        ring.processes.spawn("rank " + std::to_string(rank), train(ring, rank, 50));
    ring.simulation.run();
    return ring.log + std::to_string(ring.simulation.events_fired()) + " events";
}

void tell_stories(std::uint64_t first_seed, std::vector<std::string>& stories) {
    for (std::uint64_t i = 0; i < 20; ++i) stories.push_back(story(first_seed + i));
}

TEST_CASE("parallel simulations: the same world twice in one process is the same to the letter") {
    const std::string once = story(1);
    const std::string again = story(1);

    CHECK(once == again);
    CHECK(once.size() > 1000);
    CHECK(once != story(2));
}

TEST_CASE("parallel simulations: two at once on two threads go as each goes alone") {
    std::vector<std::string> alone;
    tell_stories(0, alone);
    tell_stories(100, alone);

    std::vector<std::string> beside;
    std::vector<std::string> other;
    std::thread thread(tell_stories, 100, std::ref(other));
    tell_stories(0, beside);
    thread.join();

    beside.insert(beside.end(), other.begin(), other.end());
    CHECK(beside == alone);
}

TEST_CASE("parallel simulations: two that take turns on one thread go as each goes alone") {
    Ring first(1);
    Ring second(2);
    for (std::size_t rank = 0; rank < nodes; ++rank) {
        first.processes.spawn("first", train(first, rank, 50));
        second.processes.spawn("second", train(second, rank, 50));
    }

    for (Time limit{1ns}; first.simulation.run(limit) == RunEnd::time_limit; limit += 1ns)
        second.simulation.run(limit);
    second.simulation.run();

    const std::string first_alone = story(1);
    const std::string second_alone = story(2);
    CHECK(first_alone.starts_with(first.log));
    CHECK(second_alone.starts_with(second.log));
    CHECK(first.log.size() > 1000);
    CHECK(second.log.size() > 1000);
}

}  // namespace
}  // namespace paceline::parallel_simulations_test

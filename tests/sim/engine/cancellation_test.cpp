// Random simulations are dropped at random times. The address sanitizer finds uses after
// destruction.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/action.hpp"
#include "sim/engine/barrier.hpp"
#include "sim/engine/channel.hpp"
#include "sim/engine/concurrency.hpp"
#include "sim/engine/processes.hpp"
#include "sim/engine/resource.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline::sim_cancellation_test {
namespace {

using namespace std::chrono_literals;

/// Counts the objects of its kind that are alive.
class Live {
  public:
    explicit Live(std::size_t& count) : count_(&count) { ++*count_; }
    Live(const Live& other) : count_(other.count_) { ++*count_; }
    Live& operator=(const Live&) = default;
    ~Live() { --*count_; }

  private:
    std::size_t* count_;
};

struct Census {
    std::size_t frames = 0;
    std::size_t values = 0;
};

struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct World {
    World(std::uint64_t seed, Census& its_census) : census(its_census), rng(seed) {}

    Census& census;
    std::mt19937_64 rng;
    std::size_t puts = 0;
    std::size_t gets = 0;
    Simulation simulation;
    Channel<Live> channel;
    Barrier barrier{3};
    Resource resource{2};
    Processes processes{simulation};

    std::uint64_t dice(std::uint64_t sides) { return rng() % sides; }
    Duration wait() { return dice(20) * 1ns; }
    void put() {
        channel.put(Live(census.values));
        ++puts;
    }

    // What the events do.
    void put_and_stop(std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) put();
        simulation.stop();
    }
    void put_and_drop(std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) put();
        processes.drop();
    }
};

Task<int> work(World& world, int depth, Live frame);

Task<int> begin(World& world, int depth) {
    return work(world, depth, Live(world.census.frames));
}

Task<> sleep(World& world, Live /*frame*/) {
    co_await world.simulation.sleep(world.wait());
}

Task<> take_value(World& world, Live /*frame*/) {
    const Live value = co_await world.channel.get();
    ++world.gets;
    co_await world.simulation.sleep(world.wait());
}

Task<> hold_unit(World& world, Live /*frame*/) {
    const Resource::Lease lease = co_await world.resource.acquire();
    co_await world.simulation.sleep(world.wait());
}

Task<> fork(World& world, int depth, Live /*frame*/) {
    std::vector<Task<int>> children;
    const std::uint64_t count = world.dice(4);
    children.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) children.push_back(begin(world, depth - 1));
    const std::vector<int> results = co_await when_all(std::move(children));
    co_await world.simulation.sleep(Duration{static_cast<std::int64_t>(results.size())});
}

Task<> race(World& world, int depth, Live frame) {
    if (world.dice(2) == 0)
        co_await first_of(begin(world, depth - 1), begin(world, depth - 1));
    else
        co_await first_of(begin(world, depth - 1), sleep(world, frame));
}

Task<> in_background(World& world, int depth, Live /*frame*/) {
    Pending<int> later = world.simulation.start(make_process("test"), begin(world, depth - 1));
    co_await world.simulation.sleep(world.wait());
    if (world.dice(2) == 0) co_await std::move(later);
}

Task<> fail(World& world, int depth, Live /*frame*/) {
    if (depth > 0) co_await begin(world, depth - 1);
    throw Failure("the work has failed");
}

Task<> recover(World& world, int depth, Live frame) {
    try {
        co_await when_all(sleep(world, frame), fail(world, depth, frame), take_value(world, frame));
    } catch (const Failure&) {
        world.put();
    }
}

/// A random program: some steps that use every kind of wait, and nested programs like itself.
Task<int> work(World& world, int depth, Live frame) {
    const Live local(world.census.frames);
    const std::uint64_t steps = 1 + world.dice(4);
    for (std::uint64_t step = 0; step < steps; ++step) {
        const std::uint64_t kind = world.dice(depth > 0 ? 11 : 6);
        if (kind == 0) co_await world.simulation.sleep(world.wait());
        if (kind == 1) co_await take_value(world, frame);
        if (kind == 2) world.put();
        if (kind == 3) co_await world.barrier.arrive();
        if (kind == 4) co_await hold_unit(world, frame);
        if (kind == 5) co_await sleep(world, frame);
        if (kind == 6) co_await fork(world, depth, frame);
        if (kind == 7) co_await race(world, depth, frame);
        if (kind == 8) co_await in_background(world, depth, frame);
        if (kind == 9) co_await recover(world, depth, frame);
        if (kind == 10) co_await begin(world, depth - 1);
    }
    co_return depth;
}

void populate(World& world) {
    const std::uint64_t count = 1 + world.dice(12);
    for (std::uint64_t i = 0; i < count; ++i)
        world.processes.spawn("p" + std::to_string(i), [](World& its_world) -> Task<> {
            co_await begin(its_world, 4);
        }(world));
}

/// Checks that nothing is left of the processes: no frame, value in transit, unit or event.
void check_that_nobody_is_left(World& world) {
    REQUIRE(world.census.frames == 0);
    REQUIRE(world.census.values == world.channel.size());
    REQUIRE(world.puts == world.gets + world.channel.size());
    REQUIRE(world.resource.free() == 2);
    REQUIRE(world.simulation.waiting().empty());

    const std::uint64_t fired = world.simulation.events_fired();
    REQUIRE(world.simulation.run() == RunEnd::idle);
    REQUIRE(world.simulation.events_fired() == fired);
}

Task<> pass(World& world, int& passed) {
    co_await world.barrier.arrive();
    ++passed;
}

/// Checks that the barrier works as if new: it opens for three, and not for two.
void check_the_barrier(World& world) {
    int passed = 0;
    world.processes.spawn("a", pass(world, passed));
    world.processes.spawn("b", pass(world, passed));
    world.simulation.run();
    REQUIRE(passed == 0);

    world.processes.spawn("c", pass(world, passed));
    world.simulation.run();
    REQUIRE(passed == 3);
}

TEST_CASE(
    "cancellation, property: dropped between two resumptions, a world leaves nothing behind") {
    std::size_t frames_dropped = 0;
    for (unsigned seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        Census census;
        {
            World world(seed, census);
            populate(world);
            const Time strike{world.dice(60) * 1ns};
            world.simulation.at(strike, action<&World::put_and_stop>(
                                            world, static_cast<std::uint32_t>(world.dice(6))));
            world.simulation.run();
            frames_dropped += census.frames;

            world.processes.drop();

            check_that_nobody_is_left(world);
            check_the_barrier(world);
        }
        REQUIRE(census.values == 0);
    }
    CHECK(frames_dropped > 3000);  // enough cases for the property to mean something
}

TEST_CASE("cancellation, property: a simulation dropped by an event leaves nothing behind") {
    for (unsigned seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        Census census;
        {
            World world(seed, census);
            populate(world);
            const Time strike{world.dice(60) * 1ns};
            world.simulation.at(strike, action<&World::put_and_drop>(
                                            world, static_cast<std::uint32_t>(world.dice(6))));

            const RunEnd end = world.simulation.run();

            REQUIRE(end == RunEnd::idle);
            check_that_nobody_is_left(world);
            check_the_barrier(world);
        }
        REQUIRE(census.values == 0);
    }
}

TEST_CASE("cancellation, property: a simulation destroyed at any time leaves nothing behind") {
    for (unsigned seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        Census census;
        {
            World world(seed, census);
            populate(world);
            world.simulation.run(Time{world.dice(60) * 1ns});
        }
        REQUIRE(census.frames == 0);
        REQUIRE(census.values == 0);
    }
}

TEST_CASE("cancellation, property: a simulation in which something failed leaves nothing behind") {
    for (unsigned seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        Census census;
        {
            World world(seed, census);
            populate(world);
            world.processes.spawn("failing", fail(world, 3, Live(census.frames)));
            populate(world);
            try {
                world.simulation.run();
            } catch (const Failure&) {
                REQUIRE(census.frames > 0);
            }
        }
        REQUIRE(census.frames == 0);
        REQUIRE(census.values == 0);
    }
}

}  // namespace
}  // namespace paceline::sim_cancellation_test

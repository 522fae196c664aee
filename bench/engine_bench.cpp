// What the layers of the engine cost: events of the bare queue, resumptions of coroutines, messages
// of the network, and how a ring all-reduce grows with the number of nodes.
#include <cstdint>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "sim/collectives/all_reduce.hpp"
#include "sim/engine/event_queue.hpp"
#include "sim/engine/processes.hpp"
#include "sim/engine/random.hpp"
#include "topologies/fabrics/star.hpp"

namespace {

using namespace paceline;
using namespace std::chrono_literals;
using namespace paceline::literals;

struct Counter {
    std::uint64_t fired = 0;
    void fire(std::uint32_t) { ++fired; }
};

// The hold model: pop the earliest event, push one a random while later. No two times coincide.
void queue_hold_random(benchmark::State& state) {
    EventQueue queue;
    Counter counter;
    RandomStream random = RandomStreams(1).stream("hold");
    for (std::int64_t i = 0; i < state.range(0); ++i)
        queue.push(Time{Duration{random()}}, action<&Counter::fire>(counter));
    for (auto _ : state) {
        const Event event = queue.pop();
        event.action();
        queue.push(event.at + Duration{random()}, event.action);
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(queue_hold_random)->RangeMultiplier(8)->Range(64, 32768);

// The same in lock step: all events of an instant push one a fixed while later.
void queue_hold_lock_step(benchmark::State& state) {
    EventQueue queue;
    Counter counter;
    for (std::int64_t i = 0; i < state.range(0); ++i)
        queue.push(Time{1us}, action<&Counter::fire>(counter));
    for (auto _ : state) {
        const Event event = queue.pop();
        event.action();
        queue.push(event.at + 1us, event.action);
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(queue_hold_lock_step)->RangeMultiplier(8)->Range(64, 32768);

Task<> sleeper(Simulation& simulation, std::int64_t times, Duration wait) {
    for (std::int64_t i = 0; i < times; ++i) co_await simulation.sleep(wait);
}

// One event and one resumption per item.
void coroutine_sleeps(benchmark::State& state) {
    constexpr std::int64_t times = 1000;
    for (auto _ : state) {
        Simulation simulation;
        Processes processes(simulation);
        for (std::int64_t i = 0; i < state.range(0); ++i)
            processes.spawn("sleeper", sleeper(simulation, times, Duration{1000 + i}));
        simulation.run();
    }
    state.SetItemsProcessed(state.iterations() * state.range(0) * times);
}
BENCHMARK(coroutine_sleeps)->Arg(16)->Arg(1024);

// Items are messages.
void ring(benchmark::State& state) {
    const int nodes = static_cast<int>(state.range(0));
    const Link link{1_Gbps, 50us};
    std::uint64_t messages = 0;
    for (auto _ : state) {
        Simulation simulation;
        Network network(simulation, make_star(nodes, link, link));
        const auto group = whole_group(nodes);
        Processes processes(simulation);
        for (int place = 0; place < nodes; ++place)
            processes.spawn("node", ring_all_reduce(Rank(network, group, place, 1), 97_MB));
        simulation.run();
        messages += network.messages_delivered();
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(messages));
}
BENCHMARK(ring)->RangeMultiplier(4)->Range(64, 4096)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();

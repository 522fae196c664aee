// Cost of the engine's layers: events of the bare queue, resumptions of coroutines, messages of the
// network, also beside many lanes that wait, closing a stream, collectives ahead of the queue and
// by events as the number of nodes grows, and a solve of max-min rates as the number of flows in
// its component grows.
#include <cstddef>
#include <cstdint>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "sim/collectives/all_gather.hpp"
#include "sim/collectives/all_reduce.hpp"
#include "sim/collectives/all_to_all.hpp"
#include "sim/collectives/pipelined.hpp"
#include "sim/collectives/tree.hpp"
#include "sim/engine/event_queue.hpp"
#include "sim/engine/processes.hpp"
#include "sim/engine/random.hpp"
#include "tests/sim/network/whole_problems.hpp"
#include "topologies/fabrics/fat_tree.hpp"
#include "topologies/fabrics/star.hpp"

namespace {

using namespace paceline;
using namespace std::chrono_literals;
using namespace paceline::literals;

struct Counter {
    std::uint64_t fired = 0;
    void fire(std::uint32_t) { ++fired; }
};

// The hold model: pops the earliest event and pushes one a random time later. No two times
// coincide.
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

// The hold model in lockstep: all events of an instant push one event a fixed time later.
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

// Each item is one event and one resumption.
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

// Items are messages. Returns how many there were.
template <class Collective>
std::uint64_t run_on_star(int nodes, bool by_events, Collective collective) {
    const Link link{1_Gbps, 50us};
    Simulation simulation;
    Network network(simulation, make_star(nodes, link, link), {.by_events = by_events});
    const auto group = whole_group(nodes);
    Processes processes(simulation);
    for (int place = 0; place < nodes; ++place)
        processes.spawn("node", collective(Rank(network, group, place, 1)));
    simulation.run();
    return network.messages_delivered();
}

// Second argument: 1 by events, 0 ahead of the queue.
template <class Collective>
void both_ways(benchmark::State& state, Collective collective) {
    std::uint64_t messages = 0;
    for (auto _ : state)
        messages += run_on_star(static_cast<int>(state.range(0)), state.range(1) != 0, collective);
    state.SetItemsProcessed(static_cast<std::int64_t>(messages));
}

void ring(benchmark::State& state) {
    both_ways(state, [](const Rank& self) { return ring_all_reduce(self, 97_MB); });
}
BENCHMARK(ring)
    ->ArgsProduct({{64, 256, 1024, 4096}, {0, 1}})
    ->Args({16384, 0})
    ->Unit(benchmark::kMillisecond);

void ring_in_slices(benchmark::State& state) {
    both_ways(state, [](const Rank& self) {
        return pipelined_ring_all_reduce(self, 97_MB, {Bytes{50'000}, 8});
    });
}
BENCHMARK(ring_in_slices)->ArgsProduct({{64, 256}, {0, 1}})->Unit(benchmark::kMillisecond);

void ring_with_slots(benchmark::State& state) {
    both_ways(state, [](const Rank& self) {
        return pipelined_ring_all_reduce(self, 97_MB, {Bytes{50'000}, 1, 8});
    });
}
BENCHMARK(ring_with_slots)->ArgsProduct({{64, 256}, {0, 1}})->Unit(benchmark::kMillisecond);

void halving_doubling(benchmark::State& state) {
    both_ways(state, [](const Rank& self) { return halving_doubling_all_reduce(self, 97_MB); });
}
BENCHMARK(halving_doubling)
    ->ArgsProduct({{64, 1024, 16384}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

void tree(benchmark::State& state) {
    both_ways(state, [](const Rank& self) { return tree_all_reduce(self, 97_MB); });
}
BENCHMARK(tree)->ArgsProduct({{64, 1024, 16384}, {0, 1}})->Unit(benchmark::kMillisecond);

void blocks_around_a_ring(benchmark::State& state) {
    both_ways(state, [](const Rank& self) { return ring_all_gather(self, 1_MB); });
}
BENCHMARK(blocks_around_a_ring)
    ->ArgsProduct({{64, 256, 1024}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

void all_to_all_in_rounds(benchmark::State& state) {
    both_ways(state, [](const Rank& self) { return all_to_all(AllToAll::rounds, self, 1_MB); });
}
BENCHMARK(all_to_all_in_rounds)
    ->ArgsProduct({{64, 256, 1024}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

// Two hosts, and lanes between them on which a message is held for a receiver that never comes.
struct Stale {
    Simulation simulation;
    Network network{simulation, make_star(2, {1_Gbps, 50us}, {1_Gbps, 50us})};

    explicit Stale(std::int64_t lanes) {
        for (std::int64_t stream = 1; stream <= lanes; ++stream) hold(static_cast<Stream>(stream));
    }
    void hold(Stream stream) {
        Join drained{1};
        network.forget(network.send(0, 1, stream, 1000_B, Protocol::rendezvous, drained));
    }
};

// One message from send to delivery. Items are messages.
void message_beside_stale_lanes(benchmark::State& state) {
    Stale stale(state.range(0));
    for (auto _ : state) {
        Join drained{1};
        Join delivered{1};
        stale.network.send(0, 1, 0, 1000_B, Protocol::rendezvous, drained);
        stale.network.receive(1, 0, 0, delivered);
        stale.simulation.run();
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(message_beside_stale_lanes)->Arg(0)->Arg(1000)->Arg(100'000);

// Sending a message and closing its stream, beside lanes of other streams. Items are closed
// streams.
void close_beside_other_lanes(benchmark::State& state) {
    Stale stale(state.range(0));
    const std::vector<int> hosts{0, 1};
    for (auto _ : state) {
        stale.hold(0);
        stale.network.close(0, hosts);
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(close_beside_other_lanes)->Arg(0)->Arg(1000)->Arg(100'000);

// A fat tree with a quarter as many hosts as flows, and random pairs of senders and receivers.
// Nearly all flows are in one component.
Fabric tree_for(std::int64_t flows) {
    const auto hosts = static_cast<int>(flows / 4);
    const Link link{10_Gbps, Duration{}};
    return make_fat_tree(
        {.hosts = hosts, .k = fat_tree_ports_for(hosts), .link = link, .uplink = link}, 1);
}

struct Pair {
    int from;
    int to;
};

std::vector<Pair> random_pairs(int hosts, std::int64_t count, std::uint64_t seed) {
    RandomStream random = RandomStreams(seed).stream("pairs");
    std::vector<Pair> pairs;
    for (std::int64_t i = 0; i < count; ++i) {
        const auto from = static_cast<int>(random() % static_cast<unsigned>(hosts));
        const auto hop = static_cast<int>(1 + random() % static_cast<unsigned>(hosts - 1));
        pairs.push_back({from, (from + hop) % hosts});
    }
    return pairs;
}

struct Routes {
    std::vector<std::uint32_t> first_hop{0};
    std::vector<std::uint32_t> hops;
};

Routes random_routes(const Fabric& fabric, std::int64_t flows, std::uint64_t seed) {
    Routes routes;
    Route route;
    for (const Pair pair : random_pairs(fabric.hosts, flows, seed)) {
        fabric.find_route(pair.from, pair.to, route);
        routes.hops.insert(routes.hops.end(), route.begin(), route.end());
        routes.first_hop.push_back(static_cast<std::uint32_t>(routes.hops.size()));
    }
    return routes;
}

// The solver alone, cycling through problems of 65536 flows in total: with a single small problem,
// the processor would learn its branches by heart. Items are flows.
void max_min_solve(benchmark::State& state) {
    const Fabric fabric = tree_for(state.range(0));
    std::vector<double> capacity;
    for (const Link& link : fabric.links)
        capacity.push_back(static_cast<double>(link.capacity().bits_per_second));
    std::vector<Routes> problems;
    for (std::int64_t seed = 0; seed < 65536 / state.range(0); ++seed)
        problems.push_back(random_routes(fabric, state.range(0), static_cast<std::uint64_t>(seed)));
    WholeProblems whole;
    std::size_t next = 0;
    for (auto _ : state) {
        const Routes& routes = problems[next++ % problems.size()];
        benchmark::DoNotOptimize(whole.solve(capacity, routes.first_hop, routes.hops));
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(max_min_solve)->RangeMultiplier(4)->Range(16, 16384)->Unit(benchmark::kMicrosecond);

// Cost of changing one link: gather its component, solve it, and recompute its drain times. There
// is only one component, so the results for small ones are too good. Items are flows.
void network_solve(benchmark::State& state) {
    const Fabric fabric = tree_for(state.range(0));
    const std::vector<Pair> pairs = random_pairs(fabric.hosts, state.range(0), 1);
    Simulation simulation;
    Network network(simulation, fabric);
    Join drained(static_cast<std::uint32_t>(pairs.size()));
    for (std::size_t i = 0; i < pairs.size(); ++i)
        network.send(pairs[i].from, pairs[i].to, i, 1'000'000'000_MB, Protocol::eager, drained);
    Route route;
    fabric.find_route(pairs[0].from, pairs[0].to, route);
    Time now{};
    bool slow = false;
    for (auto _ : state) {
        slow = !slow;
        network.set_bandwidth(route.front(), slow ? 9_Gbps : 10_Gbps);
        now += 1ns;
        simulation.run(now);
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(network_solve)->RangeMultiplier(4)->Range(16, 16384)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();

// Our side of the neighbor-exchange benchmark: only the timing plane, message by message.
//
// Usage: neighbor_exchange HOSTS BYTES BITS_PER_SECOND LATENCY_SECONDS star|fat-tree
//        ring|torus|exponential STEPS. Prints the simulated time. tools/bench.sh measures time and
// memory from outside, and runs simgrid_neighbor_exchange with the same arguments.
// bench/neighbor_exchange.hpp describes the job.
#include "bench/neighbor_exchange.hpp"

#include <cstddef>
#include <optional>

#include <fmt/format.h>

#include "sim/collectives/neighbor_exchange.hpp"
#include "sim/engine/processes.hpp"

using namespace paceline;

namespace {

Task<> work(Network& network, int host, const NeighborJob& job) {
    const auto self = static_cast<std::size_t>(host);
    for (int step = 0; step < job.steps; ++step)
        co_await neighbor_exchange(network, host, job.to[self], job.from[self], 1, job.block);
}

}  // namespace

int main(int argc, char** argv) {
    const std::optional<NeighborJob> job = parse_neighbor_job(argc, argv);
    if (!job) return 2;

    Simulation simulation;
    Network network(simulation, job->fabric);
    Processes processes(simulation);
    for (int host = 0; host < job->hosts; ++host)
        processes.spawn(fmt::format("node {}", host), work(network, host, *job));
    simulation.run();
    fmt::print("hosts={} simulated_s={:.9f} messages={} finished={}\n", job->hosts,
               to_seconds(simulation.now().time_since_epoch()), network.messages_delivered(),
               processes.finished());
    return processes.finished() ? 0 : 1;
}

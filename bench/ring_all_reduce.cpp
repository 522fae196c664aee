// Our side of the ring all-reduce benchmark: only the timing plane, message by message, on a star.
//
// Usage: ring_all_reduce NODES BYTES BITS_PER_SECOND LATENCY_SECONDS_PER_LINK. Prints the simulated
// time. tools/bench.sh measures time and memory from outside, and runs simgrid_ring_all_reduce with
// the same arguments.
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "sim/collectives/all_reduce.hpp"
#include "sim/engine/processes.hpp"
#include "topologies/fabrics/star.hpp"

using namespace paceline;

int main(int argc, char** argv) {
    if (argc != 5) {
        fmt::print(stderr, "usage: {} NODES BYTES BITS_PER_SECOND LATENCY_SECONDS_PER_LINK\n",
                   argv[0]);
        return 2;
    }
    const int nodes = std::atoi(argv[1]);
    const Bytes size{static_cast<std::int64_t>(std::atof(argv[2]))};
    const Link link{{static_cast<std::int64_t>(std::atof(argv[3]))},
                    from_seconds(std::atof(argv[4]))};

    Simulation simulation;
    Network network(simulation, make_star(nodes, link, link));
    const auto group = whole_group(nodes);
    Processes processes(simulation);
    for (int place = 0; place < nodes; ++place)
        processes.spawn(fmt::format("node {}", place),
                        ring_all_reduce(Rank(network, group, place, 1), size));
    simulation.run();
    fmt::print("nodes={} simulated_s={:.9f} messages={} finished={}\n", nodes,
               to_seconds(simulation.now().time_since_epoch()), network.messages_delivered(),
               processes.finished());
    return 0;
}

// Our side of the ring all-reduce benchmark: only the timing plane, on a star, ahead of the event
// queue or, with PACELINE_EVENTS=1, message by message.
//
// Usage: ring_all_reduce NODES BYTES BITS_PER_SECOND LATENCY_SECONDS_PER_LINK [SLICE_BYTES]. Prints
// the simulated time. With slices, the ring is pipelined, eight of them under way. tools/bench.sh
// measures time and memory from outside, and runs simgrid_ring_all_reduce with the same arguments.
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "sim/collectives/all_reduce.hpp"
#include "sim/collectives/pipelined.hpp"
#include "sim/engine/processes.hpp"
#include "topologies/fabrics/star.hpp"

using namespace paceline;

int main(int argc, char** argv) {
    if (argc != 5 && argc != 6) {
        fmt::print(stderr,
                   "usage: {} NODES BYTES BITS_PER_SECOND LATENCY_SECONDS_PER_LINK [SLICE_BYTES]\n",
                   argv[0]);
        return 2;
    }
    const int nodes = std::atoi(argv[1]);
    const Bytes size{static_cast<std::int64_t>(std::atof(argv[2]))};
    const Link link{{static_cast<std::int64_t>(std::atof(argv[3]))},
                    from_seconds(std::atof(argv[4]))};

    Simulation simulation;
    const char* const forced = std::getenv("PACELINE_EVENTS");
    const bool by_events = forced != nullptr && std::string(forced) == "1";
    Network network(simulation, make_star(nodes, link, link), {.by_events = by_events});
    const auto group = whole_group(nodes);
    Processes processes(simulation);
    for (int place = 0; place < nodes; ++place) {
        const Rank self(network, group, place, 1);
        processes.spawn(
            fmt::format("node {}", place),
            argc == 5 ? ring_all_reduce(self, size)
                      : pipelined_ring_all_reduce(
                            self, size, {{static_cast<std::int64_t>(std::atof(argv[5]))}, 8}));
    }
    simulation.run();
    fmt::print("nodes={} simulated_s={:.9f} messages={} finished={}\n", nodes,
               to_seconds(simulation.now().time_since_epoch()), network.messages_delivered(),
               processes.finished());
    return 0;
}

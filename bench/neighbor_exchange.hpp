// The job of both neighbor-exchange benchmarks, ours and SimGrid's: its arguments, its network and
// its graph.
//
// In each step, every host sends a block to each of its neighbors in the graph and receives one
// from each host whose neighbor it is, all at once; its next step begins when all of them are
// through. Hosts do not wait for each other otherwise.
//
//   star       a switch that never blocks: each block shares its host's two links with d - 1 others
//   fat-tree   the smallest three-level fat tree with room for the hosts in order, as in
//              bench/all_to_all.hpp; blocks of different hosts share links too
//   ring, torus, exponential    as in topologies/mixing: 2, 4 and ceil(log2 HOSTS) blocks per host
//
// 0 steps measure the cost of building the network and the hosts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "topologies/fabrics/fat_tree.hpp"
#include "topologies/fabrics/star.hpp"
#include "topologies/mixing/graphs.hpp"

namespace paceline {

struct NeighborJob {
    int hosts = 0;
    Bytes block;
    int steps = 0;
    Fabric fabric{};
    std::vector<std::vector<int>> to{};    // [host]: its neighbors
    std::vector<std::vector<int>> from{};  // [host]: the hosts whose neighbor it is
};

inline Fabric neighbor_fabric(std::string_view name, int hosts, const Link& link) {
    if (name == "star") return make_star(hosts, link, link);
    const Link between_switches{.bandwidth = link.bandwidth};
    return make_fat_tree(
        {.hosts = hosts, .k = fat_tree_ports_for(hosts), .link = link, .uplink = between_switches},
        1);
}

inline Mixing neighbor_graph(std::string_view name, int hosts) {
    if (name == "ring") return make_ring_mixing(hosts);
    if (name == "torus") return make_torus_mixing(rows_for(hosts), hosts / rows_for(hosts));
    return make_exponential_mixing(hosts);
}

inline void set_neighbors(NeighborJob& job, const Mixing& graph) {
    job.from.resize(static_cast<std::size_t>(job.hosts));
    for (int host = 0; host < job.hosts; ++host) {
        job.to.push_back(graph.listeners(host));
        for (const MixingWeight& heard : graph.row(host))
            if (heard.node != host) job.from[static_cast<std::size_t>(host)].push_back(heard.node);
    }
}

/// Returns nothing, after printing the usage on standard error, if the arguments are not a valid
/// job.
inline std::optional<NeighborJob> parse_neighbor_job(int count, char** arguments) {
    if (count == 8) {
        const std::string_view fabric = arguments[5];
        const std::string_view graph = arguments[6];
        NeighborJob job{.hosts = std::atoi(arguments[1]),
                        .block = {static_cast<std::int64_t>(std::atof(arguments[2]))},
                        .steps = std::atoi(arguments[7])};
        const Link link{.bandwidth = {static_cast<std::int64_t>(std::atof(arguments[3]))},
                        .latency = from_seconds(std::atof(arguments[4]))};
        const bool known = (fabric == "star" || fabric == "fat-tree") &&
                           (graph == "ring" || graph == "torus" || graph == "exponential");
        if (known && job.hosts >= 2 && job.block > Bytes{0} && job.steps >= 0 &&
            link.bandwidth > Bandwidth{0}) {
            job.fabric = neighbor_fabric(fabric, job.hosts, link);
            set_neighbors(job, neighbor_graph(graph, job.hosts));
            return job;
        }
    }
    std::fprintf(stderr,
                 "usage: %s HOSTS BYTES BITS_PER_SECOND LATENCY_SECONDS star|fat-tree "
                 "ring|torus|exponential STEPS\n"
                 "       at least 2 hosts; for example 1024 1e6 10e9 0 fat-tree exponential 10\n",
                 arguments[0]);
    return std::nullopt;
}

}  // namespace paceline

#include "app/scenario/cluster/cluster_memory.hpp"

#include <fmt/format.h>

namespace paceline {

Bytes memory_of_workers(const ClusterChoice& cluster) {
    constexpr Bytes per_node{9 << 10};  // measured on whole runs: worker, frames, links, flows
    return cluster.workers * per_node + cluster.bus_memory();
}

Bytes memory_of_cluster(const ClusterChoice& cluster) {
    return memory_of_workers(cluster) + cluster.fabric.memory;
}

void check_memory_of_cluster(const ClusterChoice& cluster, const Place& place) {
    const Bytes need = memory_of_cluster(cluster);
    const AvailableMemory& memory = place.outside().memory();
    if (!memory.is_below(need)) return;
    const ObjectReader read(place, cluster_keys());
    read.optional(read.has("nodes") ? "nodes" : "devices")
        ->refuse(fmt::format("{} workers need {}; use fewer nodes or a smaller fabric",
                             cluster.workers, beside_free(need, memory)));
}

}  // namespace paceline

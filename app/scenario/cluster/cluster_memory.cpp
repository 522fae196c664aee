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
    const Sources& outside = place.outside();
    const Bytes free =
        *outside.shelf->once<Bytes>("available memory", [&] { return outside.available_memory(); });
    if (free == Bytes{0} || need <= free) return;
    const ObjectReader read(place, cluster_keys());
    read.optional(read.has("nodes") ? "nodes" : "devices")
        ->refuse(fmt::format(
            "{} workers need about {:.1f} GB of memory and {:.1f} GB are free; use fewer "
            "nodes or a smaller fabric",
            cluster.workers, static_cast<double>(need.count) * 1e-9,
            static_cast<double>(free.count) * 1e-9));
}

}  // namespace paceline

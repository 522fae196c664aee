// The memory that the machines and wires of a cluster take, whatever runs on them.
#pragma once

#include "app/scenario/cluster/cluster_choice.hpp"

namespace paceline {

/// Returns the memory of the workers and their buses, without the fabric.
Bytes memory_of_workers(const ClusterChoice& cluster);
Bytes memory_of_cluster(const ClusterChoice& cluster);

/// Refuses a cluster that does not fit, before anything is allocated for every worker. `place` is
/// that of the cluster. Throws ConfigError.
void check_memory_of_cluster(const ClusterChoice& cluster, const Place& place);

}  // namespace paceline

// The "cluster" of a scenario: machines, the devices in each, and the wires.
//
// A worker is a training process on one device. Machines have one device unless "devices_per_node"
// says otherwise; then the devices hang on the machine's "bus", and the cluster is given by its
// "nodes" (full machines) or by its "devices" (machines filled one after the other).
#pragma once

#include <optional>

#include "analysis/step_models.hpp"
#include "app/fabrics.hpp"
#include "app/object_reader.hpp"
#include "topologies/fabrics/machines.hpp"

namespace paceline {

struct ClusterChoice {
    int nodes = 1;             // machines
    int workers = 1;           // devices in all
    int devices_per_node = 1;  // of a full machine
    std::optional<Bus> bus;
    FabricChoice fabric;

    /// The wires between the workers, and to machines of their own for `servers` parameter servers,
    /// which stand behind the workers. Requires one device per machine if there are any.
    [[nodiscard]] Fabric make_fabric(int servers) const;
    /// As closed forms see it, where they hold.
    [[nodiscard]] std::optional<IdleNetwork> as_idle_network() const;
};

Keys cluster_keys();
Keys bus_keys();

/// Throws ConfigError.
ClusterChoice read_cluster(const Place& place);

}  // namespace paceline

// The "bus" of a machine and its "nics": what joins its devices, and its network cards.
#pragma once

#include "app/json/object_reader.hpp"
#include "topologies/fabrics/uneven_machines.hpp"

namespace paceline {

Keys bus_keys();

/// Reads "devices_per_node", "bus" and "nics" of a cluster, or of a class of its nodes. What they
/// leave out is as in `usual`; several devices need a bus. Throws ConfigError.
MachineShape read_machine_shape(const ObjectReader& read, const MachineShape& usual);

/// Throws ConfigError unless the fabric of the cluster, which has not been read, takes nodes of
/// several cards.
void check_fabric_of_cards(const Place& nics, const ObjectReader& cluster);

}  // namespace paceline

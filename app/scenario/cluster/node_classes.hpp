// The "classes" of a cluster: nodes that differ from the others in what they hold and how they are
// attached. A class says only what differs.
//
//   "cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"preset": "10GbE-tcp"}},
//               "classes": [{"nodes": [2, 3], "device": "rtx-2080-ti", "efficiency": 0.3,
//                            "batch": 200, "link": {"preset": "1GbE-tcp"}}]}
//
//   nodes or share               which nodes (node_list.hpp); a node is in one class at most
//   devices_per_node, bus, nics  the machine
//   link                         its cable into the fabric; of each card, if it has several
//   device, efficiency, precision, step_time, gradient_time, batch, device_memory
//                                its devices and what they compute, in place of the workload's
//                                (workload/class_work.hpp)
//
// Machines that hold different numbers of devices, buses or cards are uneven: their devices are
// numbered machine by machine, and what goes by machine ("machines": "leaders", "hierarchical", ..)
// is refused.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/json/object_reader.hpp"
#include "app/scenario/cluster/links.hpp"
#include "app/scenario/nodes/node_list.hpp"
#include "topologies/fabrics/uneven_machines.hpp"

namespace paceline {

struct NodeClass {
    std::string path;        // such as "cluster.classes[0]"
    std::vector<int> nodes;  // in increasing order
    MachineShape machine{};
    std::optional<Cable> link{};
};

Keys node_class_keys();

/// Reads which nodes the classes have, and their machines; `usual` is that of the other nodes.
/// Shares of nodes are drawn and noted in `drawn`. Throws ConfigError.
std::vector<NodeClass> read_node_classes(const Place& place, NodeDraw draw,
                                         const MachineShape& usual, std::vector<DrawnNodes>& drawn);

/// Reads the links of these classes. Throws ConfigError.
void read_links_of_classes(const Place& place, Cable (*read_cable)(const Place&),
                           std::vector<NodeClass>& classes);

/// Returns the machine of each node.
std::vector<MachineShape> machines_of(const std::vector<NodeClass>& classes, int nodes,
                                      const MachineShape& usual);

/// Replaces the cables of the nodes of each class that has a link. Node i has cards first[i] ..
/// first[i+1] - 1, or card i alone if `first` is empty. Requires that each card has one cable.
void replace_links_of_classes(const std::vector<NodeClass>& classes, const std::vector<int>& first,
                              Fabric& fabric);

}  // namespace paceline

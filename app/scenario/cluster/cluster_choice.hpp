// The "cluster" of a scenario: its machines, the devices in each machine, and the wires.
//
// A worker is a training process on one device. Machines have one device unless "devices_per_node"
// says otherwise. With several, the devices are attached to the machine's "bus". The cluster size
// is then given either by "nodes" (full machines) or by "devices" (machines are filled one after
// the other). A machine has one network card unless "nics" says otherwise. "classes" are nodes that
// differ from the others (node_classes.hpp), "sites" are levels above the machine (sites.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/forms/step_models.hpp"
#include "app/json/object_reader.hpp"
#include "app/scenario/cluster/access.hpp"
#include "app/scenario/cluster/background.hpp"
#include "app/scenario/cluster/fabrics.hpp"
#include "app/scenario/cluster/failures.hpp"
#include "app/scenario/cluster/node_classes.hpp"
#include "app/scenario/cluster/node_speeds.hpp"
#include "app/scenario/cluster/stragglers.hpp"
#include "app/scenario/cluster/transports.hpp"
#include "sim/collectives/library.hpp"
#include "sim/collectives/plans/all_reduce_plan.hpp"
#include "sim/engine/levels.hpp"
#include "topologies/fabrics/machines.hpp"

namespace paceline {

/// Where each machine sits on a network that several jobs use: machine i of the network is at node
/// nodes[i] of the fabric, or at one of the servers behind its nodes.
struct Seating {
    std::vector<int> nodes;
    int servers = 0;
};

struct ClusterChoice {
    int nodes = 1;                 // machines of the job
    int workers = 1;               // devices in total
    int devices_per_node = 1;      // devices in a full machine; where they differ, in the largest
    int fabric_nodes = 1;          // machines that the fabric connects
    std::vector<int> placement{};  // the fabric node of each machine of the job; empty: 0, 1, ..
    std::vector<Background> background{};
    std::optional<Bus> bus;
    FabricChoice fabric;
    std::optional<Tcp> tcp;  // applies to the network, not to buses
    Library library{};       // of the collectives
    AllReducePlan library_all_reduce{};
    std::vector<Stragglers> stragglers;
    std::vector<NodeSpeeds> speeds;  // read once the workload is known
    std::optional<Jitter> compute_jitter;
    std::optional<FailureChoice> failures;
    std::vector<DrawnNodes> drawn{};   // by share, in the order of the keys
    std::vector<AccessChoice> access;  // for nodes with one device and one cable
    std::vector<NodeClass> classes{};
    std::vector<MachineShape> uneven{};  // the machine of each node, where they differ
    MachineSizes sizes{};                // the machine of each worker
    std::vector<Level> sites{};          // of the fabric's nodes
    std::vector<double> class_speeds{};  // of each worker; read with the workload; empty: all 1

    /// Returns the network cards of a machine; where they differ, the most.
    [[nodiscard]] int cards() const { return bus ? bus->cards : 1; }
    /// Returns the network cards of all machines of the job.
    [[nodiscard]] int cards_in_all() const;
    /// Returns the first card of each machine, and the number of all; empty where each has one.
    [[nodiscard]] std::vector<int> first_cards() const;
    /// Returns the levels of the job's machines.
    [[nodiscard]] Levels levels() const;
    /// Builds the wires between the workers, and to `servers` parameter servers on machines of
    /// their own, the first device of each, which are numbered after those of the workers. Such a
    /// machine is like the others, or has one device where these are uneven. If there are servers,
    /// requires a fabric that takes servers; where machines have several devices, one server and
    /// full machines.
    [[nodiscard]] Fabric make_fabric(int servers, std::uint64_t seed) const;
    /// Builds the same for all seated machines. Each machine has as many hosts as devices.
    [[nodiscard]] Fabric make_fabric(const Seating& seating, std::uint64_t seed) const;
    [[nodiscard]] Transport transport() const;
    /// Returns the estimated memory of the buses' links.
    [[nodiscard]] Bytes bus_memory() const;
    /// Returns how long gradients take; null if no node deviates from the workload's own device.
    [[nodiscard]] ComputeTime compute_time(std::uint64_t seed) const;
    /// Returns the network as closed forms see it, where they hold. With TCP, connections are warm
    /// and both directions are busy.
    [[nodiscard]] std::optional<IdleNetwork> as_idle_network() const;
    /// Returns the same where classes may compute at speeds of their own, which their form knows.
    [[nodiscard]] std::optional<IdleNetwork> idle_network_of_classes() const;
    /// Returns the same without what disturbs it: nodes that fail or deviate, links that come and
    /// go, traffic of others. This is what a job plans by that measures its cluster once.
    [[nodiscard]] std::optional<IdleNetwork> undisturbed_network() const;
    /// Returns what NCCL knows of the machines: the slowest card's rate counts for all.
    [[nodiscard]] Nccl as_nccl_sees_it(std::uint64_t seed) const;

  private:
    /// Returns how nodes deviate besides their classes.
    [[nodiscard]] ComputeParts deviations(std::uint64_t seed) const;
    [[nodiscard]] Fabric wires(int machines, std::uint64_t seed) const;
    [[nodiscard]] IdleStar with_limited_flows(IdleStar star) const;
};

/// Places the job on some of the fabric's nodes. Throws ConfigError.
void place_job(const Place& place, ClusterChoice& cluster);

Keys cluster_keys();

/// The seed draws shares of nodes. Throws ConfigError.
ClusterChoice read_cluster(const Place& place, std::uint64_t seed = 1);

}  // namespace paceline

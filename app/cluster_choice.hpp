// The "cluster" of a scenario: machines, the devices in each, and the wires.
//
// A worker is a training process on one device. Machines have one device unless "devices_per_node"
// says otherwise; then the devices hang on the machine's "bus", and the cluster is given by its
// "nodes" (full machines) or by its "devices" (machines filled one after the other).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/step_models.hpp"
#include "app/access.hpp"
#include "app/background.hpp"
#include "app/fabrics.hpp"
#include "app/failures.hpp"
#include "app/node_speeds.hpp"
#include "app/object_reader.hpp"
#include "app/stragglers.hpp"
#include "topologies/fabrics/machines.hpp"

namespace paceline {

/// TCP on the wires: what it leaves for payload, and what it costs.
///
/// Goodput of frames of 1500 bytes: 1448/1538. An acknowledgement (84 bytes with its frame) comes
/// for every two segments: while both ways of a cable are busy, 1 - 84/(2 x 1538) of it is left for
/// data. Ten segments are sent before the first answer (RFC 6928). Derived, not fitted.
struct Tcp {
    double goodput = 1448.0 / 1538;  // of links that state no efficiency
    double duplex_share = 1 - 84.0 / (2 * 1538);
    Duration message_cost{};  // of the sender's processor
    /// Of a link of this rate: at least 2 bps are left.
    [[nodiscard]] double goodput_of(Bandwidth rate) const {
        return std::min(1.0, std::max(goodput, 2.0 / static_cast<double>(rate.bits_per_second)));
    }
    Bytes first_window{14'480};  // ten segments
};

/// Who stands where on a network that several use: machine i of the network is at node nodes[i] of
/// the fabric, or of the servers behind its nodes.
struct Seating {
    std::vector<int> nodes;
    int servers = 0;
};

struct ClusterChoice {
    int nodes = 1;                 // machines of the job
    int workers = 1;               // devices in all
    int devices_per_node = 1;      // of a full machine
    int fabric_nodes = 1;          // machines that the fabric joins
    std::vector<int> placement{};  // the fabric's node of each machine of the job; empty: 0, 1, ..
    std::vector<Background> background{};
    std::optional<Bus> bus;
    FabricChoice fabric;
    std::optional<Tcp> tcp;  // on the network, not on buses
    std::vector<Stragglers> stragglers;
    std::vector<NodeSpeeds> speeds;  // read when the workload is known
    std::optional<Jitter> compute_jitter;
    std::optional<FailureChoice> failures;
    std::vector<AccessChoice> access;  // of nodes with one device and one cable

    /// The wires between the workers, and to machines of their own for `servers` parameter servers,
    /// which stand behind the workers. Requires one device per machine and a fabric that takes them
    /// if there are any.
    [[nodiscard]] Fabric make_fabric(int servers, std::uint64_t seed) const;
    /// The same for all who are seated; each machine has as many hosts as it has devices.
    [[nodiscard]] Fabric make_fabric(const Seating& seating, std::uint64_t seed) const;
    [[nodiscard]] Transport transport() const;
    /// Of the buses' links, estimated.
    [[nodiscard]] Bytes bus_memory() const;
    /// How long gradients take; null where every node is as it should be.
    [[nodiscard]] ComputeTime compute_time(std::uint64_t seed) const;
    /// As closed forms see it, where they hold; with TCP: connections are warm and both ways busy.
    [[nodiscard]] std::optional<IdleNetwork> as_idle_network() const;

  private:
    [[nodiscard]] Fabric wires(int machines, std::uint64_t seed) const;
};

/// Puts the job on some of the fabric's nodes. Throws ConfigError.
void place_job(const Place& place, ClusterChoice& cluster);

Keys cluster_keys();
Keys bus_keys();
Keys transport_keys();

/// Throws ConfigError.
ClusterChoice read_cluster(const Place& place);

}  // namespace paceline

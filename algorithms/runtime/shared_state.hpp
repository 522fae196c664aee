// What the workers of a job share, in parts. Each part keeps its own invariants:
//
//   groups, values, orders   rounds: who takes part, what has entered, what all follow
//   steps, replicated          which steps are taken; state that all workers have in common
//   lives                    who is present; deaths, returns and checkpoints
//   mail, services           what runs beside the workers' processes
//   accounts, metrics        what becomes of a worker's time; what the workers count
//
// Workers (worker.hpp) are views of this and of their own state. The cluster (cluster.hpp) owns it.
// Algorithms see the parts that a worker hands out.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "algorithms/compression/sparse/sparse_sizes.hpp"
#include "algorithms/lives/lives.hpp"
#include "algorithms/lives/worker_state.hpp"
#include "algorithms/mail/mail.hpp"
#include "algorithms/rounds/common_order.hpp"
#include "algorithms/rounds/groups.hpp"
#include "algorithms/rounds/replicated_state.hpp"
#include "algorithms/rounds/round_values.hpp"
#include "algorithms/runtime/collectives.hpp"
#include "algorithms/runtime/job.hpp"
#include "algorithms/runtime/local_work.hpp"
#include "algorithms/runtime/method_metrics.hpp"
#include "algorithms/runtime/steps.hpp"
#include "algorithms/runtime/time_use.hpp"
#include "models/tensors/layout_parts.hpp"
#include "models/tensors/vector.hpp"
#include "sim/engine/processes.hpp"
#include "sim/engine/random.hpp"
#include "sim/network/network_part.hpp"
#include "topologies/mixing/mixing_schedule.hpp"

namespace paceline {

struct SharedState {
    /// Requires that the job is complete and that there is a host for each worker and server.
    SharedState(NetworkPart part, Job work);
    SharedState(const SharedState&) = delete;
    SharedState& operator=(const SharedState&) = delete;

    [[nodiscard]] Simulation& simulation() const { return network.simulation(); }
    /// Returns whom the workers tell what they do.
    [[nodiscard]] const WorkerObserver& observer() const { return accounts.observer(); }
    /// Returns the number of a worker's host in the whole network.
    [[nodiscard]] int host(int rank) const { return network.in_network(rank); }
    /// Returns the weight of v on the wire; the whole model weighs as the job's charged layout.
    [[nodiscard]] Bytes weigh(const Vector& v) const;
    /// Returns W of the step that a worker is in. Requires a mixing.
    [[nodiscard]] MixingPtr mixing_of(const WorkerState& worker) const;
    /// Ends the rounds of a group all of whose members have died; they begin later ones when they
    /// are back.
    void forget_rounds_of(const Group& group);
    /// Adds a service of a worker or server (Cluster::serve).
    void serve(int rank, std::string name, Task<> work);

    NetworkPart network;
    Job job;
    int workers;  // without servers
    RandomStreams streams;
    LayoutParts layouts{};
    SharedSparseSizes sparse_sizes{};
    WorkerStates states;  // and servers, by rank

    Groups groups;
    RoundValues values{};
    CommonOrders orders;
    Steps steps;
    ReplicatedState replicated{};
    LocalWork local_work{};
    TimeAccounts accounts;
    MethodMetrics metrics;
    Lives lives;
    std::unique_ptr<Collectives> collectives{};  // made by the cluster

    // Coroutine frames that refer to the members above, so they are destroyed first. Services also
    // wait for letters; nobody waits in letters.
    Mail mail;
    std::map<int, Processes> services{};  // by rank
};

}  // namespace paceline

// How messages travel: by which messages every worker gets the aggregate of what all have sent.
//
//   all-reduce          messages add up on their way; any plan
//                       (sim/collectives/plans/all_reduce_plan.hpp)
//   all-gather          every worker gets every message and adds them up itself
//   two-phase           worker j owns chunk j. Chunks go encoded to their owners, which decode and
//                       add them, encode the sum again, and send it to everybody
//   sparse-all-reduce   recursive doubling; messages weigh as the unions that they carry
//   servers             q servers own a chunk each: workers push, servers add up, workers pull
//
// Each travels flat, among all workers, or by machine of g devices over its bus:
//
//   leaders    devices hand their vectors to the first device of their machine; the leaders carry
//              out the aggregation between machines; leaders hand the aggregate to their devices
//   shards     a reduce-scatter leaves device i with chunk i of the machine's mean; the devices i
//              of all machines carry out the aggregation with their chunks; an all-gather inside
//
// Levels above the machine (sim/engine/levels.hpp) go the same way, one within the next: what the
// first devices of machines, or the devices i of all machines, exchange goes by leaf, by region and
// so on before the aggregation is carried out among the groups of the last level. Groups may differ
// in size where they have leaders; a leader then multiplies the mean of its group, so that all
// workers count alike.
//
// Inside a machine vectors travel dense; with leaders, they can also travel encoded: devices encode
// theirs, the leader decodes and adds them, encodes the machine's mean, and passes on the messages
// that it receives.
//
// Sources: two-phase: Tang et al., "1-bit Adam", 2021 (compressed all-reduce), and Gan et al.,
// "Bagua", VLDB 2021 (scatter-reduce, and leaders by machine); servers that decode and encode:
// Jiang et al., "BytePS", OSDI 2020; shards: the hierarchical modes of Horovod and NCCL.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/collectives/all_gather.hpp"
#include "sim/collectives/all_to_all.hpp"
#include "sim/collectives/plans/all_reduce_plan.hpp"

namespace paceline {

enum class Aggregation : std::uint8_t {
    all_reduce,
    all_gather,
    two_phase,
    sparse_all_reduce,
    servers
};

/// What of an exchange with servers is encoded; the rest travels in the wire format.
enum class ServerCoding : std::uint8_t { none, up, both };

enum class ByMachine : std::uint8_t { flat, leaders, shards };

/// A level that an exchange goes by. Those who take part in it are all workers at the first level,
/// then the leaders of the groups of the level below, or the workers with the same shard.
struct ExchangeLevel {
    ByMachine by = ByMachine::leaders;  // not flat
    std::vector<int> group_of{};        // [worker]
    std::vector<int> members{};         // [group]: how many take part
    std::vector<double> scale{};        // [group]: of its mean, before it goes on; empty: 1
    bool of_machines = false;

    [[nodiscard]] int groups() const { return static_cast<int>(members.size()); }
};

struct AggregationPlan {
    Aggregation kind = Aggregation::all_reduce;
    AllReducePlan all_reduce{};  // for all_reduce, and for what must add up in the others
    AllGather all_gather = AllGather::ring;   // for all_gather
    AllToAll all_to_all = AllToAll::grouped;  // for two_phase: chunks to their owners
    int servers = 1;                          // for servers; they stand on the first q workers ...
    std::optional<int> first_server_node{};   // ... or on nodes of their own from this one on
    ServerCoding coded = ServerCoding::up;    // for servers
    ByMachine machines = ByMachine::flat;
    int devices = 1;              // of a machine
    bool encoded_inside = false;  // for leaders
    /// The levels, from the finest to the coarsest, if they are not machines alone. `machines` then
    /// is the way of the first; null: `machines` and `devices` say it all.
    std::shared_ptr<const std::vector<ExchangeLevel>> levels{};
};

}  // namespace paceline

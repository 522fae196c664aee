// Failures of a job's nodes: when nodes are away, and how the others react.
//
// What dies is a domain (failure_domains.hpp): the workers of a machine, or of an island. All of
// them leave at once, and they join again in one step, when all of them are ready.
//
// A node that leaves loses its running computation and the messages it has sent that are not
// delivered. Its process ends, and with it the state that an algorithm keeps on the worker besides
// the model: momenta, residuals, copies of other workers' state. A late joiner is away from the
// start.
//
//   on_death   collectives                     neighbors, gossip, servers
//   go_on      void; the survivors run it      go on without it
//              again, `detection` after the
//              death
//   stall      void; run again when all        (as go_on)
//              missing nodes are back
//   restart    every node goes back to the last checkpoint once all nodes are present and have
//              read it (`read`), `detection` after the last death at the earliest
//
// A node that returns takes part from the next step that nobody has begun:
//
//   own           with the model that it had when it left
//   peer          with a copy of the next living node's model, which first crosses the network
//   joined_peer   with the model, at the beginning of that step, of the first node to begin it,
//                 which the returning node fetches before it takes the step; the others wait for it
//                 as soon as they exchange (the healing of meta-pytorch/torchft, whose quorum is of
//                 exchanges)
//   checkpoint    with the model of the last checkpoint, which takes `read`
//
// Where failures leave no time for a step, or for a checkpoint under `restart`, a run would never
// end. It is ended after most_deaths_in_vain deaths, or without `restart` 100 of each node if that
// is more, during which no new step was begun, or under `restart` no newer checkpoint was written.
//
// Replicated state (equal on all workers, stored once) is up to date however a node returns. A copy
// of a peer's own model is that of the instant when its last byte arrives. If this is within a
// step, the node joins in the next one with a model that is one step older than its peer's.
//
// Each worker of a domain fetches from the worker in its place of the next domain that is present.
// The devices of an island train one replica, so all of them take the model of one: of the first
// device of the island that they fetch from, or of their own first device when it left. If they
// keep the model in shards, each fetches its shard.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sim/engine/units.hpp"

namespace paceline {

constexpr std::int64_t most_deaths_in_vain = 10'000;

struct Absence {
    Time leaves;
    Time returns = never;  // never: does not return
};

/// Returns the next absence of a domain that is, or would be, present since `since`. An absence that
/// begins earlier starts at `since`. Returns nothing if the domain stays.
using NextAbsence = std::function<std::optional<Absence>(int domain, Time since)>;

enum class OnDeath : std::uint8_t { go_on, stall, restart };
enum class ReturnFrom : std::uint8_t { own, peer, joined_peer, checkpoint };

/// All workers write a checkpoint at the beginning of the first step that begins at least `every`
/// after the last checkpoint was begun. The step waits for it.
struct Checkpoints {
    Duration every{};
    Duration write{};
    Duration read{};
};

struct Failures {
    NextAbsence next_absence;
    OnDeath on_death = OnDeath::go_on;
    ReturnFrom return_from = ReturnFrom::own;
    Duration detection{};  // from a death until the others know
    std::optional<Checkpoints> checkpoints{};
    std::vector<std::vector<int>> domains{};  // their workers; empty: each worker is one
    bool are_islands = false;                 // the workers of a domain train one replica
    bool keep_shards = false;                 // each of them keeps a shard of it
    bool steps_count = false;  // a gradient counts when its step ends; else, after an exchange
};

}  // namespace paceline

// What befalls the nodes of a job: when they are away, and what the others do then.
//
// A node that leaves loses what it computes and what it has sent and is not delivered; its process
// ends, and with it the state that an algorithm keeps on the worker beside the model: momenta,
// residuals, what it remembers of others. A late joiner is away from the start.
//
//   on_death   collectives                     neighbors, gossip, servers
//   go_on      void; run again by those left,  go on without it
//              `detection` after the death
//   stall      void; run again when all that   (as go_on)
//              are missed are back
//   restart    every node goes back to the last checkpoint when all nodes are there again and have
//              read it (`read`), `detection` after the last death at the earliest
//
// A node that returns takes part from the next step that nobody has begun:
//
//   own         with the model that it left with
//   peer        with a copy of the next living node's, which crosses the network first
//   checkpoint  with the last checkpoint's, which takes `read`
//
// What exists once because it is equal on all workers is up to date whatever way a node returns; a
// copy that took a while to come is, too: its last bytes are those of the step that it joins in.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "sim/engine/units.hpp"

namespace paceline {

struct Absence {
    Time leaves;
    Time returns = never;  // never: gone for good
};

/// The next absence of a node, each later than the one before; none if it stays.
using NextAbsence = std::function<std::optional<Absence>(int node)>;

enum class OnDeath : std::uint8_t { go_on, stall, restart };
enum class ReturnFrom : std::uint8_t { own, peer, checkpoint };

/// Written by all workers at the beginning of the first step that begins `every` after the last
/// one was begun; a step waits for it.
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
};

}  // namespace paceline

// What the workers of a job tell whoever watches them (Job::observer): steps, computations, rounds
// of collectives, waits.
//
//   - `step_begins` with the number of the step; `steps_end` when a worker takes no more. `dies` when
//     a worker's process has been dropped where it stood; it may begin steps again.
//   - A computation has a beginning, which returns a token of the watcher's choice, and an end, which
//     gives it back. It ends early when the worker dies or the run is over. Several of one device may
//     be under way. A gradient that becomes complete bucket by bucket tells of each bucket the span in
//     which it was computed, inside that of the gradient.
//   - A round is one call of a collective on one worker, by name; rounds of one worker may overlap,
//     and one may consist of others. `stream` is that of its messages (Rank::stream).
//   - `waited` tells of a wait when it is over. What is waited for is what TimeUse says (waiting.hpp);
//     for stragglers: from when all of the round that the worker computes is taken to be done.
//
// Hosts are those of the network, all jobs together. All calls come from the event loop, and the time
// is the simulation's now() unless it is said. Each member may be left empty; tokens are 0 then. A
// watcher changes nothing. Frames that are alive when a run is over end after it: a watcher outlives
// the cluster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "sim/engine/units.hpp"
#include "sim/network/mailboxes.hpp"

namespace paceline {

/// What a device computes.
struct Work {
    enum class Kind : std::uint8_t { gradient, update, coding };
    Kind kind = Kind::coding;  // coding: whatever is neither a gradient nor an optimizer's
    std::int64_t number = 0;   // of the gradient, or of the step
};

enum class WaitFor : std::uint8_t { stragglers, the_dead, own_return, checkpoint };

struct WorkerObserver {
    using Token = std::uint64_t;

    std::function<void(int host, std::int64_t step)> step_begins{};
    std::function<void(int host)> steps_end{};
    std::function<void(int host)> dies{};
    std::function<Token(int host, Work work)> computing_begins{};
    std::function<void(Token computing, std::size_t bucket, Time from, Time until)> bucket{};
    std::function<void(Token computing)> computing_ends{};
    /// The name is a literal.
    std::function<Token(int host, std::string_view name, Stream stream)> round_begins{};
    std::function<void(Token round)> round_ends{};
    std::function<void(int host, WaitFor what, Time from, Time until)> waited{};
};

}  // namespace paceline

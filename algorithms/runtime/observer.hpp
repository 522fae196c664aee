// Callbacks through which the workers of a job report what they do (Job::observer): steps,
// computations, rounds of collectives, waits.
//
//   - `step_begins` gets the number of the step. `steps_end` is called when a worker takes no more
//     steps. `dies` is called when a worker's process has been destroyed at its suspension point;
//     the worker may begin steps again later.
//   - A computation begins with a call that returns a token of the observer's choice, and ends with
//     a call that passes the token back. It ends early if the worker dies or the run ends. One
//     device may have several computations in flight. A gradient that becomes complete bucket by
//     bucket also reports the span in which each bucket was computed, within the span of the
//     gradient.
//   - A round is one call of a collective on one worker, identified by name. Rounds of one worker
//     may overlap, and a round may consist of other rounds. `stream` is the stream of its messages
//     (Rank::stream).
//   - `waited` reports a wait when it is over. The causes are those of TimeUse (time_use.hpp). A
//     wait for stragglers starts once all that the worker computes within the round counts as done.
//
// Hosts are numbered as in the network, across all jobs. All calls come from the event loop, and an
// event happens at the simulation's now() unless times are passed. Each member may be left empty;
// its tokens are 0 then. An observer must not change anything. Coroutine frames that are alive when
// a run ends are destroyed after it, so an observer must outlive the cluster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "sim/engine/units.hpp"
#include "sim/network/stream.hpp"

namespace paceline {

/// A computation on a device.
struct Work {
    enum class Kind : std::uint8_t { gradient, update, coding };
    Kind kind = Kind::coding;  // coding: anything that is neither gradient nor optimizer work
    std::int64_t number = 0;   // of the gradient, or of the step (update)
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
    /// `name` is a string literal.
    std::function<Token(int host, std::string_view name, Stream stream)> round_begins{};
    std::function<void(Token round)> round_ends{};
    std::function<void(int host, WaitFor what, Time from, Time until)> waited{};
};

}  // namespace paceline

// Callbacks through which the workers of a job report what they do (Job::observer): steps,
// computations, rounds of collectives, waits.
//
//   - `step_begins` gets the number of the step. `steps_end` is called when a worker takes no more
//     steps. `dies` is called when a worker's process has been destroyed at its suspension point;
//     the worker may begin steps again later.
//   - A computation begins with a call that returns a token of the observer's choice, and ends with
//     a call that passes the token back. It ends early if the worker dies or the run ends. A device
//     computes one thing at a time. A gradient that becomes complete bucket by bucket also reports
//     the span in which each bucket was computed. Such a gradient is several computations of the
//     same number if the device does something else in between, or if its forward pass waits.
//   - A round is one call of a collective on one worker. Rounds of one worker may overlap, and a
//     round may consist of other rounds. It ends early if the worker dies or its attempt breaks.
//     `round_closes` says that nobody enters the rounds of a stream any more, and `all_go_back`
//     that all workers begin again at a checkpoint, which ends all rounds.
//   - `wait_begins` and `wait_ends` enclose a worker's wait at a barrier, for the news of a death
//     or
//     the return of dead workers, and for a checkpoint to be written. Rounds and computations may
//     be in progress beside it. A worker that dies or gives up ends it before it is over.
//   - `waited` reports a wait when it is over. The causes are those of TimeUse (time_use.hpp). A
//     wait for stragglers is reported as the spans in which the worker is idle. Spans in which a
//     worker does nothing else are reported by who ends them, the others are found by TimeAccounts.
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
#include <vector>

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

/// One worker's part in a round. A round without members is only shown: nobody is accounted for
/// waiting in it.
struct RoundPart {
    std::string_view name;         // a string literal
    Stream stream = 0;             // of its messages (Rank::stream)
    std::size_t members = 0;       // how many workers enter the round
    const std::vector<int>* on{};  // ranks of the members that this worker waits for; null: all
};

struct WorkerObserver {
    using Token = std::uint64_t;

    std::function<void(int host, std::int64_t step)> step_begins{};
    std::function<void(int host)> steps_end{};
    std::function<void(int host)> dies{};
    std::function<Token(int host, Work work)> computing_begins{};
    std::function<void(Token computing, std::size_t bucket, Time from, Time until)> bucket{};
    std::function<void(Token computing)> computing_ends{};
    std::function<Token(int host, const RoundPart& round)> round_begins{};
    std::function<void(Token round)> round_ends{};
    std::function<void(Stream stream)> round_closes{};
    std::function<void()> all_go_back{};
    std::function<Token(int host, WaitFor what)> wait_begins{};
    std::function<void(Token wait, bool over)> wait_ends{};
    std::function<void(int host, WaitFor what, Time from, Time until)> waited{};
};

}  // namespace paceline

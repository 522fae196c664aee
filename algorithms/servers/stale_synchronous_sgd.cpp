#include "algorithms/servers/stale_synchronous_sgd.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <optional>
#include <vector>

#include "algorithms/exchange/push_and_read.hpp"
#include "algorithms/lives/lives.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

namespace {

// The steps of each worker that x includes, and the workers that wait for an answer.
struct Clocks {
    explicit Clocks(const Worker& self)
        : of(static_cast<std::size_t>(self.workers())), lives(of.size()) {}

    std::vector<std::int64_t> of;
    std::vector<int> lives;    // the life of each worker that its clock belongs to
    std::vector<int> waiting;  // in the order of their pushes
};

std::int64_t slowest(const Worker& self, const Clocks& clocks) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const int rank : self.all_present())
        least = std::min(least, clocks.of[static_cast<std::size_t>(rank)]);
    return least;
}

// Drops workers that have died, so that nobody waits for them, and gives a worker that has returned
// the clock of the step that it has joined in, as if it had taken all those before.
void note_changes(const Worker& self, Clocks& clocks) {
    std::erase_if(clocks.waiting, [&](int rank) {
        return !self.lives().present(rank) ||
               self.lives().life(rank) != clocks.lives[static_cast<std::size_t>(rank)];
    });
    for (const int rank : self.all_present()) {
        const auto i = static_cast<std::size_t>(rank);
        if (std::exchange(clocks.lives[i], self.lives().life(rank)) == self.lives().life(rank))
            continue;
        clocks.of[i] = self.lives().first_step(rank);
    }
}

// Removes and returns the waiting workers that may begin their next step, or that must learn that
// there is none, in order.
std::vector<int> let_go(const Worker& self, Clocks& clocks, std::int64_t bound) {
    note_changes(self, clocks);
    const std::int64_t least = slowest(self, clocks);
    const auto may_begin = [&](int worker) {
        return !self.gradients_left() ||
               clocks.of[static_cast<std::size_t>(worker)] - least <= bound;
    };
    std::vector<int> free;
    std::ranges::copy_if(clocks.waiting, std::back_inserter(free), may_begin);
    std::erase_if(clocks.waiting, may_begin);
    return free;
}

}  // namespace

Task<> stale_synchronous_sgd(Worker& self, StaleSynchronousSgdOptions options) {
    return push_and_read(self, options.momentum);
}

Task<> stale_synchronous_sgd_server(Worker& self, StaleSynchronousSgdOptions options) {
    Vector& x = self.replicated_model();
    Clocks clocks(self);

    while (true) {
        const std::optional<Letter> push = co_await self.mail().next_letter_or_change(push_inbox);
        if (push) {
            self.metrics().count_staleness(static_cast<double>(self.updates_done()) - push->number);
            self.once(self.updates_done(), [&] { x -= *push->vector; });
            note_changes(self, clocks);
            if (self.lives().present(push->from) && self.lives().life(push->from) == push->life) {
                ++clocks.of[static_cast<std::size_t>(push->from)];
                clocks.waiting.push_back(push->from);
            }
        }
        for (auto free = let_go(self, clocks, options.bound); !free.empty();
             free = let_go(self, clocks, options.bound))
            for (const int worker : free) {
                const auto version = static_cast<double>(self.updates_done());
                co_await self.mail().post(worker, push_inbox, {.vector = x, .number = version},
                                          self.weigh(x));
            }
    }
}

}  // namespace paceline

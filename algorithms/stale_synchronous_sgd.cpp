#include "algorithms/stale_synchronous_sgd.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace paceline {

namespace {

constexpr int inbox = 0;  // of the server for pushes, of a worker for answers

// Takes those who may begin their next step out of the waiting, in order.
std::vector<int> let_go(std::vector<int>& waiting, const std::vector<std::int64_t>& clocks,
                        std::int64_t bound) {
    const std::int64_t slowest = *std::ranges::min_element(clocks);
    const auto may_begin = [&](int worker) {
        return clocks[static_cast<std::size_t>(worker)] - slowest <= bound;
    };
    std::vector<int> free;
    std::ranges::copy_if(waiting, std::back_inserter(free), may_begin);
    std::erase_if(waiting, may_begin);
    return free;
}

}  // namespace

Task<> stale_synchronous_sgd(Worker& self, StaleSynchronousSgdOptions options) {
    const int server = self.nodes();
    Vector read = self.replicated_model();
    Vector m = Vector::zero_like(read);
    Vector push = m;

    while (self.keeps_training()) {
        const double step = self.learning_rate() / self.nodes();
        co_await self.gradient(read, [&](const Vector& g) {
            m = options.momentum * m + g;
            push = step * m;
        });
        co_await self.post(server, inbox, {.vector = push}, self.weigh(push));
        Letter answer = co_await self.next_letter(inbox);
        read = *std::move(answer.vector);
        co_await self.update();
    }
}

Task<> stale_synchronous_sgd_server(Worker& self, StaleSynchronousSgdOptions options) {
    Vector& x = self.replicated_model();
    std::vector<std::int64_t> clocks(static_cast<std::size_t>(self.nodes()));
    std::vector<std::int64_t> seen(clocks.size());  // pushes in x, as read
    std::vector<int> waiting;  // for their answers, in the order of their pushes

    for (std::int64_t k = 0;; ++k) {
        const Letter push = co_await self.next_letter(inbox);
        const auto sender = static_cast<std::size_t>(push.from);
        self.count_staleness(static_cast<double>(k - seen[sender]));
        self.once(k, [&] { x -= *push.vector; });
        ++clocks[sender];
        waiting.push_back(push.from);
        for (const int worker : let_go(waiting, clocks, options.bound)) {
            seen[static_cast<std::size_t>(worker)] = k + 1;
            co_await self.post(worker, inbox, {.vector = x}, self.weigh(x));
        }
    }
}

}  // namespace paceline

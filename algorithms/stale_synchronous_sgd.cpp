#include "algorithms/stale_synchronous_sgd.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include "algorithms/push_and_read.hpp"

namespace paceline {

namespace {

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
    return push_and_read(self, options.momentum);
}

Task<> stale_synchronous_sgd_server(Worker& self, StaleSynchronousSgdOptions options) {
    Vector& x = self.replicated_model();
    std::vector<std::int64_t> clocks(static_cast<std::size_t>(self.nodes()));
    std::vector<int> waiting;  // for their answers, in the order of their pushes

    for (std::int64_t k = 0;; ++k) {
        const Letter push = co_await self.next_letter(push_inbox);
        self.once(k, [&] { x -= *push.vector; });
        ++clocks[static_cast<std::size_t>(push.from)];
        waiting.push_back(push.from);
        for (const int worker : let_go(waiting, clocks, options.bound))
            co_await self.post(worker, push_inbox, {.vector = x}, self.weigh(x));
    }
}

}  // namespace paceline

#include "algorithms/async_sgd.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "algorithms/push_and_read.hpp"

namespace paceline {

Task<> async_sgd(Worker& self, AsyncSgdOptions options) {
    return push_and_read(self, options.momentum);
}

Task<> async_sgd_server(Worker& self, AsyncSgdOptions options) {
    Vector& x = self.replicated_model();
    std::vector<std::int64_t> seen(static_cast<std::size_t>(self.nodes()));  // pushes in x, as read
    std::int64_t applied = 0;

    while (true) {
        const Letter push = co_await self.next_letter(push_inbox);
        std::int64_t& seen_by_sender = seen[static_cast<std::size_t>(push.from)];
        const auto staleness = static_cast<double>(applied - seen_by_sender);
        const double share = options.staleness_scaling ? 1 / (1 + staleness) : 1;
        self.once(applied, [&] { x -= share * *push.vector; });
        seen_by_sender = ++applied;
        co_await self.post(push.from, push_inbox, {.vector = x}, self.weigh(x));
    }
}

}  // namespace paceline

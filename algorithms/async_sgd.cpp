#include "algorithms/async_sgd.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace paceline {

namespace {

constexpr int inbox = 0;  // of the server for pushes, of a worker for answers

}  // namespace

Task<> async_sgd(Worker& self, AsyncSgdOptions options) {
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

Task<> async_sgd_server(Worker& self, AsyncSgdOptions options) {
    Vector& x = self.replicated_model();
    std::vector<std::int64_t> seen(static_cast<std::size_t>(self.nodes()));  // pushes in x, as read
    std::int64_t applied = 0;

    while (true) {
        const Letter push = co_await self.next_letter(inbox);
        std::int64_t& seen_by_sender = seen[static_cast<std::size_t>(push.from)];
        const auto staleness = static_cast<double>(applied - seen_by_sender);
        self.count_staleness(staleness);
        const double share = options.staleness_scaling ? 1 / (1 + staleness) : 1;
        self.once(applied, [&] { x -= share * *push.vector; });
        seen_by_sender = ++applied;
        co_await self.post(push.from, inbox, {.vector = x}, self.weigh(x));
    }
}

}  // namespace paceline

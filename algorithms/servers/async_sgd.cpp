#include "algorithms/servers/async_sgd.hpp"

#include <cstdint>

#include "algorithms/exchange/push_and_read.hpp"
#include "algorithms/lives/lives.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> async_sgd(Worker& self, AsyncSgdOptions options) {
    return push_and_read(self, options.momentum);
}

Task<> async_sgd_server(Worker& self, AsyncSgdOptions options) {
    Vector& x = self.replicated_model();

    while (true) {
        const Letter push = co_await self.mail().next_letter(push_inbox);
        const std::int64_t applied = self.updates_done();
        const double staleness = static_cast<double>(applied) - push.number;
        self.metrics().count_staleness(staleness);
        const double share = options.staleness_scaling ? 1 / (1 + staleness) : 1;
        self.once(applied, [&] { x -= share * *push.vector; });
        if (self.lives().life(push.from) != push.life) continue;  // it has died and returned since
        const auto version = static_cast<double>(self.updates_done());
        co_await self.mail().post(push.from, push_inbox, {.vector = x, .number = version},
                                  self.weigh(x));
    }
}

}  // namespace paceline

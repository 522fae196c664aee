#include "algorithms/gossip/osgp.hpp"

#include <optional>
#include <utility>

#include "algorithms/exchange/push_sum.hpp"
#include "algorithms/optimizers/momentum_change.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> osgp(Worker& self, OsgpOptions options) {
    Vector& z = self.model();
    PushSum mine{z};
    Vector m = Vector::zero_like(z);
    std::optional<Pending<PushSum>> pushing;

    while (self.keeps_training()) {
        const double gamma = self.learning_rate();
        const Vector g = co_await self.gradient(z);
        co_await self.update();
        if (pushing) mine = co_await std::move(*pushing);
        mine.x += momentum_change(options.rule, gamma, g, m, z);
        z = mine.debiased();
        pushing.emplace(self.start(push_sum(self, mine)));
    }
    if (pushing) mine = co_await std::move(*pushing);
    z = mine.debiased();
}

}  // namespace paceline

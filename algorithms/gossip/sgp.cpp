#include "algorithms/gossip/sgp.hpp"

#include <utility>

#include "algorithms/exchange/push_sum.hpp"
#include "algorithms/optimizers/momentum_change.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<SgpState> sgp_step(Worker& self, MomentumRule rule, SgpState state) {
    Vector& z = self.model();
    const double gamma = self.learning_rate();
    PushSum mine = biased(z, state.w);
    co_await self.gradient(
        z, [&](const Vector& g) { mine.x += momentum_change(rule, gamma, g, state.m, z); });
    co_await self.update();
    mine = co_await push_sum(self, std::move(mine));
    z = mine.debiased();
    state.w = mine.w;
    co_return state;
}

Task<> sgp(Worker& self, SgpOptions options) {
    SgpState state{Vector::zero_like(self.model())};
    while (self.begins_step()) state = co_await sgp_step(self, options.rule, std::move(state));
}

}  // namespace paceline

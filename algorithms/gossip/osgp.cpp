#include "algorithms/gossip/osgp.hpp"

#include <utility>

#include "algorithms/optimizers/momentum_change.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

namespace {

// Returns the numerator and weight once the messages under way have come.
Task<PushSum> arrived(Worker& self, OsgpState& state) {
    if (!state.pushing) co_return biased(self.model(), state.w);
    PushSum mine = co_await std::move(*state.pushing);
    state.pushing.reset();
    co_return mine;
}

}  // namespace

Task<OsgpState> osgp_step(Worker& self, MomentumRule rule, OsgpState state) {
    Vector& z = self.model();
    const double gamma = self.learning_rate();
    const Vector g = co_await self.gradient(z);
    co_await self.update();
    PushSum mine = co_await arrived(self, state);
    mine.x += momentum_change(rule, gamma, g, state.m, z);
    z = mine.debiased();
    state.pushing.emplace(self.start(push_sum(self, std::move(mine))));
    co_return state;
}

Task<OsgpState> osgp_drained(Worker& self, OsgpState state) {
    const PushSum mine = co_await arrived(self, state);
    self.model() = mine.debiased();
    state.w = mine.w;
    co_return state;
}

Task<> osgp(Worker& self, OsgpOptions options) {
    OsgpState state{Vector::zero_like(self.model())};
    while (self.begins_step()) state = co_await osgp_step(self, options.rule, std::move(state));
    state = co_await osgp_drained(self, std::move(state));
}

}  // namespace paceline

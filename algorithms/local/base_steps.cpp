#include "algorithms/local/base_steps.hpp"

#include <utility>

#include "algorithms/exchange/push_sum.hpp"
#include "algorithms/gossip/osgp.hpp"
#include "algorithms/gossip/sgp.hpp"
#include "algorithms/optimizers/adam.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

namespace {

// Returns the clipped gradient plus the weight decay at x.
Vector decayed(const MomentumRule& rule, Vector g, const Vector& x) {
    clip_norm(g, rule.clip);
    if (rule.weight_decay > 0) g += rule.weight_decay * x;
    return g;
}

// Takes a step of Adam on `moved`, which is x or its numerator.
Task<> adam_step_on(Worker& self, BaseOptions options, InnerState& state, const Vector& x,
                    Vector& moved) {
    const double gamma = self.learning_rate();
    const AdamRule rule{options.rule.momentum, options.beta2, options.epsilon};
    ++state.steps;
    co_await self.gradient(x, [&](Vector g) {
        adam_step(rule, gamma, state.steps, decayed(options.rule, std::move(g), x), state.m,
                  state.v, moved);
    });
    co_await self.update();
}

// Takes a step of push-sum.
Task<BaseState> sgp_adam_step(Worker& self, BaseOptions options, BaseState state) {
    Vector& z = self.model();
    PushSum mine = biased(z, state.w);
    co_await adam_step_on(self, options, state.inner, z, mine.x);
    mine = co_await push_sum(self, std::move(mine));
    z = mine.debiased();
    state.w = mine.w;
    co_return state;
}

OsgpState pushed_of(BaseState& state) {
    return {std::move(state.inner.m), state.w, std::move(state.pushing)};
}

void take_pushed(BaseState& state, OsgpState pushed) {
    state.inner.m = std::move(pushed.m);
    state.w = pushed.w;
    state.pushing = std::move(pushed.pushing);
}

}  // namespace

Vector numerator(const BaseState& state, const Vector& x) {
    return biased(x, state.w).x;
}

Task<> all_reduce_step(Worker& self, MomentumRule rule, AllReducePlan how, std::int64_t update) {
    Vector& x = self.replicated_model();
    Vector& m = self.replicated("momentum");
    const Vector mean = co_await self.mean_gradient(x, how);
    self.once(update, [&] { momentum_step(rule, self.learning_rate(), mean, m, x); });
    co_await self.update();
}

Task<BaseState> drained(Worker& self, BaseState state) {
    if (!state.pushing) co_return state;
    OsgpState pushed = pushed_of(state);
    pushed = co_await osgp_drained(self, std::move(pushed));
    take_pushed(state, std::move(pushed));
    co_return state;
}

Task<BaseState> base_step(Worker& self, BaseOptions options, BaseState state) {
    switch (options.base) {
        case Base::local:
            co_await inner_step(self, options.rule, state.inner);
            break;
        case Base::sgp: {
            SgpState pushed =
                co_await sgp_step(self, options.rule, {std::move(state.inner.m), state.w});
            state.inner.m = std::move(pushed.m);
            state.w = pushed.w;
            break;
        }
        case Base::osgp: {
            OsgpState pushed = pushed_of(state);
            pushed = co_await osgp_step(self, options.rule, std::move(pushed));
            take_pushed(state, std::move(pushed));
            break;
        }
        case Base::dsgd:
            co_await inner_step(self, options.rule, state.inner);
            self.model() = co_await self.neighbor_average(self.model());
            break;
        case Base::all_reduce:
            co_await all_reduce_step(self, options.rule, options.all_reduce, self.step());
            break;
        case Base::local_adam:
            co_await adam_step_on(self, options, state.inner, self.model(), self.model());
            break;
        case Base::sgp_adam:
            state = co_await sgp_adam_step(self, options, std::move(state));
            break;
    }
    co_return state;
}

}  // namespace paceline

#include "algorithms/base_steps.hpp"

#include <cmath>
#include <utility>

#include "algorithms/push_sum.hpp"

namespace paceline {

namespace {

// Clipped, and with the decay at x, which need not be what the step moves.
Vector decayed(const MomentumRule& rule, Vector g, const Vector& x) {
    clip_norm(g, rule.clip);
    if (rule.weight_decay > 0) g += rule.weight_decay * x;
    return g;
}

void adam_step(const BaseOptions& options, double gamma, const Vector& gradient, BaseState& state,
               Vector& x) {
    ++state.steps;
    if (!x.has_values()) return;
    const double beta1 = options.rule.momentum;
    const auto s = static_cast<double>(state.steps);
    const double corrected = gamma / (1 - std::pow(beta1, s));
    const double scale = 1 / (1 - std::pow(options.beta2, s));
    const Eigen::VectorXd& g = gradient.values();
    Eigen::VectorXd& m = state.m.writable();
    Eigen::VectorXd& v = state.v.writable();
    m = beta1 * m + (1 - beta1) * g;
    v = options.beta2 * v + (1 - options.beta2) * g.cwiseAbs2();
    x.writable().array() -= corrected * m.array() / ((scale * v.array()).sqrt() + options.epsilon);
}

}  // namespace

BaseState base_state(const Worker& self, const BaseOptions& options) {
    const Vector& x = self.current_model();
    const bool adam = options.base == Base::local_adam;
    return {Vector::zero_like(x), adam ? Vector::zero_like(x) : Vector(x.layout())};
}

void reset_buffers(BaseState& state) {
    state.m = Vector::zero_like(state.m);
    state.v = Vector::zero_like(state.v);
    state.steps = 0;
}

Vector numerator(const BaseState& state, const Vector& x) {
    return state.w == 1 ? x : state.w * x;
}

Task<Vector> local_step(Worker& self, MomentumRule rule, Vector m) {
    Vector& x = self.model();
    const double gamma = self.learning_rate();
    co_await self.gradient(x, [&](Vector g) { momentum_step(rule, gamma, std::move(g), m, x); });
    co_await self.update();
    co_return m;
}

Task<BaseState> sgp_step(Worker& self, MomentumRule rule, BaseState state) {
    Vector& z = self.model();
    const double gamma = self.learning_rate();
    Vector x = numerator(state, z);
    const MomentumRule direction{rule.momentum, rule.nesterov};
    co_await self.gradient(z, [&](Vector g) {
        momentum_step(direction, gamma, decayed(rule, std::move(g), z), state.m, x);
    });
    co_await self.update();
    const PushSum mine = co_await push_sum(self, {std::move(x), state.w});
    state.w = mine.w;
    z = mine.debiased();
    co_return state;
}

Task<Vector> dsgd_step(Worker& self, MomentumRule rule, Vector m) {
    m = co_await local_step(self, rule, std::move(m));
    Vector& x = self.model();
    x = co_await self.neighbor_average(x);
    co_return m;
}

Task<Vector> all_reduce_step(Worker& self, MomentumRule rule, AllReducePlan how, Vector m) {
    Vector& x = self.model();
    const Vector mean = co_await self.mean_gradient(x, how);
    momentum_step(rule, self.learning_rate(), mean, m, x);
    co_await self.update();
    co_return m;
}

Task<BaseState> local_adam_step(Worker& self, BaseOptions options, BaseState state) {
    Vector& x = self.model();
    const double gamma = self.learning_rate();
    co_await self.gradient(x, [&](Vector g) {
        adam_step(options, gamma, decayed(options.rule, std::move(g), x), state, x);
    });
    co_await self.update();
    co_return state;
}

Task<BaseState> base_step(Worker& self, BaseOptions options, BaseState state) {
    switch (options.base) {
        case Base::local:
            state.m = co_await local_step(self, options.rule, std::move(state.m));
            break;
        case Base::sgp:
            state = co_await sgp_step(self, options.rule, std::move(state));
            break;
        case Base::dsgd:
            state.m = co_await dsgd_step(self, options.rule, std::move(state.m));
            break;
        case Base::all_reduce:
            state.m = co_await all_reduce_step(self, options.rule, options.all_reduce,
                                               std::move(state.m));
            break;
        case Base::local_adam:
            state = co_await local_adam_step(self, options, std::move(state));
            break;
    }
    co_return state;
}

}  // namespace paceline

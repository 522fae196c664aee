#include "algorithms/local/inner_steps.hpp"

#include <utility>

#include "algorithms/exchange/exchange.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

namespace {

// One of the rules is chosen by overloading.
void take_step(const AdamRule& rule, double gamma, const Vector& g, InnerState& state, Vector& x) {
    adam_step(rule, gamma, state.steps, g, state.m, state.v, x);
}
void take_step(const LambRule& rule, double gamma, const Vector& g, InnerState& state, Vector& x) {
    (void)lamb_step(rule, gamma, state.steps, g, state.m, state.v, x);
}
void take_step(const MuonRule& rule, double gamma, const Vector& g, InnerState& state, Vector& x) {
    muon_step(rule, gamma, state.steps, g, state.m, state.v, x);
}
void take_step(const MomentumRule& rule, double gamma, Vector g, InnerState& state, Vector& x) {
    momentum_step(rule, gamma, std::move(g), state.m, x);
}

}  // namespace

Task<> inner_step(Worker& self, InnerRule rule, InnerState& state) {
    Vector& x = self.model();
    const double gamma = self.learning_rate();
    ++state.steps;
    co_await self.gradient(x, [&](Vector g) {
        std::visit([&](const auto& one) { take_step(one, gamma, std::move(g), state, x); }, rule);
    });
    co_await self.update();
}

Task<> renew(VectorExchange& exchange, Buffers buffers, InnerRule rule, InnerState& state) {
    if (buffers == Buffers::reset) state = InnerState(state.m, rule);
    if (buffers != Buffers::average) co_return;
    state.m = co_await exchange.aggregate(state.m);
    if (vectors_of(rule) > 1) state.v = co_await exchange.aggregate(state.v);
}

}  // namespace paceline

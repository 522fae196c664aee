#include "algorithms/local/adam_steps.hpp"

#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> adamw_step(Worker& self, AdamRule rule, AdamState& state) {
    Vector& x = self.model();
    const double gamma = self.learning_rate();
    ++state.steps;
    co_await self.gradient(
        x, [&](const Vector& g) { adam_step(rule, gamma, state.steps, g, state.m, state.v, x); });
    co_await self.update();
}

}  // namespace paceline

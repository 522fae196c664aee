#include "algorithms/compressed/power_sgd.hpp"

#include "algorithms/exchange/synchronous_steps.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

namespace {

// The released code's step: m <- beta m + g in both forms of momentum, and Nesterov's moves along
// g + m.
void power_sgd_step(MomentumRule rule, double gamma, const Vector& mean, Vector& m, Vector& x) {
    if (rule.nesterov) {
        Vector g = mean;
        clip_norm(g, rule.clip);
        if (rule.weight_decay > 0) g += rule.weight_decay * x;
        m = rule.momentum * m + g;
        x -= gamma * (g + m);
    } else {
        momentum_step(rule, gamma, mean, m, x);
    }
}

}  // namespace

Task<> power_sgd(Worker& self, PowerSgdOptions options) {
    Vector& x = self.replicated_model();
    Vector& m = self.replicated("momentum");
    co_await synchronous_steps(self, options.exchange,
                               [&](std::int64_t, double gamma, const Vector& mean) {
                                   power_sgd_step(options.rule, gamma, mean, m, x);
                               });
}

}  // namespace paceline

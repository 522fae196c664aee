#include "algorithms/dense/synchronous_sgd.hpp"

#include "algorithms/exchange/synchronous_steps.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

// NOLINTNEXTLINE(performance-unnecessary-value-param): as in methods that are coroutines
Task<> synchronous_sgd(Worker& self, SharedValue<SynchronousSgdOptions> options) {
    const MomentumRule& rule =
        options->rule;  // lives as long as the exchange, which is part of them
    return synchronous_steps(self, options.part(&SynchronousSgdOptions::exchange),
                             [&self, &rule](std::int64_t, double gamma, const Vector& mean) {
                                 Vector& m = self.replicated("momentum");
                                 momentum_step(rule, gamma, mean, m, self.replicated_model());
                             });
}

}  // namespace paceline

#include "algorithms/dense/synchronous_sgd.hpp"

#include "algorithms/exchange/synchronous_steps.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> synchronous_sgd(Worker& self, SharedValue<SynchronousSgdOptions> options) {
    Vector& x = self.replicated_model();
    Vector& m = self.replicated("momentum");
    co_await synchronous_steps(self, options.part(&SynchronousSgdOptions::exchange),
                               [&](std::int64_t, double gamma, const Vector& mean) {
                                   momentum_step(options->rule, gamma, mean, m, x);
                               });
}

}  // namespace paceline

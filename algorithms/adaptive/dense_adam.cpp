#include "algorithms/adaptive/dense_adam.hpp"

#include "algorithms/exchange/synchronous_steps.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> dense_adam(Worker& self, DenseAdamOptions options) {
    Vector& x = self.replicated_model();
    Vector& m = self.replicated("momentum");
    Vector& v = self.replicated("variance");
    co_await synchronous_steps(self, options.exchange,
                               [&](std::int64_t k, double gamma, const Vector& g) {
                                   adam_step(options.rule, gamma, k + 1, g, m, v, x);
                               });
}

}  // namespace paceline

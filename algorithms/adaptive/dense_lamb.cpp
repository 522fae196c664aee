#include "algorithms/adaptive/dense_lamb.hpp"

#include "algorithms/exchange/synchronous_steps.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> dense_lamb(Worker& self, DenseLambOptions options) {
    Vector& x = self.replicated_model();
    Vector& m = self.replicated("momentum");
    Vector& v = self.replicated("variance");
    co_await synchronous_steps(self, options.exchange,
                               [&](std::int64_t k, double gamma, const Vector& g) {
                                   lamb_step(options.rule, gamma, k + 1, g, m, v, x);
                               });
}

}  // namespace paceline

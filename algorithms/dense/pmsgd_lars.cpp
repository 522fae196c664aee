#include "algorithms/dense/pmsgd_lars.hpp"

#include "algorithms/exchange/synchronous_steps.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> pmsgd_lars(Worker& self, PmsgdLarsOptions options) {
    Vector& x = self.replicated_model();
    Vector& m = self.replicated("momentum");
    co_await synchronous_steps(
        self, options.exchange, [&](std::int64_t, double gamma, const Vector& mean) {
            m = options.momentum * m + lars_scaled(mean, x, gamma, options.lars);
            x -= gamma * m;
        });
}

}  // namespace paceline

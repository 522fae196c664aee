#include "algorithms/dense/pmsgd_lars.hpp"

#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> pmsgd_lars(Worker& self, PmsgdLarsOptions options) {
    Vector& x = self.replicated_model();
    Vector& m = self.replicated("momentum");

    while (self.keeps_training()) {
        const Vector mean = co_await self.mean_gradient(x, options.all_reduce);
        self.once(self.step(), [&] {
            const double gamma = self.learning_rate();
            m = options.momentum * m + lars_scaled(mean, x, gamma, options.lars);
            x -= gamma * m;
        });
        co_await self.update();
    }
}

}  // namespace paceline

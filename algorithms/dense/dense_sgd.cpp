#include "algorithms/dense/dense_sgd.hpp"

#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> dense_sgd(Worker& self, DenseSgdOptions options) {
    Vector& x = self.replicated_model();
    Vector& m = self.replicated("momentum");

    while (self.keeps_training()) {
        const Vector mean = co_await self.mean_gradient(x, options.all_reduce);
        self.once(self.step(),
                  [&] { momentum_step(options.rule, self.learning_rate(), mean, m, x); });
        co_await self.update();
    }
}

}  // namespace paceline

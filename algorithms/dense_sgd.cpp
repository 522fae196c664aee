#include "algorithms/dense_sgd.hpp"

namespace paceline {

Task<> dense_sgd(Worker& self, DenseSgdOptions options) {
    Vector& x = self.replicated_model();
    Vector& m = self.replicated("momentum");

    while (self.keeps_training()) {
        const Vector g = co_await self.gradient(x);
        const Vector mean = co_await self.all_reduce(g, options.all_reduce);
        self.once(self.step(), [&] {
            m = options.momentum * m + mean;
            x -= self.learning_rate() * m;
        });
        co_await self.update();
    }
}

}  // namespace paceline

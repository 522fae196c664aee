#include "algorithms/adaptive/dense_lamb.hpp"

#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> dense_lamb(Worker& self, DenseLambOptions options) {
    Vector& x = self.replicated_model();
    Vector& m = self.replicated("momentum");
    Vector& v = self.replicated("variance");

    while (self.keeps_training()) {
        const Vector g = co_await self.mean_gradient(x, options.all_reduce);
        self.once(self.step(), [&] {
            lamb_step(options.rule, self.learning_rate(), self.step() + 1, g, m, v, x);
        });
        co_await self.update();
    }
}

}  // namespace paceline

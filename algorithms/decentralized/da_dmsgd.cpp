#include "algorithms/decentralized/da_dmsgd.hpp"

#include <utility>

#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> da_dmsgd(Worker& self, DaDmsgdOptions options) {
    Vector& x = self.model();
    Vector m = Vector::zero_like(x);

    while (self.keeps_training()) {
        const double gamma = self.learning_rate();
        const Vector g = co_await self.gradient(x);
        const Vector h = options.momentum * m + g;
        Pending<Vector> momenta = self.start(self.neighbor_average(h));
        Pending<Vector> models = self.start(self.neighbor_average(x - gamma * h));
        m = co_await std::move(momenta);
        x = co_await std::move(models);
        co_await self.update();
    }
}

}  // namespace paceline

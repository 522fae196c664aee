#include "algorithms/decentralized/da_dmsgd.hpp"

#include <utility>

#include "algorithms/exchange/neighbor_averages.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> da_dmsgd(Worker& self, DaDmsgdOptions options) {
    Vector& x = self.model();
    Vector m = Vector::zero_like(x);
    NeighborAverages neighbors(self, options.exchange);

    while (self.begins_step()) {
        const double gamma = self.learning_rate();
        const Vector g = co_await self.gradient(x);
        const Vector h = options.momentum * m + g;
        Pending<Vector> momenta = self.start(neighbors.average(h));
        Pending<Vector> models = self.start(neighbors.average(x - gamma * h));
        m = co_await std::move(momenta);
        x = co_await std::move(models);
        co_await self.update();
    }
}

}  // namespace paceline

#include "algorithms/decentralized/momentum_tracking.hpp"

#include <utility>

#include "algorithms/exchange/neighbor_averages.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> momentum_tracking(Worker& self, MomentumTrackingOptions options) {
    Vector& x = self.model();
    Vector m = Vector::zero_like(x);
    Vector c = m;
    NeighborAverages neighbors(self, options.exchange);

    while (self.begins_step()) {
        const double gamma = self.learning_rate();
        const Vector g = co_await self.gradient(x);
        if (self.step() == 0) {
            const Vector mean = co_await self.all_reduce(g);
            m = (g - mean) / (1 - options.momentum);
            c = m;
        }
        m = options.momentum * m + g;
        Pending<Vector> models = self.start(neighbors.average(x));
        Pending<Vector> corrections = self.start(neighbors.average(c - m));
        x = co_await std::move(models);
        x -= gamma * (m - c);
        c = co_await std::move(corrections);
        c += m;
        co_await self.update();
    }
}

}  // namespace paceline

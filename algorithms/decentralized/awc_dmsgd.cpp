#include "algorithms/decentralized/awc_dmsgd.hpp"

#include <utility>

#include "algorithms/exchange/neighbor_averages.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> awc_dmsgd(Worker& self, AwcDmsgdOptions options) {
    Vector& x = self.model();
    Vector m = Vector::zero_like(x);
    NeighborAverages neighbors(self, options.exchange);

    while (self.begins_step()) {
        const double gamma = self.learning_rate();
        Pending<Vector> averaging = self.start(neighbors.average(x));
        const Vector g = co_await self.gradient(x);
        m = options.momentum * m + g;
        const Vector mixed = co_await std::move(averaging);
        x = mixed - gamma * m;
        co_await self.update();
    }
}

}  // namespace paceline

#include "algorithms/decentralized/d2_dmsgd.hpp"

#include "algorithms/exchange/neighbor_averages.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> d2_dmsgd(Worker& self, D2DmsgdOptions options) {
    Vector& x = self.model();
    Vector x_before = x;
    Vector m = Vector::zero_like(x);
    Vector moved = m;  // gamma m of the step before
    NeighborAverages neighbors(self, options.exchange);

    while (self.keeps_training()) {
        const double gamma = self.learning_rate();
        const Vector g = co_await self.gradient(x);
        m = options.momentum * m + g;
        const Vector moves = gamma * m;
        const Vector next = 2 * x - x_before - (moves - moved);
        moved = moves;
        x_before = x;
        x = co_await neighbors.average(next);
        co_await self.update();
    }
}

}  // namespace paceline

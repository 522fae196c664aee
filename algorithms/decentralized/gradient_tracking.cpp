#include "algorithms/decentralized/gradient_tracking.hpp"

#include <utility>

#include "algorithms/exchange/neighbor_averages.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> gradient_tracking(Worker& self, ExchangeOptions exchange) {
    Vector& x = self.model();
    NeighborAverages neighbors(self, std::move(exchange));
    Vector y = Vector::zero_like(x);
    Vector g_before = Vector::zero_like(x);

    while (self.begins_step()) {
        const double gamma = self.learning_rate();
        const Vector g = co_await self.gradient(x);
        y = y + g - g_before;
        g_before = g;
        Pending<Vector> models = self.start(neighbors.average(x - gamma * y));
        Pending<Vector> directions = self.start(neighbors.average(y));
        x = co_await std::move(models);
        y = co_await std::move(directions);
        co_await self.update();
    }
}

}  // namespace paceline

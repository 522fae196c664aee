#include "algorithms/decentralized/dsgd_awc.hpp"

#include <utility>

#include "algorithms/exchange/neighbor_averages.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> dsgd_awc(Worker& self, ExchangeOptions exchange) {
    Vector& x = self.model();
    NeighborAverages neighbors(self, std::move(exchange));

    while (self.begins_step()) {
        const double gamma = self.learning_rate();
        Pending<Vector> averaging = self.start(neighbors.average(x));
        const Vector g = co_await self.gradient(x);
        const Vector mixed = co_await std::move(averaging);
        x = mixed - gamma * g;
        co_await self.update();
    }
}

}  // namespace paceline

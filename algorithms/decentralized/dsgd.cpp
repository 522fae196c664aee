#include "algorithms/decentralized/dsgd.hpp"

#include <utility>

#include "algorithms/exchange/neighbor_averages.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> dsgd(Worker& self, ExchangeOptions exchange) {
    Vector& x = self.model();
    NeighborAverages neighbors(self, std::move(exchange));

    while (self.begins_step()) {
        const double gamma = self.learning_rate();
        x = co_await neighbors.average_behind_gradient(
            x, [&](const Piece& piece, const Vector& g) { return part_of(x, piece) - gamma * g; });
        co_await self.update();
    }
}

}  // namespace paceline

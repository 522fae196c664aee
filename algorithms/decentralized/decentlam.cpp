#include "algorithms/decentralized/decentlam.hpp"

#include "algorithms/exchange/neighbor_averages.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> decentlam(Worker& self, DecentlamOptions options) {
    Vector& x = self.model();
    Vector m = Vector::zero_like(x);
    NeighborAverages neighbors(self, options.exchange);

    while (self.begins_step()) {
        const double gamma = self.learning_rate();
        const Vector mixed = co_await neighbors.average_behind_gradient(
            x, [&](const Piece& piece, const Vector& g) { return part_of(x, piece) - gamma * g; });
        const Vector g_tilde = (x - mixed) / gamma;
        m = options.momentum * m + g_tilde;
        x -= gamma * m;
        co_await self.update();
    }
}

}  // namespace paceline

#include "algorithms/decentralized/qg_dmsgd.hpp"

#include "algorithms/exchange/neighbor_averages.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> qg_dmsgd(Worker& self, QgDmsgdOptions options) {
    const double beta = options.momentum;
    Vector& x = self.model();
    Vector m = Vector::zero_like(x);
    NeighborAverages neighbors(self, options.exchange);

    while (self.begins_step()) {
        const double gamma = self.learning_rate();
        const Vector mixed =
            co_await neighbors.average_behind_gradient(x, [&](const Piece& piece, const Vector& g) {
                return part_of(x, piece) - gamma * (beta * part_of(m, piece) + g);
            });
        m = beta * m + (1 - beta) * (x - mixed) / gamma;
        x = mixed;
        co_await self.update();
    }
}

}  // namespace paceline

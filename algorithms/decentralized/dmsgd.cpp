#include "algorithms/decentralized/dmsgd.hpp"

#include "algorithms/exchange/neighbor_averages.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> dmsgd(Worker& self, DmsgdOptions options) {
    Vector& x = self.model();
    Vector m = Vector::zero_like(x);
    NeighborAverages neighbors(self, options.exchange);

    while (self.begins_step()) {
        const double gamma = self.learning_rate();
        x = co_await neighbors.average_behind_gradient(x, [&](const Piece& piece, const Vector& g) {
            const Vector own = options.momentum * part_of(m, piece) + g;
            put_part(own, piece, m);
            return part_of(x, piece) - gamma * own;
        });
        co_await self.update();
    }
}

}  // namespace paceline

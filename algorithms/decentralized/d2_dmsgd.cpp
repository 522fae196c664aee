#include "algorithms/decentralized/d2_dmsgd.hpp"

#include <utility>

#include "algorithms/exchange/neighbor_averages.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> d2_dmsgd(Worker& self, D2DmsgdOptions options) {
    Vector& x = self.model();
    Vector x_before = x;
    Vector m = Vector::zero_like(x);
    Vector moved = m;  // gamma m of the step before
    NeighborAverages neighbors(self, options.exchange);

    while (self.begins_step()) {
        const double gamma = self.learning_rate();
        Vector next =
            co_await neighbors.average_behind_gradient(x, [&](const Piece& piece, const Vector& g) {
                const Vector own = options.momentum * part_of(m, piece) + g;
                put_part(own, piece, m);
                const Vector moves = gamma * own;
                const Vector made = 2 * part_of(x, piece) - part_of(x_before, piece) -
                                    (moves - part_of(moved, piece));
                put_part(moves, piece, moved);
                return made;
            });
        x_before = std::exchange(x, std::move(next));
        co_await self.update();
    }
}

}  // namespace paceline

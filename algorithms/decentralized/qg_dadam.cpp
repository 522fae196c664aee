#include "algorithms/decentralized/qg_dadam.hpp"

#include "algorithms/exchange/neighbor_averages.hpp"
#include "algorithms/runtime/worker.hpp"
#include "models/tensors/algebra.hpp"

namespace paceline {

namespace {

// Returns v / (|v|_2 + 1e-8).
Vector of_length_one(Vector v) {
    if (v.has_values()) v *= 1 / (norm(v.values()) + 1e-8);
    return v;
}

}  // namespace

Task<> qg_dadam(Worker& self, QgDadamOptions options) {
    const AdamRule& rule = options.rule;
    const bool follows = options.moments == Moments::both;  // the first moment, the movement
    Vector& x = self.model();
    Vector mean = Vector::zero_like(x);
    Vector variance = Vector::zero_like(x);
    NeighborAverages neighbors(self, options.exchange);

    for (std::int64_t step = 1; self.begins_step(); ++step) {
        const double gamma = self.learning_rate();
        const Vector mixed =
            co_await neighbors.average_behind_gradient(x, [&](const Piece& piece, const Vector& g) {
                Vector m = part_of(mean, piece);
                Vector v = part_of(variance, piece);
                Vector h = part_of(x, piece);
                adam_step(rule, gamma, step, g, m, v, h);
                if (!follows) put_part(m, piece, mean);
                return h;
            });
        const Vector moved = of_length_one(x - mixed);
        if (follows) adam_momentum(rule, moved, mean);
        adam_variance(rule, moved, variance);
        x = mixed;
        co_await self.update();
    }
}

}  // namespace paceline

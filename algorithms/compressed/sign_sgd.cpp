#include "algorithms/compressed/sign_sgd.hpp"

#include "algorithms/exchange/synchronous_steps.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> sign_sgd(Worker& self, SignSgdOptions options) {
    Vector& x = self.replicated_model();
    Vector m = Vector::zero_like(x);
    const double beta = options.momentum;
    const auto momentum = [&](const Piece& piece, Vector g) {
        if (!g.has_values()) return g;
        auto own = m.writable().segment(piece.offset, g.entries());
        own = beta * own + (1 - beta) * g.values();
        g.writable() = own;
        return g;
    };
    co_await synchronous_steps(
        self, options.exchange,
        [&](std::int64_t, double gamma, const Vector& votes) { x -= gamma * votes; },
        {momentum, sign_momentum_passes});
}

}  // namespace paceline

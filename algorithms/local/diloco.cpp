#include "algorithms/local/diloco.hpp"

#include <utility>

#include "algorithms/exchange/exchange.hpp"
#include "algorithms/local/local_sgd.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

void outer_step(const DilocoOptions& options, const Vector& gradient, Vector& anchor, Vector& u) {
    u = options.outer_momentum * u + gradient;
    anchor -= options.outer_learning_rate * (gradient + options.outer_momentum * u);
}

Task<> diloco(Worker& self, DilocoOptions options) {
    Vector& x = self.model();
    Vector& anchor = self.replicated("anchor", x);
    Vector& u = self.replicated("outer momentum");
    Vector m = Vector::zero_like(x);
    Vector v = Vector::zero_like(x);
    std::int64_t steps = 0;  // of this worker, for Adam's correction
    VectorExchange exchange(self, options.exchange);

    while (self.keeps_training()) {
        const double gamma = self.learning_rate();
        ++steps;
        co_await self.gradient(
            x, [&](const Vector& g) { adam_step(options.rule, gamma, steps, g, m, v, x); });
        co_await self.update();
        if (!ends_block(self.step(), options.period)) continue;
        const Vector gradient = co_await exchange.aggregate(anchor - x);
        self.once(self.step() / options.period, [&] { outer_step(options, gradient, anchor, u); });
        x = anchor;
    }
}

}  // namespace paceline

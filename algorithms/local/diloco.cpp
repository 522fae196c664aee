#include "algorithms/local/diloco.hpp"

#include <utility>

#include "algorithms/exchange/exchange.hpp"
#include "algorithms/local/inner_steps.hpp"
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
    InnerState inner(x);
    VectorExchange exchange(self, options.exchange);

    while (self.begins_step()) {
        co_await inner_step(self, options.inner, inner);
        if (!ends_block(self.step(), options.period)) continue;
        const Vector gradient = co_await exchange.aggregate(anchor - x);
        self.once(self.step() / options.period, [&] { outer_step(options, gradient, anchor, u); });
        x = anchor;
    }
}

}  // namespace paceline

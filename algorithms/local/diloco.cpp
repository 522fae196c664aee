#include "algorithms/local/diloco.hpp"

#include "algorithms/exchange/exchange.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> diloco(Worker& self, DilocoOptions options) {
    Vector& x = self.model();
    OuterState outer(self, options.outer);
    InnerState inner(x, options.inner);
    VectorExchange exchange(self, options.exchange);

    while (self.begins_step()) {
        co_await inner_step(self, options.inner, inner);
        if (!ends_block(self.step(), options.period)) continue;
        const Vector gradient = co_await exchange.aggregate(outer.y - x);
        const std::int64_t block = self.step() / options.period;
        self.once(block, [&] { outer_step(options.outer, block, gradient, outer); });
        x = outer.y;
    }
}

}  // namespace paceline

#include "algorithms/local/cocod_sgd.hpp"

#include <optional>
#include <utility>

#include "algorithms/exchange/exchange.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> cocod_sgd(Worker& self, CocodSgdOptions options) {
    Vector& x = self.model();
    InnerState inner(x, options.inner);
    Vector start = x;
    VectorExchange exchange(self, options.exchange);
    std::optional<Pending<Vector>> average;

    while (self.begins_step()) {
        if (self.step() % options.period == 0) {
            start = x;
            average = self.start(exchange.aggregate(x));
        }
        co_await inner_step(self, options.inner, inner);
        if (!ends_block(self.step(), options.period)) continue;
        if (!average) continue;  // joined within the block, so it has no average
        const Vector mean = co_await *std::exchange(average, std::nullopt);
        self.metrics().count_staleness(static_cast<double>(options.period));
        x = mean + (x - start);
    }
}

}  // namespace paceline

#include "algorithms/local/cocod_sgd.hpp"

#include <optional>
#include <utility>

#include "algorithms/exchange/exchange.hpp"
#include "algorithms/local/base_steps.hpp"
#include "algorithms/local/local_sgd.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> cocod_sgd(Worker& self, CocodSgdOptions options) {
    Vector& x = self.model();
    Vector m = Vector::zero_like(x);
    Vector start = x;
    VectorExchange exchange(self, options.exchange);
    std::optional<Pending<Vector>> average;

    while (self.begins_step()) {
        if (self.step() % options.period == 0) {
            start = x;
            average = self.start(exchange.aggregate(x));
        }
        m = co_await local_step(self, options.rule, std::move(m));
        if (!ends_block(self.step(), options.period)) continue;
        if (!average) continue;  // joined within the block, so it has no average
        const Vector mean = co_await *std::exchange(average, std::nullopt);
        self.metrics().count_staleness(static_cast<double>(options.period));
        x = mean + (x - start);
    }
}

}  // namespace paceline

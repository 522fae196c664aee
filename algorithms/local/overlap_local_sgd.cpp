#include "algorithms/local/overlap_local_sgd.hpp"

#include <optional>
#include <utility>

#include "algorithms/exchange/exchange.hpp"
#include "algorithms/local/outer_steps.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> overlap_local_sgd(Worker& self, OverlapLocalSgdOptions options) {
    Vector& x = self.model();
    Vector& z = self.replicated("anchor", x);
    Vector& v = self.replicated("anchor momentum");
    InnerState inner(x, options.inner);
    VectorExchange exchange(self, options.exchange);
    std::optional<Pending<Vector>> average;
    double gamma = 0;  // of the block boundary at which the average was begun

    while (self.begins_step()) {
        const std::int64_t block = self.step() / options.period;
        if (block > 0 && self.step() % options.period == 0) {
            if (gamma == 0) gamma = self.learning_rate();  // a worker that joined at this block
            average = self.start(exchange.aggregate(x));
        }
        co_await inner_step(self, options.inner, inner);
        if (!ends_block(self.step(), options.period)) continue;
        if (average) {
            const Vector mean = co_await *std::exchange(average, std::nullopt);
            self.metrics().count_staleness(static_cast<double>(options.period));
            self.once(block - 1,
                      [&] { slow_step({1, options.anchor_momentum}, gamma, mean, z, v); });
        }
        x = (1 - options.alpha) * x + options.alpha * z;
        gamma = self.learning_rate();
    }
}

}  // namespace paceline

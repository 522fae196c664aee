#include "algorithms/local/overlap_local_sgd.hpp"

#include <optional>
#include <utility>

#include "algorithms/exchange/exchange.hpp"
#include "algorithms/local/base_steps.hpp"
#include "algorithms/local/local_sgd.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> overlap_local_sgd(Worker& self, OverlapLocalSgdOptions options) {
    Vector& x = self.model();
    Vector& z = self.replicated("anchor", x);
    Vector& v = self.replicated("anchor momentum");
    Vector m = Vector::zero_like(x);
    VectorExchange exchange(self, options.exchange);
    std::optional<Pending<Vector>> average;
    double gamma = 0;  // of the block boundary at which the average was begun

    while (self.begins_step()) {
        const std::int64_t block = self.step() / options.period;
        if (block > 0 && self.step() % options.period == 0) {
            if (gamma == 0) gamma = self.learning_rate();  // a worker that joined at this block
            average = self.start(exchange.aggregate(x));
        }
        m = co_await local_step(self, options.rule, std::move(m));
        if (!ends_block(self.step(), options.period)) continue;
        if (average) {
            const Vector mean = co_await *std::exchange(average, std::nullopt);
            self.metrics().count_staleness(static_cast<double>(options.period));
            self.once(block - 1, [&] {
                v = options.anchor_momentum * v + (z - mean) / gamma;
                z -= gamma * v;
            });
        }
        x = (1 - options.alpha) * x + options.alpha * z;
        gamma = self.learning_rate();
    }
}

}  // namespace paceline

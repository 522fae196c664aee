#include "algorithms/local/local_adam.hpp"

#include "algorithms/exchange/exchange.hpp"
#include "algorithms/local/local_sgd.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> local_adam(Worker& self, LocalAdamOptions options) {
    Vector& x = self.model();
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
        x = co_await exchange.aggregate(x);
        if (options.buffers == Buffers::reset) {
            m = Vector::zero_like(x);
            v = Vector::zero_like(x);
            steps = 0;
        }
        if (options.buffers != Buffers::average) continue;
        m = co_await exchange.aggregate(m);
        v = co_await exchange.aggregate(v);
    }
}

}  // namespace paceline

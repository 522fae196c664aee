#include "examples/adding/pipe_sgd.hpp"

#include <optional>
#include <utility>

#include "algorithms/exchange/exchange.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> pipe_sgd(Worker& self, PipeSgdOptions options) {
    Vector& x = self.model();
    Vector m = Vector::zero_like(x);
    VectorExchange exchange(self, options.exchange);
    std::optional<Pending<Vector>> average;  // of the gradients of the step before
    double gamma = 0;                        // of that step

    while (self.begins_step()) {
        const Vector g = co_await self.gradient(x);
        if (average) {
            const Vector mean = co_await *std::exchange(average, std::nullopt);
            self.metrics().count_staleness(1);
            momentum_step(options.rule, gamma, mean, m, x);
        }
        gamma = self.learning_rate();
        average = self.start(exchange.aggregate(g));
        co_await self.update();
    }
    if (!average) co_return;
    const Vector last = co_await *std::exchange(average, std::nullopt);
    momentum_step(options.rule, gamma, last, m, x);
}

}  // namespace paceline

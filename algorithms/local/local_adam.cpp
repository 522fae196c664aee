#include "algorithms/local/local_adam.hpp"

#include "algorithms/exchange/exchange.hpp"
#include "algorithms/local/inner_steps.hpp"
#include "algorithms/local/local_sgd.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> local_adam(Worker& self, LocalAdamOptions options) {
    Vector& x = self.model();
    InnerState adam(x);
    VectorExchange exchange(self, options.exchange);

    while (self.begins_step()) {
        co_await inner_step(self, options.rule, adam);
        if (!ends_block(self.step(), options.period)) continue;
        x = co_await exchange.aggregate(x);
        if (options.buffers == Buffers::reset) adam = InnerState(x);
        if (options.buffers != Buffers::average) continue;
        adam.m = co_await exchange.aggregate(adam.m);
        adam.v = co_await exchange.aggregate(adam.v);
    }
}

}  // namespace paceline

#include "algorithms/local/local_sgd.hpp"

#include "algorithms/exchange/exchange.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> local_sgd(Worker& self, LocalSgdOptions options) {
    Vector& x = self.model();
    InnerState inner(x, options.inner);
    VectorExchange exchange(self, options.exchange);

    while (self.begins_step()) {
        co_await inner_step(self, options.inner, inner);
        if (!ends_block(self.step(), options.period, options.switch_step)) continue;
        x = co_await exchange.aggregate(x);
        co_await renew(exchange, options.buffers, options.inner, inner);
    }
}

}  // namespace paceline

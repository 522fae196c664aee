#include "algorithms/local/local_sgd.hpp"

#include <utility>

#include "algorithms/exchange/exchange.hpp"
#include "algorithms/local/base_steps.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> local_sgd(Worker& self, LocalSgdOptions options) {
    Vector& x = self.model();
    Vector m = Vector::zero_like(x);
    VectorExchange exchange(self, options.exchange);

    while (self.begins_step()) {
        m = co_await local_step(self, options.rule, std::move(m));
        if (ends_block(self.step(), options.period)) x = co_await exchange.aggregate(x);
    }
}

}  // namespace paceline

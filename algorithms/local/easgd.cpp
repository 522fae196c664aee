#include "algorithms/local/easgd.hpp"

#include "algorithms/exchange/exchange.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Task<> easgd(Worker& self, EasgdOptions options) {
    Vector& x = self.model();
    Vector& z = self.replicated("center", x);
    InnerState inner(x, options.inner);
    VectorExchange exchange(self, options.exchange);

    while (self.begins_step()) {
        co_await inner_step(self, options.inner, inner);
        if (!ends_block(self.step(), options.period)) continue;
        const Vector old = x;
        x = (1 - options.alpha) * old + options.alpha * z;  // before any worker changes z
        const Vector mean = co_await exchange.aggregate(old);
        self.once(self.step() / options.period, [&] {
            const double all = options.alpha * static_cast<double>(self.all_present().size());
            z = (1 - all) * z + all * mean;
        });
    }
}

}  // namespace paceline

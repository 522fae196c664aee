#include "algorithms/local/bmuf.hpp"

#include "algorithms/exchange/exchange.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

void block_step(const BmufOptions& options, const Vector& mean, Vector& y, Vector& w, Vector& d) {
    const double eta = options.block_momentum;
    d = eta * d + options.block_learning_rate * (mean - y);
    switch (options.form) {
        case BlockForm::classical:
            y += d;
            break;
        case BlockForm::nesterov:
            w += d;
            y = w + eta * d;
            break;
        case BlockForm::nesterov_folded:
            y += (1 + eta) * d;
            break;
    }
}

Task<> bmuf(Worker& self, BmufOptions options) {
    Vector& x = self.model();
    Vector& y = self.replicated("start of block", x);
    Vector& w = self.replicated("global model", x);
    Vector& d = self.replicated("block momentum");
    InnerState inner(x, options.inner);
    VectorExchange exchange(self, options.exchange);

    while (self.begins_step()) {
        co_await inner_step(self, options.inner, inner);
        if (!ends_block(self.step(), options.period)) continue;
        const Vector mean = co_await exchange.aggregate(x);
        self.once(self.step() / options.period, [&] { block_step(options, mean, y, w, d); });
        x = y;
        inner = InnerState(x, options.inner);
    }
}

}  // namespace paceline

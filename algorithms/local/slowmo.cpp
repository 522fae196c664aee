#include "algorithms/local/slowmo.hpp"

#include <utility>

#include "algorithms/exchange/exchange.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

namespace {

// The same over all-reduce SGD, where x_i, m_i and with them x_0 and u are equal on all workers and
// exist once. So a worker that returns after a failure has what all have.
Task<> slowmo_of_replicas(Worker& self, SlowmoOptions options) {
    Vector& x = self.replicated_model();
    Vector& m = self.replicated("momentum");
    Vector& anchor = self.replicated("anchor", x);
    Vector& u = self.replicated("slow momentum");
    VectorExchange exchange(self, options.exchange);

    while (self.begins_step()) {
        const std::int64_t update = self.step() + self.step() / options.period;  // its number
        co_await all_reduce_step(self, options.base.rule, options.base.all_reduce, update);
        if (!ends_block(self.step(), options.period)) continue;
        Vector mean = x;
        if (options.average) mean = co_await exchange.aggregate(x);
        Vector renewed = options.buffers == Buffers::reset ? Vector::zero_like(m) : m;
        if (options.buffers == Buffers::average) renewed = co_await exchange.aggregate(m);
        self.once(update + 1, [&] {
            slow_step(options.slow, self.learning_rate(), mean, anchor, u);
            x = anchor;
            m = renewed;
        });
    }
}

}  // namespace

Task<> slowmo(Worker& self, SlowmoOptions options) {
    if (options.base.base == Base::all_reduce) {
        co_await slowmo_of_replicas(self, options);
        co_return;
    }
    Vector& x = self.model();
    Vector own_anchor = x;
    Vector own_u = options.average ? Vector(x.layout()) : Vector::zero_like(x);
    Vector& anchor = options.average ? self.replicated("anchor", x) : own_anchor;
    Vector& u = options.average ? self.replicated("slow momentum") : own_u;
    BaseState state{InnerState(x, inner_of(options.base))};
    VectorExchange exchange(self, options.exchange);

    while (self.begins_step()) {
        state = co_await base_step(self, options.base, std::move(state));
        if (!ends_block(self.step(), options.period)) continue;
        state = co_await drained(self, std::move(state));
        const double gamma = self.learning_rate();
        if (options.average) {
            const Vector mean = co_await exchange.aggregate(numerator(state, x));
            self.once(self.step() / options.period,
                      [&] { slow_step(options.slow, gamma, mean, anchor, u); });
            state.w = 1;
        } else {
            slow_step(options.slow, gamma, x, anchor, u);
        }
        x = anchor;
        co_await renew(exchange, options.buffers, inner_of(options.base), state.inner);
    }
    state = co_await drained(self, std::move(state));
}

}  // namespace paceline

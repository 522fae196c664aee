#include "algorithms/local/slowmo.hpp"

#include <utility>

#include "algorithms/exchange/exchange.hpp"
#include "algorithms/local/local_sgd.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

namespace {

Task<BaseState> renewed(VectorExchange& exchange, SlowmoOptions options, BaseState state) {
    if (options.buffers == Buffers::reset) reset_buffers(state);
    if (options.buffers != Buffers::average) co_return state;
    state.m = co_await exchange.aggregate(state.m);
    if (is_adam(options.base.base)) state.v = co_await exchange.aggregate(state.v);
    co_return state;
}

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
            slow_step(options, self.learning_rate(), mean, anchor, u);
            x = anchor;
            m = renewed;
        });
    }
}

}  // namespace

void slow_step(const SlowmoOptions& options, double gamma, const Vector& mean, Vector& anchor,
               Vector& u) {
    u = options.beta * u + (anchor - mean) / gamma;
    anchor -= options.alpha * gamma * u;
}

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
    BaseState state = base_state(self, options.base);
    VectorExchange exchange(self, options.exchange);

    while (self.begins_step()) {
        state = co_await base_step(self, options.base, std::move(state));
        if (!ends_block(self.step(), options.period)) continue;
        state = co_await drained(self, std::move(state));
        const double gamma = self.learning_rate();
        if (options.average) {
            const Vector mean = co_await exchange.aggregate(numerator(state, x));
            self.once(self.step() / options.period,
                      [&] { slow_step(options, gamma, mean, anchor, u); });
            state.w = 1;
        } else {
            slow_step(options, gamma, x, anchor, u);
        }
        x = anchor;
        state = co_await renewed(exchange, options, std::move(state));
    }
    state = co_await drained(self, std::move(state));
}

}  // namespace paceline

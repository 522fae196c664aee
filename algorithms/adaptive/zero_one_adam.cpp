#include "algorithms/adaptive/zero_one_adam.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/exchange/exchange.hpp"
#include "algorithms/runtime/worker.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

// A stretch of the variance phase with one interval; it covers the steps after `begin`.
struct VarianceStretch {
    std::int64_t interval = 1;
    std::int64_t begin = 0;
};

VarianceStretch variance_stretch(const ZeroOneAdamOptions& options, std::int64_t s) {
    VarianceStretch at;
    while (true) {
        const std::int64_t first = (at.begin / at.interval + 1) * at.interval;
        if (options.var_update_scaler > (s - first) / at.interval + 1) return at;
        const std::int64_t last = first + (options.var_update_scaler - 1) * at.interval;
        if (s <= last) return at;
        at = {2 * at.interval, last};
    }
}

std::int64_t local_interval(const ZeroOneAdamOptions& options, std::int64_t s) {
    const std::int64_t local_steps_before = s - 1 - (options.var_freeze_step + 1);
    std::int64_t interval = 1;
    for (std::int64_t i = local_steps_before / options.local_step_scaler; i > 0; --i) {
        if (interval >= options.local_step_clipper) break;
        interval *= 2;
    }
    return std::min(interval, options.local_step_clipper);
}

bool is_local(const ZeroOneAdamOptions& options, std::int64_t s) {
    return s > options.var_freeze_step + 1;
}

// The state that each worker has of its own in the local phase.
struct Local {
    Vector m;
    Vector anchor;     // x after the last exchange
    Vector moved;      // u
    double rates = 0;  // L
};

void local_step(const AdamRule& rule, double gamma, const Vector& g, const Vector& v, Vector& x,
                Local& mine) {
    adam_momentum(rule, g, mine.m);
    const Vector step = gamma * adam_direction(rule, mine.m, v, x);
    x -= step;
    mine.moved -= step;
}

// Returns (sqrt(v) + epsilon) u, or u / (sqrt(v) + epsilon) if `inverse`.
Vector preconditioned(const AdamRule& rule, Vector u, const Vector& v, bool inverse) {
    if (!u.has_values()) return u;
    const auto d = v.values().array().sqrt() + rule.epsilon;
    if (inverse)
        u.writable().array() /= d;
    else
        u.writable().array() *= d;
    return u;
}

void meet(const ZeroOneAdamOptions& options, Vector u, const Vector& v, Vector& x, Local& mine) {
    if (options.mask) u = masked(std::move(u), v);
    mine.m = u / -mine.rates;
    x = mine.anchor + preconditioned(options.rule, std::move(u), v, true);
    mine.anchor = x;
    mine.moved = Vector::zero_like(x);
    mine.rates = 0;
}

// State that is equal on all workers as long as the variance may change.
struct Shared {
    Vector& x;
    Vector& m;
    Vector& v;
};

// Takes one step of the variance phase. Afterwards the worker's own model equals the shared one.
Task<> variance_step(Worker& self, ZeroOneAdamOptions options, Shared at, VectorExchange& plain,
                     VectorExchange& compressed) {
    const AdamRule& rule = options.rule;
    const bool exact = zero_one_step(options, self.step()) == ZeroOneStep::exact;
    Vector g(at.x.layout());
    if (exact) {
        g = co_await plain.mean_gradient(at.x);
    } else {
        g = co_await compressed.mean_gradient(at.x);
        if (options.mask) g = masked(std::move(g), at.v);
    }
    self.once(self.step(), [&] {
        if (exact) adam_variance(rule, g, at.v);
        adam_momentum(rule, g, at.m);
        at.x -= self.learning_rate() * adam_direction(rule, at.m, at.v, at.x);
    });
    self.model() = at.x;
}

// Takes one step of the local phase.
Task<> own_step(Worker& self, ZeroOneAdamOptions options, const Vector& v, Local& mine,
                VectorExchange& updates) {
    Vector& x = self.model();
    const double gamma = self.learning_rate();
    const bool meets = zero_one_step(options, self.step()) == ZeroOneStep::compressed_update;
    mine.rates += gamma;
    Vector next = x;
    co_await self.gradient(
        x, [&](const Vector& g) { local_step(options.rule, gamma, g, v, next, mine); });
    x = std::move(next);
    if (!meets) co_return;
    Vector u = co_await updates.aggregate(mine.moved);
    meet(options, std::move(u), v, x, mine);
}

}  // namespace

ZeroOneStep zero_one_step(const ZeroOneAdamOptions& options, std::int64_t k) {
    const std::int64_t s = k + 1;
    if (!is_local(options, s))
        return s % variance_stretch(options, s).interval == 0 ? ZeroOneStep::exact
                                                              : ZeroOneStep::compressed_gradient;
    return s % local_interval(options, s) == 0 ? ZeroOneStep::compressed_update
                                               : ZeroOneStep::local;
}

std::int64_t zero_one_stretch(const ZeroOneAdamOptions& options, std::int64_t k) {
    const std::int64_t s = k + 1;
    if (is_local(options, s)) return -1 - local_interval(options, s);
    const VarianceStretch at = variance_stretch(options, s);
    if (at.interval == 1) return 0;
    if (s % at.interval == 0) return 2 * s;
    return 2 * std::max(at.begin, s / at.interval * at.interval) + 1;
}

std::int64_t zero_one_interval(const ZeroOneAdamOptions& options, std::int64_t k) {
    const std::int64_t s = k + 1;
    return is_local(options, s) ? local_interval(options, s) : 1;
}

Task<> zero_one_adam(Worker& self, ZeroOneAdamOptions options) {
    PACELINE_CHECK(!options.rule.bias_correction, "the 1-bit methods have no bias correction");
    const Vector start = self.model();
    Shared at{self.replicated("shared model", start), self.replicated("momentum"),
              self.replicated("variance")};
    VectorExchange exact(self, options.exact);
    VectorExchange gradients(self, options.exchange, Preparation{}, "gradients");
    const auto scaled = [&](const Piece& piece, Vector u) {
        return preconditioned(options.rule, std::move(u), part_of(at.v, piece), false);
    };
    VectorExchange updates(self, options.exchange, {scaled}, "updates");
    Local mine{Vector::zero_like(start), start, Vector::zero_like(start)};

    while (self.begins_step()) {
        const std::int64_t s = self.step() + 1;
        if (is_local(options, s)) {
            co_await own_step(self, options, at.v, mine, updates);
        } else {
            co_await variance_step(self, options, at, exact, gradients);
            mine.m = at.m;
            mine.anchor = at.x;
        }
        co_await self.update();
    }
}

}  // namespace paceline

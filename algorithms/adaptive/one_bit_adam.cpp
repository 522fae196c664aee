#include "algorithms/adaptive/one_bit_adam.hpp"

#include <utility>

#include "algorithms/exchange/exchange.hpp"
#include "algorithms/runtime/worker.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

Task<> one_bit_adam(Worker& self, OneBitAdamOptions options) {
    PACELINE_CHECK(!options.rule.bias_correction, "the 1-bit methods have no bias correction");
    const AdamRule rule = options.rule;
    Vector& x = self.replicated_model();
    Vector& m = self.replicated("momentum");
    Vector& v = self.replicated("variance");
    const auto momentum = [&](const Piece& piece, const Vector& g) {
        return rule.beta1 * part_of(m, piece) + (1 - rule.beta1) * g;
    };
    VectorExchange exact(self, options.warm_up);
    VectorExchange compressed(self, options.exchange, {momentum});

    while (self.begins_step()) {
        const double gamma = self.learning_rate();
        if (self.step() < options.freeze_step) {
            const Vector g = co_await exact.mean_gradient(x);
            self.once(self.step(), [&] { adam_step(rule, gamma, self.step() + 1, g, m, v, x); });
        } else {
            Vector mean = co_await compressed.mean_gradient(x);
            self.once(self.step(), [&] {
                m = options.mask ? masked(std::move(mean), v) : std::move(mean);
                x -= gamma * adam_direction(rule, m, v, x);
            });
        }
        co_await self.update();
    }
}

}  // namespace paceline

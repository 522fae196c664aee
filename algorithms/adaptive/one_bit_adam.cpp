#include "algorithms/adaptive/one_bit_adam.hpp"

#include <utility>

#include "algorithms/exchange/one_bit_all_reduce.hpp"
#include "algorithms/runtime/worker.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

Task<> one_bit_adam(Worker& self, OneBitAdamOptions options) {
    PACELINE_CHECK(!options.rule.bias_correction, "the 1-bit methods have no bias correction");
    const AdamRule rule = options.rule;
    Vector& x = self.replicated_model();
    Vector& m = self.replicated("momentum");
    Vector& v = self.replicated("variance");
    OneBitEncoder encoder(
        make_one_bit_plan(self, options.fused, options.coding, "errors of owners"),
        !self.timing_only());

    while (self.keeps_training()) {
        const double gamma = self.learning_rate();
        if (self.step() < options.freeze_step) {
            const Vector g = co_await self.mean_gradient(x, options.all_reduce);
            self.once(self.step(), [&] { adam_step(rule, gamma, self.step() + 1, g, m, v, x); });
        } else {
            Vector said(x.layout());
            co_await self.gradient(x, [&](const Vector& g) {
                said = encoder.encode(rule.beta1 * m + (1 - rule.beta1) * g);
            });
            Vector mean = co_await one_bit_all_reduce(self, encoder.plan(), std::move(said));
            self.once(self.step(), [&] {
                m = options.mask ? masked(std::move(mean), v) : std::move(mean);
                x -= gamma * adam_direction(rule, m, v, x);
            });
        }
        co_await self.update();
    }
}

}  // namespace paceline

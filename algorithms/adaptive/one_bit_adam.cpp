#include "algorithms/adaptive/one_bit_adam.hpp"

#include "algorithms/exchange/synchronous_steps.hpp"
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
    const auto warm_up = [&](std::int64_t k, double gamma, const Vector& g) {
        adam_step(rule, gamma, k + 1, g, m, v, x);
    };
    const auto descend = [&](std::int64_t, double gamma, const Vector& mean) {
        m = options.mask ? masked(mean, v) : mean;
        x -= gamma * adam_direction(rule, m, v, x);
    };
    co_await synchronous_stages(self, options.freeze_step, {options.warm_up, warm_up},
                                {options.exchange, descend, {momentum}});
}

}  // namespace paceline

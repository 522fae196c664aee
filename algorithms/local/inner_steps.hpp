// The inner steps of methods that train on each worker alone and exchange something else now and
// then:
//
//   x_i, m_i, v_i  <-  a step of the inner optimizer with g_i
//
//   AdamRule       AdamW                                        (optimizers/adam.hpp)
//   LambRule       LAMB                                         (optimizers/lamb.hpp)
//   MuonRule       Muon, and AdamW for what is no matrix        (optimizers/muon.hpp)
//   MomentumRule   momentum SGD, without v_i                    (optimizers/momentum.hpp)
//
// m_i, v_i and the count of steps, which corrections of bias need, stay local: they are 0 when a
// worker's life begins. A step takes the time of a gradient and of the job's update, whatever the
// optimizer: what Muon's products take is not charged.
//
// Steps come in blocks, and what follows the last step of a block says what becomes of m_i and v_i
// there (Buffers).
#pragma once

#include <cstdint>
#include <variant>

#include "algorithms/optimizers/adam.hpp"
#include "algorithms/optimizers/lamb.hpp"
#include "algorithms/optimizers/momentum.hpp"
#include "algorithms/optimizers/muon.hpp"
#include "models/tensors/vector.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class VectorExchange;
class Worker;

using InnerRule = std::variant<AdamRule, LambRule, MuonRule, MomentumRule>;

/// Returns how many vectors a rule remembers besides the model.
[[nodiscard]] constexpr int vectors_of(const InnerRule& rule) {
    return std::holds_alternative<MomentumRule>(rule) ? 1 : 2;
}

/// What the inner optimizer remembers of one worker.
struct InnerState {
    explicit InnerState(const Vector& like, const InnerRule& rule = AdamRule{})
        : m(Vector::zero_like(like)),
          v(vectors_of(rule) > 1 ? Vector::zero_like(like) : Vector(like.layout())) {}

    Vector m;
    Vector v;  // has no values if the rule remembers one vector
    std::int64_t steps = 0;
};

/// Takes a step of the worker's own model. Requires that `state` outlives it.
Task<> inner_step(Worker& self, InnerRule rule, InnerState& state);

/// Returns whether step k is the last of a block of `period` steps. Steps before the first block
/// are blocks of their own.
[[nodiscard]] constexpr bool ends_block(std::int64_t k, std::int64_t period,
                                        std::int64_t first = 0) {
    return k < first || (k + 1 - first) % period == 0;
}

/// What becomes of m_i and v_i at the end of a block: 0, with steps counted anew; what they are;
/// the mean of all workers', one after the other.
enum class Buffers : std::uint8_t { reset, maintain, average };

/// Requires that the exchange and `state` outlive it.
Task<> renew(VectorExchange& exchange, Buffers buffers, InnerRule rule, InnerState& state);

}  // namespace paceline

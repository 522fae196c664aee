// The change that a momentum step makes to a model. It serves methods in which, by the time the
// gradient is applied, the model has moved on from where it was taken, or is a quotient.
//
//   change  =  momentum_step(rule, gamma, g, m, at) - at          (optimizers/momentum.hpp)
//
// So `x += change` is the plain step if x equals `at`. Weight decay uses `at`, where g was taken.
// For vectors without values the change has none either.
#pragma once

#include "algorithms/optimizers/momentum.hpp"

namespace paceline {

[[nodiscard]] inline Vector momentum_change(const MomentumRule& rule, double gamma, const Vector& g,
                                            Vector& m, const Vector& at) {
    Vector moved = at;
    momentum_step(rule, gamma, g, m, moved);
    return moved - at;
}

}  // namespace paceline

// What a momentum step changes: for methods whose gradient belongs to a model that has moved on, or
// is a quotient, by the time it is applied.
//
//   change  =  momentum_step(rule, gamma, g, m, at) - at          (optimizers/momentum.hpp)
//
// so that `x += change` is the step where x is `at` itself. Decay is that of `at`, where g was
// taken. Nothing for vectors without values.
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

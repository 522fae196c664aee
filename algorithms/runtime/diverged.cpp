#include "algorithms/runtime/diverged.hpp"

#include <cmath>

#include <fmt/format.h>

#include "models/tensors/algebra.hpp"

namespace paceline {

void check_finite(const Vector& g, int rank, std::int64_t k) {
    if (g.has_values() && !std::isfinite(sum(g.values())))
        throw Diverged(fmt::format("the gradient of worker {} in step {} is not finite", rank, k));
}

}  // namespace paceline

// Divergence: an outcome of a run, detected where a value that is not finite would be used.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "models/tensors/vector.hpp"

namespace paceline {

/// Thrown to end a run as `diverged`.
struct Diverged : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Throws Diverged if the gradient of worker `rank` in its step k has values that are not finite.
void check_finite(const Vector& g, int rank, std::int64_t k);

}  // namespace paceline

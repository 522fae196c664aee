// Divergence: an outcome of a run, found where a value would be used that is not finite.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "models/vector.hpp"

namespace paceline {

/// Ends a run as `diverged`.
struct Diverged : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Throws Diverged unless the gradient of worker `rank` in its step k is finite, or has no values.
void check_finite(const Vector& g, int rank, std::int64_t k);

}  // namespace paceline

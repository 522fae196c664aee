// Divergence: an outcome of a run, found where a value would be used that is not finite.
#pragma once

#include <stdexcept>
#include <string>

namespace paceline {

/// Ends a run as `diverged`.
struct Diverged : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace paceline

// The number that separates messages between the same hosts by purpose.
#pragma once

#include <cstdint>

namespace paceline {

/// Separates messages by purpose: two streams between the same nodes do not wait for each other.
using Stream = std::uint64_t;

}  // namespace paceline

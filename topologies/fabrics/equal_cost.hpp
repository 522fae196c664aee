// Equal-cost multi-path: which of several equally short paths a pair of hosts takes, by a hash of
// (seed, from, to).
//
// All messages of a pair take one path, like flows hashed by a switch (RFC 2992). The two
// directions are drawn independently. Nothing is stored, so memory does not grow with the number of
// pairs. The hash uses integer arithmetic only and is thus the same on every machine: the output
// function of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). Each path gets its share of the pairs,
// up to the chance of independent draws: n choices leave a bias below n/2^64.
//
// Limits: paths are drawn without regard to load, so two pairs may share a link while another is
// idle, as on real switches. Not for cryptography.
#pragma once

#include <cstdint>

#include "sim/engine/split_mix64.hpp"

namespace paceline {

constexpr std::uint64_t equal_cost_hash(std::uint64_t seed, int from, int to) {
    const auto high = std::uint64_t{static_cast<std::uint32_t>(from)} << 32U;
    return split_mix64(split_mix64(seed) ^ (high | static_cast<std::uint32_t>(to)));
}

/// Returns one of 0 .. choices-1. Requires choices >= 1.
constexpr int choose(std::uint64_t hash, int choices) {
    return static_cast<int>(hash % static_cast<std::uint64_t>(choices));
}

}  // namespace paceline

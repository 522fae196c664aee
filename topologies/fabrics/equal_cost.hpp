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
// on real switches; no choice looks at load. Not for cryptography.
#pragma once

#include <cstdint>

namespace paceline {

/// A bijection of 64-bit numbers that leaves no visible pattern.
constexpr std::uint64_t mix_bits(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
}

constexpr std::uint64_t equal_cost_hash(std::uint64_t seed, int from, int to) {
    const auto high = std::uint64_t{static_cast<std::uint32_t>(from)} << 32U;
    return mix_bits(mix_bits(seed) ^ (high | static_cast<std::uint32_t>(to)));
}

/// Returns one of 0 .. choices-1. Requires choices >= 1.
constexpr int choose(std::uint64_t hash, int choices) {
    return static_cast<int>(hash % static_cast<std::uint64_t>(choices));
}

}  // namespace paceline

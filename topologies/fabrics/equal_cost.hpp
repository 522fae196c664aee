// Which of several equally short ways a pair of hosts takes: a hash of (seed, from, to).
//
// All messages of a pair take one way, as flows hashed by a switch do (equal-cost multi-path, RFC
// 2992), and the way there and the way back are drawn apart. Nothing is stored, so memory does not
// grow with the pairs. The hash is integer arithmetic alone and thus the same on every machine: the
// output function of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). Each way is taken by its share
// of the pairs, give or take the chance of independent draws: n choices leave a bias below n/2^64.
//
// Limits: ways are drawn blindly, so two pairs may share a link while another one idles, as they do
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

/// One of 0 .. choices-1. Requires choices >= 1.
constexpr int choose(std::uint64_t hash, int choices) {
    return static_cast<int>(hash % static_cast<std::uint64_t>(choices));
}

}  // namespace paceline

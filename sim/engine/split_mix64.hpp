// SplitMix64: turns a number into 64 bits that show no pattern.
//
//   x_k = seed + k 0x9E3779B97F4A7C15,  k = 1, 2, ...   (mod 2^64)
//   output k = mix(x_k)
//
// split_mix64(x) is the first output of a generator seeded with x; output k of a seed is
// split_mix64(seed + (k - 1) 0x9E3779B97F4A7C15). It is a bijection of 64-bit numbers in integer
// arithmetic, and so is the same on every machine. Source: Steele, Lea, Flood, OOPSLA 2014; the
// constants are those of Vigna's public-domain splitmix64.c. Not for cryptography.
#pragma once

#include <cstdint>

namespace paceline {

constexpr std::uint64_t split_mix64(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31U);
}

}  // namespace paceline

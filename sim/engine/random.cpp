#include "sim/engine/random.hpp"

#include <array>

namespace paceline {

namespace {

std::uint64_t mix(std::uint64_t x) {  // SplitMix64's output function
    x += 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31U);
}

std::uint64_t fnv1a(std::string_view text) {
    std::uint64_t hash = 0xCBF29CE484222325U;
    for (const char c : text) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 0x100000001B3U;
    }
    return hash;
}

}  // namespace

RandomStream RandomStreams::stream(std::string_view name, std::uint64_t index) const {
    const std::uint64_t key = mix(mix(seed_ ^ mix(fnv1a(name))) + index);
    const std::array<std::uint32_t, 3> words{static_cast<std::uint32_t>(mix(key)),
                                             static_cast<std::uint32_t>(mix(key) >> 32U),
                                             static_cast<std::uint32_t>(mix(key + 1))};
    const auto* first = words.data();
    return {first, first + words.size()};
}

}  // namespace paceline

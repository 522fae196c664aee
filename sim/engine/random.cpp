#include "sim/engine/random.hpp"

#include <array>

#include "sim/engine/split_mix64.hpp"

namespace paceline {

namespace {

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
    const std::uint64_t key = split_mix64(split_mix64(seed_ ^ split_mix64(fnv1a(name))) + index);
    const std::array<std::uint32_t, 3> words{static_cast<std::uint32_t>(split_mix64(key)),
                                             static_cast<std::uint32_t>(split_mix64(key) >> 32U),
                                             static_cast<std::uint32_t>(split_mix64(key + 1))};
    const auto* first = words.data();
    return {first, first + words.size()};
}

}  // namespace paceline

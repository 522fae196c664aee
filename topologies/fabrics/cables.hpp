// Cables, the building blocks of fabrics. A cable is full duplex: two equal links that do not
// interfere with each other.
//
// Cable c has the links 2c, from its first end to its second, and 2c+1, back. A fabric numbers its
// cables by a formula given in its header, so routes need no tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "sim/network/fabric.hpp"

namespace paceline {

/// The largest number of cables, because links have 32-bit numbers.
inline constexpr std::int64_t most_cables = std::numeric_limits<LinkId>::max() / 2;

/// The links of a cable.
constexpr LinkId forth(std::int64_t cable) {
    return static_cast<LinkId>(2 * cable);
}
constexpr LinkId back(std::int64_t cable) {
    return static_cast<LinkId>(2 * cable + 1);
}

/// Adds `count` identical cables.
inline void add_cables(Fabric& fabric, std::int64_t count, const Link& link) {
    for (std::int64_t i = 0; i < count; ++i) {
        const auto first = static_cast<LinkId>(fabric.links.size());
        fabric.links.insert(fabric.links.end(), 2, link);
        fabric.back.insert(fabric.back.end(), {first + 1, first});
    }
}

}  // namespace paceline

// How numbers travel: the weight of a message of n entries. State in memory is double precision,
// whatever the wire format is.
#pragma once

#include <cstdint>

#include "sim/engine/units.hpp"

namespace paceline {

struct WireFormat {
    std::int64_t bytes_per_entry = 4;

    [[nodiscard]] constexpr Bytes weigh(std::int64_t entries) const {
        return entries * Bytes{bytes_per_entry};
    }
};

inline constexpr WireFormat fp32{4};
inline constexpr WireFormat fp16{2};

}  // namespace paceline

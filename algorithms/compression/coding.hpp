// The time that compression and decompression take on the device.
//
// Counted, by default:     time  =  passes x entries x s
//
// A pass reads an entry, computes and writes one. Each compressor declares its number of passes (to
// encode, and to decode each message received). Devices run passes at the speed of their memory:
// 8 bytes per entry at the 900 GB/s of a V100 give s = 9 ps (NVIDIA's whitepaper, by way of notes).
// s = 0: free.
//
// Measured, for one codec on one device:
//
//     encode  =  tensors x a_e + entries x b_e
//     decode  =  messages x (tensors x a_d + entries held x b_d)
//
// Entries held are those that a message holds: k for sparse messages. A tensor costs a even if it
// is small: that is the launch of its kernels. Measured times stand for all passes of the codec,
// those of its error feedback too. A tensor that is left out costs nothing.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/engine/units.hpp"

namespace paceline {

/// What one tensor, and one entry, take.
struct CodingTime {
    Duration per_tensor{};
    Duration per_entry{};

    [[nodiscard]] Duration of(std::int64_t tensors, std::int64_t entries) const {
        return sum(multiple(tensors, per_tensor), multiple(entries, per_entry));
    }
};

struct MeasuredCoding {
    CodingTime encode{};
    CodingTime decode{};  // of a message
};

struct CodingCost {
    Duration per_entry{9};                     // s, per pass
    std::optional<MeasuredCoding> measured{};  // in place of the codec's passes
};

[[nodiscard]] inline Duration coding_time(const CodingCost& cost, std::int64_t passes,
                                          std::int64_t entries) {
    return multiple(passes, multiple(entries, cost.per_entry));
}

}  // namespace paceline

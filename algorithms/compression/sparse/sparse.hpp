// The wire size of a sparse gradient, and how its support grows as contributions merge.
//
// A worker keeps k_j = ceil(density n_j) entries of each compressible tensor j of n_j entries. Each
// entry is sent as value and position. The other (one-dimensional) tensors travel uncompressed.
//
//   law          nonzeros of tensor j after c contributions have merged
//   worst-case   min(n_j, c k_j)                     disjoint supports (Lin et al., ICLR 2018, Fig.
//                                                    6)
//   independent  ceil(n_j (1 - (1 - k_j/n_j)^c))     supports drawn independently
//
// A tensor is sent dense if its sparse form would weigh more.
//
// There are two ways to count one worker's bytes: nominal, as papers do (6 bytes per kept entry: a
// 32-bit value and a 16-bit run length, fractions of entries included), and the bytes of the
// message that is actually sent.
#pragma once

#include <compare>
#include <cstdint>

#include "models/tensors/layout.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

enum class DensityLaw : std::uint8_t { worst_case, independent };

/// Bytes per entry of the usual encodings: 6 (fp32 + 16-bit run length, or fp16 + int32), 8 (fp32 +
/// int32), 12 (fp32 + int64). With fp16, dense entries have 2 bytes, and all values are cast.
struct SparseFormat {
    std::int64_t bytes_per_entry = 6;
    std::int64_t bytes_per_dense_entry = 4;
    bool half = false;  // values are cast to half precision (half.hpp)

    auto operator<=>(const SparseFormat&) const = default;
};

/// Returns ceil(density n). Requires 0 < density <= 1.
std::int64_t kept_entries(std::int64_t entries, double density);

/// Returns the number of nonzeros after merging c `contributions` of `kept` entries each.
std::int64_t merged_entries(std::int64_t entries, std::int64_t kept, int contributions,
                            DensityLaw law);

/// Returns the bytes of the compressible tensors in a message that merges c `contributions`.
Bytes sparse_bytes(const Layout& layout, double density, int contributions, DensityLaw law,
                   const SparseFormat& format);

/// Returns the bytes of the other tensors in one contribution.
Bytes uncompressed_bytes(const Layout& layout, const SparseFormat& format);

/// Returns the bytes as papers count them, 6 density (entries of compressible tensors) + 4 (other
/// entries), rounded to the nearest byte.
Bytes nominal_bytes(const Layout& layout, double density);

}  // namespace paceline

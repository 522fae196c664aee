// The simulated time of top-k selection: finding the largest entries of a tensor.
//
//   free      nothing: what the scalability figure of the DGC paper assumes
//   exact     sort-like selection over all n entries:           s n log2 n
//   sampled   find the threshold from a sample of m = max(ceil(q n), ceil(2/density)) entries,
//             then select exactly among the entries above it, taken to be 1.3 k:
//                                                               s (m log2 m + 1.3 k log2 1.3 k)
//             A tensor of at most 2/density entries is searched whole. The pass that compares all
//             entries with the threshold is not charged: it is one read of the tensor.
//
// s is a property of the device: 219 ps on a P102-100, 500 ps on a V100 (constants in the released
// code of HKBU-HPML/gtopkssgd). q, the share of the sample, is 0.001 to 0.01 in the paper (Lin et
// al., ICLR 2018). Sampling rule, with q = 0.01: released DGC code
// (synxlin/deep-gradient-compression).
#pragma once

#include <compare>
#include <cstdint>

#include "algorithms/compression/sparse/top_k.hpp"
#include "models/tensors/layout.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

enum class Selection : std::uint8_t { free, exact, sampled };

struct SelectionCost {
    Selection method = Selection::sampled;
    Duration per_comparison{219};   // s
    double share = released_share;  // q, in (0, 1]

    auto operator<=>(const SelectionCost&) const = default;
};

/// Returns the time for one tensor of n entries of which ceil(density n) are kept.
Duration selection_time(const SelectionCost& cost, std::int64_t entries, double density);

/// Returns the time for all compressible tensors of a layout, one after the other.
Duration selection_time(const SelectionCost& cost, const Layout& layout, double density);

}  // namespace paceline

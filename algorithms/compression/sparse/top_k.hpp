// Top-k selection: finds the largest entries of a tensor by absolute value.
//
//   exact     the k largest; ties go to the entries that come first
//   sampled   as in the released code of DGC (synxlin/deep-gradient-compression,
//             dgc/compression.py): a threshold from a sample, adjusted up to ten times
//
// Sampled, for n entries at density d, k = ceil(d n):
//   1. sample every s-th |v| from a random start in [0, s), at least
//      w = max(ceil(q n), ceil(2/d)) of them (q = 0.01 there): s begins at ceil(n/w/32) 32 + 1 and
//      falls by 8 until floor(n/s) >= w. If n <= ceil(2/d), or s reaches 1, all entries are the
//      sample.
//   2. threshold = the smallest of the top ceil(d floor(n/s)) of the sample; select |v| >= it.
//   3. If more than 1.3 k are selected: keep the exact k largest among those and stop (hierarchical
//      selection). If fewer than 0.8 k: multiply the threshold by 0.8 and select again. Otherwise
//      stop. At most ten rounds, and none if all entries were the sample.
//   4. Cut off everything after the first k, by position.
// So between 0.8 k and k entries are selected, unless ten rounds are not enough (an |v| with very
// heavy tails). At density 1 all are selected.
//
// The exact selection first searches the entries above a guess from a sample. This affects its time
// and never its result: O(n) for one pass and O(k) for the rest, as long as k is a small part of n.
//
// If any value is not finite, the functions return false and select nothing, before they compare
// anything. All memory is the caller's scratch. Once it has grown to twice what is found, nothing
// is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/engine/random.hpp"

namespace paceline {

struct TopKScratch {
    std::vector<double> magnitudes;
    std::vector<std::int64_t> positions;
    std::size_t count = 0;
    bool finite = true;  // of the selection in progress

    /// Returns the positions that the last selection selected, ascending.
    [[nodiscard]] std::span<const std::int64_t> selected() const {
        return {positions.data(), count};
    }
};

/// How the released code samples a tensor: `samples` entries, `stride` apart (one more if the start
/// is early).
struct SamplingPlan {
    std::int64_t stride;
    std::int64_t samples;
};
/// The share q of the entries that a sample has at least.
inline constexpr double released_share = 0.01;

/// Requires entries >= 1, 0 < density <= 1 and 0 < share <= 1.
SamplingPlan sampling_plan(std::int64_t entries, double density, double share = released_share);

[[nodiscard]] bool all_finite(std::span<const double> v);

/// Selects the k largest. Requires 0 <= k <= v.size().
[[nodiscard]] bool select_exact(std::span<const double> v, std::int64_t k, TopKScratch& scratch);

/// Sets all but the k largest to zero. Leaves v as it is if a value is not finite.
void keep_only_largest(std::span<double> v, std::int64_t k, TopKScratch& scratch);

/// Selects the k largest of values that are still being computed: call begin_exact, then look_at
/// for each part in order as soon as it is computed, then finish_exact. The result does not depend
/// on `guess`. look_at collects the entries that reach the guess while they are in the cache. If
/// fewer than k do, finish_exact searches v again.
void begin_exact(TopKScratch& scratch);
void look_at(std::span<const double> v, std::size_t first, std::size_t last, double guess,
             TopKScratch& scratch);
[[nodiscard]] bool finish_exact(std::span<const double> v, std::int64_t k, TopKScratch& scratch);

/// Selects about ceil(density v.size()) of the largest. Requires 0 < density <= 1, 0 < share <= 1.
[[nodiscard]] bool select_sampled(std::span<const double> v, double density, RandomStream& random,
                                  TopKScratch& scratch, double share = released_share);

/// Selects the entries with |v| > threshold.
[[nodiscard]] bool select_beyond(std::span<const double> v, double threshold, TopKScratch& scratch);

/// Returns the rank-th smallest (0, 1, ...) of |v| at 0, stride, 2 stride, ..., `samples` of them.
/// Requires finite values, rank < samples and that the samples lie within v.
[[nodiscard]] double sampled_magnitude(std::span<const double> v, std::int64_t stride,
                                       std::int64_t samples, std::int64_t rank,
                                       TopKScratch& scratch);

}  // namespace paceline

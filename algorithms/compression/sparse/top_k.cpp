#include "algorithms/compression/sparse/top_k.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include <boost/random/uniform_int_distribution.hpp>

#include "algorithms/compression/sparse/sparse.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

// How the released code adjusts its threshold.
constexpr double too_many = 1.3;
constexpr double too_few = 0.8;
constexpr int most_rounds = 10;

// Appends the positions in [begin, end) with |v| >= threshold to the selection, in order. Nearly
// all blocks have none and are skipped. In the others every position is written, but counted only
// if it is selected, so that the loop has no branch.
void select_more(std::span<const double> v, std::size_t begin, std::size_t end, double threshold,
                 TopKScratch& scratch) {
    constexpr std::size_t block = 64;
    const double* value = v.data();
    std::size_t count = scratch.count;
    for (std::size_t first = begin; first < end; first += block) {
        const std::size_t last = std::min(first + block, end);
        std::int64_t hits = 0;
        for (std::size_t i = first; i < last; ++i) hits += std::abs(value[i]) >= threshold ? 1 : 0;
        if (hits == 0) continue;
        if (scratch.positions.size() < count + block) scratch.positions.resize(2 * count + block);
        std::int64_t* selected = scratch.positions.data();
        for (std::size_t i = first; i < last; ++i) {
            selected[count] = static_cast<std::int64_t>(i);
            count += std::abs(value[i]) >= threshold ? 1U : 0U;
        }
    }
    scratch.count = count;
}

void select_from(std::span<const double> v, double threshold, TopKScratch& scratch) {
    scratch.count = 0;
    select_more(v, 0, v.size(), threshold, scratch);
}

// Keeps the k largest of the selected entries; ties go to those that come first.
void keep_largest(std::span<const double> v, std::size_t k, TopKScratch& scratch) {
    if (scratch.count <= k) return;
    if (k == 0) {
        scratch.count = 0;
        return;
    }
    if (scratch.magnitudes.size() < scratch.count) scratch.magnitudes.resize(scratch.count);
    double* magnitude = scratch.magnitudes.data();
    std::int64_t* selected = scratch.positions.data();
    const auto at = [&](std::int64_t i) { return std::abs(v[static_cast<std::size_t>(i)]); };
    for (std::size_t i = 0; i < scratch.count; ++i) magnitude[i] = at(selected[i]);
    std::nth_element(magnitude, magnitude + k - 1, magnitude + scratch.count, std::greater<>{});
    const double least = magnitude[k - 1];
    const auto beyond = static_cast<std::size_t>(
        std::count_if(magnitude, magnitude + k, [least](double m) { return m > least; }));

    std::size_t ties = k - beyond;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < scratch.count; ++i) {
        const double m = at(selected[i]);
        const bool keeps = m > least || (m == least && ties > 0);
        if (keeps && m == least) --ties;
        selected[kept] = selected[i];
        kept += keeps ? 1U : 0U;
    }
    scratch.count = kept;
}

// Returns the rank-th largest (1, 2, ...) of `samples` magnitudes, sampled from `start` on.
double sampled_threshold(std::span<const double> v, std::int64_t start, const SamplingPlan& plan,
                         std::int64_t rank, TopKScratch& scratch) {
    const auto samples = static_cast<std::size_t>(plan.samples);
    if (scratch.magnitudes.size() < samples) scratch.magnitudes.resize(samples);
    double* sample = scratch.magnitudes.data();
    for (std::int64_t i = 0; i < plan.samples; ++i)
        sample[i] = std::abs(v[static_cast<std::size_t>(start + i * plan.stride)]);
    std::nth_element(sample, sample + rank - 1, sample + plan.samples, std::greater<>{});
    return sample[rank - 1];
}

// Returns a threshold that slightly more than k entries probably reach. It is taken from 1/61 of
// the entries: the magnitude that 1.5 k entries reach, plus a margin of 8 sampled entries. Returns
// 0 where a guess does not pay.
double guess(std::span<const double> v, std::int64_t k, TopKScratch& scratch) {
    constexpr std::int64_t stride = 61;
    const auto n = static_cast<std::int64_t>(v.size());
    const SamplingPlan plan{stride, n / stride};
    const std::int64_t rank = k + k / 2 + 8 * stride;
    if (4 * rank > n) return 0;
    return sampled_threshold(v, 0, plan, rank / stride, scratch);
}

}  // namespace

SamplingPlan sampling_plan(std::int64_t entries, double density, double share) {
    const auto n = static_cast<double>(entries);
    const auto least = static_cast<std::int64_t>(std::ceil(2 / density));
    if (entries <= least) return {1, entries};
    const std::int64_t wanted = std::max(static_cast<std::int64_t>(std::ceil(n * share)), least);
    std::int64_t stride =
        static_cast<std::int64_t>(std::ceil(n / static_cast<double>(wanted) / 32)) * 32 + 1;
    while (entries / stride < wanted) stride -= 8;
    return {stride, entries / stride};
}

bool all_finite(std::span<const double> v) {
    // Magnitudes are ordered as their bits are, with all values that are not finite last. This uses
    // integers because a maximum of doubles drops a NaN, and that reduction does not vectorize.
    constexpr std::uint64_t sign = std::uint64_t{1} << 63U;
    constexpr auto infinity = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity());
    std::uint64_t largest = 0;
    for (const double x : v) largest = std::max(largest, std::bit_cast<std::uint64_t>(x) & ~sign);
    return largest < infinity;
}

bool select_exact(std::span<const double> v, std::int64_t k, TopKScratch& scratch) {
    begin_exact(scratch);
    scratch.finite = all_finite(v);
    return finish_exact(v, k, scratch);
}

void keep_only_largest(std::span<double> v, std::int64_t k, TopKScratch& scratch) {
    if (!select_exact(v, k, scratch)) return;
    auto from = v.begin();
    for (const std::int64_t i : scratch.selected()) {
        std::fill(from, v.begin() + i, 0.0);
        from = v.begin() + i + 1;
    }
    std::fill(from, v.end(), 0.0);
}

void begin_exact(TopKScratch& scratch) {
    scratch.count = 0;
    scratch.finite = true;
}

void look_at(std::span<const double> v, std::size_t first, std::size_t last, double guess,
             TopKScratch& scratch) {
    if (!all_finite(v.subspan(first, last - first))) scratch.finite = false;
    select_more(v, first, last, guess, scratch);
}

bool finish_exact(std::span<const double> v, std::int64_t k, TopKScratch& scratch) {
    const auto wanted = static_cast<std::size_t>(k);
    PACELINE_CHECK(k >= 0 && wanted <= v.size(), "no more entries are selected than there are");
    if (!scratch.finite) {
        scratch.count = 0;
        return false;
    }
    if (scratch.count < wanted) select_from(v, guess(v, k, scratch), scratch);
    if (scratch.count < wanted) select_from(v, 0, scratch);
    keep_largest(v, wanted, scratch);
    return true;
}

bool select_sampled(std::span<const double> v, double density, RandomStream& random,
                    TopKScratch& scratch, double share) {
    scratch.count = 0;
    if (!all_finite(v)) return false;
    if (v.empty()) return true;
    const auto n = static_cast<std::int64_t>(v.size());
    const std::int64_t k = kept_entries(n, density);
    if (density >= 1) return select_exact(v, k, scratch);
    const auto wanted = static_cast<std::size_t>(k);
    const SamplingPlan plan = sampling_plan(n, density, share);
    boost::random::uniform_int_distribution<std::int64_t> any_start(0, plan.stride - 1);
    const std::int64_t start = plan.stride > 1 ? any_start(random) : 0;
    const std::int64_t sampled = (n - start + plan.stride - 1) / plan.stride;
    double threshold = sampled_threshold(v, start, {plan.stride, sampled},
                                         kept_entries(plan.samples, density), scratch);
    select_from(v, threshold, scratch);

    for (int round = 0; plan.samples < n && round < most_rounds; ++round) {
        const auto selected = static_cast<double>(scratch.count);
        if (selected > too_many * static_cast<double>(k)) {
            keep_largest(v, wanted, scratch);
            break;
        }
        if (selected >= too_few * static_cast<double>(k)) break;
        threshold *= too_few;
        select_from(v, threshold, scratch);
    }
    scratch.count = std::min(scratch.count, wanted);
    return true;
}

bool select_beyond(std::span<const double> v, double threshold, TopKScratch& scratch) {
    scratch.count = 0;
    if (!all_finite(v)) return false;
    select_from(v, std::nextafter(threshold, std::numeric_limits<double>::infinity()), scratch);
    return true;
}

double sampled_magnitude(std::span<const double> v, std::int64_t stride, std::int64_t samples,
                         std::int64_t rank, TopKScratch& scratch) {
    PACELINE_CHECK(0 <= rank && rank < samples, "a rank is one of a sample");
    PACELINE_CHECK((samples - 1) * stride < static_cast<std::int64_t>(v.size()),
                   "samples lie within the vector");
    return sampled_threshold(v, 0, {stride, samples}, samples - rank, scratch);
}

}  // namespace paceline

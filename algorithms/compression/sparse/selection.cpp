#include "algorithms/compression/sparse/selection.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/compression/sparse/sparse.hpp"
#include "sim/numeric/elementary.hpp"

namespace paceline {

namespace {

double comparisons(double n) {
    return n > 1 ? n * elementary::log2(n) : 0;
}

}  // namespace

Duration selection_time(const SelectionCost& cost, std::int64_t entries, double density) {
    if (cost.method == Selection::free) return {};
    const auto n = static_cast<double>(entries);
    double steps = comparisons(n);
    const double least = std::ceil(2 / density);
    if (cost.method == Selection::sampled && n > least) {
        const double sample = std::max(std::ceil(n * cost.share), least);
        const double above = std::min(n, 1.3 * static_cast<double>(kept_entries(entries, density)));
        steps = comparisons(sample) + comparisons(above);
    }
    return from_seconds(to_seconds(cost.per_comparison) * steps);
}

Duration selection_time(const SelectionCost& cost, const Layout& layout, double density) {
    Duration total{};
    for (const auto& [entries, tensors] : layout.compressible_sizes())
        total = sum(total, multiple(tensors, selection_time(cost, entries, density)));
    return total;
}

}  // namespace paceline

#include "analysis/forms/sparse_forms.hpp"

#include <algorithm>
#include <cmath>

#include "sim/numeric/elementary.hpp"

namespace paceline {

namespace {

double form_of_kept(double n, double density) {
    return std::min(n, std::ceil(density * n * (1 - 1e-12)));
}

double form_of_nonzeros(double n, double density, int c, DensityLaw law) {
    const double k = form_of_kept(n, density);
    if (c == 1) return k;
    if (law == DensityLaw::worst_case) return std::min(n, c * k);
    const double nobody = elementary::log1p(-k / n);  // log(1 - k/n): one worker leaves it out
    return std::min(n, std::ceil(n * -elementary::expm1(c * nobody)));
}

double n_log_n(double n) {
    return n > 1 ? n * elementary::log2(n) : 0;
}

Duration comparisons(const SelectionCost& cost, double count) {
    return from_seconds(to_seconds(cost.per_comparison) * count);
}

Duration form_of_tensor(const SelectionCost& cost, double n, double density) {
    const double few = std::ceil(2 / density);
    if (cost.method == Selection::exact || n <= few) return comparisons(cost, n_log_n(n));
    const double m = std::max(std::ceil(n * cost.share), few);
    const double a = std::min(n, 1.3 * form_of_kept(n, density));
    return comparisons(cost, n_log_n(m) + n_log_n(a));
}

}  // namespace

Bytes form_of_union(const DgcOptions& options, const Layout& layout, double density, int c) {
    std::int64_t bytes = 0;
    for (const auto& [n, tensors] : layout.compressible_sizes()) {
        if (n == 0) continue;
        const auto z = static_cast<std::int64_t>(
            form_of_nonzeros(static_cast<double>(n), density, c, options.law));
        bytes += tensors * std::min(options.format.bytes_per_entry * z,
                                    options.format.bytes_per_dense_entry * n);
    }
    if (options.uncompressed == Uncompressed::apart) return {bytes};
    return Bytes{bytes} + c * form_of_rest(layout, options.format);
}

std::int64_t form_of_kept(const Layout& layout, double density) {
    std::int64_t kept = 0;
    for (const auto& [n, tensors] : layout.compressible_sizes())
        kept += tensors * static_cast<std::int64_t>(form_of_kept(static_cast<double>(n), density));
    return kept;
}

Bytes form_of_message(const Layout& layout, double density, const SparseFormat& format) {
    const DgcOptions whole{.format = format, .uncompressed = Uncompressed::in_messages};
    return form_of_union(whole, layout, density, 1);
}

Bytes form_of_rest(const Layout& layout, const SparseFormat& format) {
    return {format.bytes_per_dense_entry * layout.incompressible_entries()};
}

Bytes form_of_dense(const Layout& layout, const SparseFormat& format) {
    return {format.bytes_per_dense_entry * layout.entries()};
}

Duration form_of_selection(const SelectionCost& cost, const Layout& layout, double density) {
    Duration total{};
    if (cost.method == Selection::free) return total;
    for (const auto& [n, tensors] : layout.compressible_sizes())
        total =
            sum(total, multiple(tensors, form_of_tensor(cost, static_cast<double>(n), density)));
    return total;
}

Duration form_of_search(const SelectionCost& cost, std::int64_t entries) {
    if (cost.method == Selection::free) return {};
    const std::int64_t sorted =
        cost.method == Selection::exact ? entries : std::min<std::int64_t>(entries, 100'000);
    return comparisons(cost, n_log_n(static_cast<double>(sorted)));
}

}  // namespace paceline

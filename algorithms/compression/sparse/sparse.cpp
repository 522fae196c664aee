#include "algorithms/compression/sparse/sparse.hpp"

#include <algorithm>
#include <cmath>

#include "sim/engine/check.hpp"
#include "sim/numeric/elementary.hpp"

namespace paceline {

std::int64_t kept_entries(std::int64_t entries, double density) {
    PACELINE_CHECK(density > 0 && density <= 1, "a density lies in (0, 1]");
    // A product such as 0.07 * 100 may come out slightly above the integer it stands for.
    const double exact = density * static_cast<double>(entries);
    const double tolerance = 1e-12 * exact;
    return std::min(entries, static_cast<std::int64_t>(std::ceil(exact - tolerance)));
}

std::int64_t merged_entries(std::int64_t entries, std::int64_t kept, int contributions,
                            DensityLaw law) {
    if (contributions == 1 || entries == 0) return kept;
    if (law == DensityLaw::worst_case)  // min(entries, contributions * kept), without overflow
        return kept > entries / contributions ? entries : contributions * kept;
    const auto n = static_cast<double>(entries);
    const double share =
        -elementary::expm1(contributions * elementary::log1p(-static_cast<double>(kept) / n));
    return std::min(entries, static_cast<std::int64_t>(std::ceil(n * share)));
}

Bytes sparse_bytes(const Layout& layout, double density, int contributions, DensityLaw law,
                   const SparseFormat& format) {
    Bytes sum;
    for (const auto& [n, tensors] : layout.compressible_sizes()) {
        const std::int64_t nonzeros =
            merged_entries(n, kept_entries(n, density), contributions, law);
        sum += tensors * std::min(nonzeros * Bytes{format.bytes_per_entry},
                                  n * Bytes{format.bytes_per_dense_entry});
    }
    return sum;
}

Bytes uncompressed_bytes(const Layout& layout, const SparseFormat& format) {
    return layout.incompressible_entries() * Bytes{format.bytes_per_dense_entry};
}

Bytes nominal_bytes(const Layout& layout, double density) {
    const auto dense = static_cast<double>(layout.incompressible_entries());
    const auto compressible = static_cast<double>(layout.entries()) - dense;
    return {std::llround(6 * density * compressible + 4 * dense)};
}

}  // namespace paceline

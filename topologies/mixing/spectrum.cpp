#include "topologies/mixing/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <vector>

#include "sim/engine/check.hpp"
#include "sim/numeric/elementary.hpp"
#include "topologies/mixing/eigenvalues.hpp"
#include "topologies/mixing/graphs.hpp"

namespace paceline {

namespace {

double modulus(const std::complex<double>& z) {
    return std::sqrt(z.real() * z.real() + z.imag() * z.imag());
}

// Returns whether every row is the first row shifted, up to rounding.
bool is_circulant(const Mixing& w) {
    const int n = w.nodes();
    const std::vector<MixingWeight>& first = w.row(0);
    for (int i = 1; i < n; ++i) {
        const std::vector<MixingWeight>& row = w.row(i);
        if (row.size() != first.size()) return false;
        // Sorted by node, the shifted row begins with the entries that wrap around.
        const auto wraps = std::ranges::lower_bound(first, n - i, {}, &MixingWeight::node);
        auto k = static_cast<std::size_t>(wraps - first.begin()) % first.size();
        for (const MixingWeight& weight : row) {
            if (weight.node != (first[k].node + i) % n) return false;
            if (std::abs(weight.weight - first[k].weight) > 1e-12) return false;
            k = (k + 1) % first.size();
        }
    }
    return true;
}

std::complex<double> root_of_unity(std::size_t j, std::size_t n) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(n);
    return {elementary::cos(angle), elementary::sin(angle)};
}

// The largest modulus and the least real part of the eigenvalues of a product of circulants, except
// the eigenvalue of the mean. Eigenvalues j and n - j are conjugates.
struct Extremes {
    double modulus = 0;
    double least = 1;
};

Extremes extremes_of_circulants(const std::vector<MixingPtr>& factors) {
    using Complex = std::complex<double>;
    const auto n = static_cast<std::size_t>(factors.front()->nodes());
    std::vector<Complex> roots;
    for (std::size_t j = 0; j < n; ++j) roots.push_back(root_of_unity(j, n));
    constexpr double rounding = 1e-13;  // in products that are exactly zero
    Extremes found;
    for (std::size_t j = 1; 2 * j <= n; ++j) {
        Complex product = 1;
        for (const MixingPtr& w : factors) {
            Complex eigenvalue = 0;
            for (const MixingWeight& weight : w->row(0))
                eigenvalue += weight.weight * roots[j * static_cast<std::size_t>(weight.node) % n];
            product *= eigenvalue;
        }
        if (modulus(product) > rounding) found.modulus = std::max(found.modulus, modulus(product));
        found.least = std::min(found.least, product.real());
    }
    return {std::min(found.modulus, 1.0), std::max(found.least, -1.0)};
}

// Requires a symmetric mixing in one part.
ExtremeEigenvalues extremes_of_part(const Mixing& mixing) {
    if (mixing.nodes() == 1) return {.second = 0, .least = 1};
    if (mixing.nodes() <= most_dense_nodes) return dense_extremes(mixing);
    return iterated_extremes(mixing);
}

std::optional<double> least_of_part(const Mixing& mixing) {
    if (mixing.nodes() > 1 && is_circulant(mixing))
        return extremes_of_circulants({std::make_shared<const Mixing>(mixing)}).least;
    return extremes_of_part(mixing).least;
}

std::optional<double> least_of_parts(const Mixing& mixing, const MixingParts& parts) {
    double least = 1;
    for (const Mixing& part : split(mixing, parts)) {
        const std::optional<double> of_part = least_of_part(part);
        if (!of_part) return std::nullopt;
        least = std::min(least, *of_part);
    }
    return least;
}

std::optional<double> norm_on_mean_zero(const std::vector<MixingPtr>& factors) {
    return factors.front()->nodes() <= most_dense_nodes ? dense_norm_on_mean_zero(factors)
                                                        : iterated_norm_on_mean_zero(factors);
}

std::vector<MixingPtr> factors_of(const MixingSchedule& schedule) {
    std::vector<MixingPtr> factors;
    for (std::int64_t step = 0; step < schedule.period(); ++step)
        factors.push_back(schedule.at(step));
    return factors;
}

void of_one_part(Spectrum& spectrum, const std::vector<MixingPtr>& factors, bool has_least) {
    if (std::ranges::all_of(factors, [](const MixingPtr& w) { return is_circulant(*w); })) {
        const Extremes found = extremes_of_circulants(factors);
        spectrum.rho = found.modulus;
        if (has_least) spectrum.least = found.least;
        return;
    }
    if (!has_least) {
        spectrum.rho = norm_on_mean_zero(factors);
        return;
    }
    const ExtremeEigenvalues found = extremes_of_part(*factors.front());
    spectrum.least = found.least;
    if (found.second && found.least)
        spectrum.rho = std::max(std::abs(*found.second), std::abs(*found.least));
}

Spectrum of_period(const MixingSchedule& schedule) {
    const std::vector<MixingPtr> factors = factors_of(schedule);
    const MixingParts parts = parts_of(schedule);
    Spectrum spectrum{.steps = schedule.period(), .parts = parts.count};
    spectrum.symmetric =
        std::ranges::all_of(factors, [](const MixingPtr& w) { return is_symmetric(*w); });
    const bool has_least = spectrum.symmetric && schedule.is_static();
    if (schedule.nodes() == 1) {
        spectrum.rho = 0;
        if (has_least) spectrum.least = 1;
    } else if (parts.count > 1) {
        spectrum.rho = 1;
        if (has_least) spectrum.least = least_of_parts(*factors.front(), parts);
    } else {
        of_one_part(spectrum, factors, has_least);
    }
    return spectrum;
}

}  // namespace

std::optional<double> Spectrum::gap() const {
    if (!rho) return std::nullopt;
    return 1 - elementary::pow(*rho, 1 / static_cast<double>(steps));
}

Spectrum spectrum(const MixingSchedule& schedule) {
    PACELINE_CHECK(!schedule.empty(), "a spectrum is that of mixings");
    if (!schedule.is_drawn()) return of_period(schedule);
    Spectrum spectrum{.symmetric = true};
    if (schedule.mean_square()) spectrum.rho = std::sqrt(*schedule.mean_square());
    for (std::int64_t step = 0; step < 8; ++step)
        spectrum.symmetric = spectrum.symmetric && is_symmetric(*schedule.at(step));
    return spectrum;
}

}  // namespace paceline

#include "topologies/mixing/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <Spectra/SymEigsSolver.h>

#include "sim/engine/check.hpp"
#include "sim/numeric/elementary.hpp"
#include "sim/numeric/sums.hpp"
#include "topologies/mixing/graphs.hpp"

namespace paceline {

namespace {

using Vec = Eigen::VectorXd;

Vec multiply(const Mixing& w, const Vec& x) {
    Vec y(x.size());
    for (int i = 0; i < w.nodes(); ++i) {
        double sum = 0;
        for (const MixingWeight& weight : w.row(i)) sum += weight.weight * x(weight.node);
        y(i) = sum;
    }
    return y;
}

Vec multiply_transposed(const Mixing& w, const Vec& x) {
    Vec y = Vec::Zero(x.size());
    for (int i = 0; i < w.nodes(); ++i)
        for (const MixingWeight& weight : w.row(i)) y(weight.node) += weight.weight * x(i);
    return y;
}

std::span<const double> entries(const Vec& x) {
    return {x.data(), static_cast<std::size_t>(x.size())};
}

double mean(const Vec& x) {
    return sum(entries(x)) / static_cast<double>(x.size());
}

double modulus(const std::complex<double>& z) {
    return std::sqrt(z.real() * z.real() + z.imag() * z.imag());
}

// A symmetric matrix in the form Spectra needs: its product with a vector.
template <class Apply>
class Operator {
  public:
    using Scalar = double;

    Operator(int nodes, Apply apply) : nodes_(nodes), apply_(std::move(apply)) {}
    [[nodiscard]] Eigen::Index rows() const { return nodes_; }
    [[nodiscard]] Eigen::Index cols() const { return nodes_; }
    // NOLINTNEXTLINE(readability-identifier-naming): Spectra's name
    void perform_op(const double* in, double* out) const {
        const Vec x = Eigen::Map<const Vec>(in, nodes_);
        Eigen::Map<Vec>(out, nodes_) = apply_(x);
    }

  private:
    int nodes_;
    Apply apply_;
};

// Returns an extreme eigenvalue of a matrix with eigenvalues in [-1, 1]. Spectra always starts with
// the same vector, so the result is reproducible. Requires at least three nodes.
template <class Apply>
std::optional<double> extreme_eigenvalue(int nodes, Apply apply, Spectra::SortRule which) {
    PACELINE_CHECK(nodes >= 3, "Lanczos needs three nodes");
    constexpr int basis = 40;
    constexpr int restarts = 2000;
    constexpr double tolerance = 1e-11;
    Operator op(nodes, std::move(apply));
    Spectra::SymEigsSolver<decltype(op)> solver(op, 1, std::min(nodes, basis));
    solver.init();
    solver.compute(which, restarts, tolerance, which);
    if (solver.info() != Spectra::CompInfo::Successful) return std::nullopt;
    return solver.eigenvalues()(0);
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

// The largest modulus and the least real part of the eigenvalues of a product of circulants, except
// the eigenvalue of the mean. Eigenvalues j and n - j are conjugates.
struct Extremes {
    double modulus = 0;
    double least = 1;
};
std::complex<double> root_of_unity(std::size_t j, std::size_t n) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(n);
    return {elementary::cos(angle), elementary::sin(angle)};
}

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
    return found;
}

// Returns |W_(p-1) .. W_0 - J|.
std::optional<double> norm_on_mean_zero(const std::vector<MixingPtr>& factors) {
    const auto apply = [&factors](const Vec& x) {
        Vec y = x.array() - mean(x);
        for (const MixingPtr& w : factors) y = multiply(*w, y);
        for (auto w = factors.rbegin(); w != factors.rend(); ++w) y = multiply_transposed(**w, y);
        return Vec(y.array() - mean(y));
    };
    // Spectra 1.0 throws on a matrix that is zero up to rounding. A matrix that maps an
    // unstructured vector to zero is one.
    const int nodes = factors.front()->nodes();
    Vec probe(nodes);
    for (int i = 0; i < nodes; ++i)
        probe(i) = elementary::sin(std::fmod((i + 1.0) * (i + 1.0), 1000.0));
    if (norm(entries(apply(probe))) <= 1e-14 * norm(entries(probe))) return 0;
    if (nodes == 2) {
        const Vec x = Vec::LinSpaced(2, -1, 1);
        return std::sqrt(dot(entries(x), entries(apply(x))) / 2);
    }
    const auto square = extreme_eigenvalue(nodes, apply, Spectra::SortRule::LargestAlge);
    if (!square) return std::nullopt;
    return std::sqrt(std::max(0.0, *square));
}

void use_symmetric(Spectrum& spectrum, const Mixing& w) {
    // W - 2J moves the eigenvalue 1 of the mean to -1, below all others.
    const auto second = extreme_eigenvalue(
        w.nodes(), [&w](const Vec& x) { return Vec(multiply(w, x).array() - 2 * mean(x)); },
        Spectra::SortRule::LargestAlge);
    spectrum.least = extreme_eigenvalue(
        w.nodes(), [&w](const Vec& x) { return multiply(w, x); }, Spectra::SortRule::SmallestAlge);
    if (second && spectrum.least)
        spectrum.rho = std::max(std::abs(*second), std::abs(*spectrum.least));
}

Spectrum of_period(const MixingSchedule& schedule) {
    std::vector<MixingPtr> factors;
    for (std::int64_t step = 0; step < schedule.period(); ++step)
        factors.push_back(schedule.at(step));
    const auto all = [&factors](auto law) {
        return std::ranges::all_of(factors, [law](const MixingPtr& w) { return law(*w); });
    };
    Spectrum spectrum{.steps = schedule.period(), .symmetric = all(is_symmetric)};
    const bool has_least = spectrum.symmetric && schedule.is_static();
    if (schedule.nodes() == 1) {
        spectrum.rho = 0;
        if (has_least) spectrum.least = 1;
    } else if (all(is_circulant)) {
        const Extremes found = extremes_of_circulants(factors);
        spectrum.rho = found.modulus;
        if (has_least) spectrum.least = found.least;
    } else if (has_least) {
        use_symmetric(spectrum, *factors.front());
    } else {
        spectrum.rho = norm_on_mean_zero(factors);
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

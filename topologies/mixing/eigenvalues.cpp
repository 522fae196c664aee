#include "topologies/mixing/eigenvalues.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <utility>

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <Spectra/SymEigsSolver.h>

#include "sim/engine/check.hpp"
#include "sim/numeric/elementary.hpp"
#include "sim/numeric/sums.hpp"

namespace paceline {

namespace {

using Vec = Eigen::VectorXd;
using Dense = Eigen::MatrixXd;

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

// Any vector without structure.
Vec probe_of(int nodes) {
    Vec probe(nodes);
    for (int i = 0; i < nodes; ++i)
        probe(i) = elementary::sin(std::fmod((i + 1.0) * (i + 1.0), 1000.0));
    return probe;
}

// A symmetric matrix in the form Spectra needs: its product with a vector.
template <class Apply>
class Operator {
  public:
    using Scalar = double;

    Operator(int nodes, const Apply& apply) : nodes_(nodes), apply_(&apply) {}
    [[nodiscard]] Eigen::Index rows() const { return nodes_; }
    [[nodiscard]] Eigen::Index cols() const { return nodes_; }
    // NOLINTNEXTLINE(readability-identifier-naming): Spectra's name
    void perform_op(const double* in, double* out) const {
        const Vec x = Eigen::Map<const Vec>(in, nodes_);
        Eigen::Map<Vec>(out, nodes_) = (*apply_)(x);
    }

  private:
    int nodes_;
    const Apply* apply_;
};

struct EigenPair {
    double value;
    Vec vector;
};

// Spectra always starts with the same vector, so the result is reproducible.
template <class Apply>
std::optional<EigenPair> largest_by_lanczos(int nodes, const Apply& apply) {
    constexpr int basis = 40;
    constexpr int restarts = 2000;
    constexpr double tolerance = 1e-11;
    Operator op(nodes, apply);
    Spectra::SymEigsSolver<decltype(op)> solver(op, 1, std::min(nodes, basis));
    try {
        solver.init();
        solver.compute(Spectra::SortRule::LargestAlge, restarts, tolerance,
                       Spectra::SortRule::LargestAlge);
    } catch (const std::exception&) {  // Spectra throws on a matrix that is zero up to rounding
        return std::nullopt;
    }
    if (solver.info() != Spectra::CompInfo::Successful) return std::nullopt;
    return EigenPair{solver.eigenvalues()(0), solver.eigenvectors().col(0)};
}

// Returns a lower bound of the largest eigenvalue of a matrix with eigenvalues in [-1, 1]. Power
// iteration shares neither the start nor the basis of Lanczos, so it does not share its failures.
template <class Apply>
double largest_rayleigh_quotient(int nodes, const Apply& apply) {
    constexpr int steps = 100;
    Vec x = probe_of(nodes);
    double quotient = -1;
    for (int step = 0; step < steps; ++step) {
        x /= norm(entries(x));
        const Vec y = apply(x);
        quotient = std::max(quotient, dot(entries(x), entries(y)));
        x += y;
    }
    return quotient;
}

// Returns the largest eigenvalue of a matrix with eigenvalues in [-1, 1] if it is accurate to
// `accuracy`: an eigenvalue lies within the residual of each number.
template <class Apply>
std::optional<double> earned_largest(int nodes, const Apply& apply, double accuracy) {
    PACELINE_CHECK(nodes >= 3, "Lanczos needs three nodes");
    const auto pair = largest_by_lanczos(nodes, apply);
    if (!pair || !pair->vector.allFinite() || !std::isfinite(pair->value)) return std::nullopt;
    const double length = norm(entries(pair->vector));
    if (std::abs(length - 1) > 1e-6) return std::nullopt;
    const Vec residual = apply(pair->vector) - pair->value * pair->vector;
    if (norm(entries(residual)) > accuracy * length) return std::nullopt;
    if (largest_rayleigh_quotient(nodes, apply) > pair->value + accuracy) return std::nullopt;
    return std::clamp(pair->value, -1.0, 1.0);
}

Dense dense_matrix(const Mixing& mixing) {
    Dense matrix = Dense::Zero(mixing.nodes(), mixing.nodes());
    for (int i = 0; i < mixing.nodes(); ++i)
        for (const MixingWeight& w : mixing.row(i)) matrix(i, w.node) = w.weight;
    return matrix;
}

Vec dense_eigenvalues(const Dense& symmetric) {
    const Eigen::SelfAdjointEigenSolver<Dense> solver(symmetric, Eigen::EigenvaluesOnly);
    PACELINE_CHECK(solver.info() == Eigen::Success, "a symmetric matrix has eigenvalues");
    return solver.eigenvalues();
}

}  // namespace

ExtremeEigenvalues dense_extremes(const Mixing& mixing) {
    const Vec values = dense_eigenvalues(dense_matrix(mixing));
    return {std::clamp(values(values.size() - 2), -1.0, 1.0), std::clamp(values(0), -1.0, 1.0)};
}

ExtremeEigenvalues iterated_extremes(const Mixing& mixing) {
    constexpr double accuracy = 1e-8;
    // W - 2J moves the eigenvalue 1 of the mean to -1, below all others.
    const auto without_mean = [&](const Vec& x) {
        return Vec(multiply(mixing, x).array() - 2 * mean(x));
    };
    const auto negative = [&](const Vec& x) { return Vec(-multiply(mixing, x)); };
    const auto second = earned_largest(mixing.nodes(), without_mean, accuracy);
    const auto most = earned_largest(mixing.nodes(), negative, accuracy);
    return {second, most ? std::optional(-*most) : std::nullopt};
}

std::optional<double> dense_norm_on_mean_zero(const std::vector<MixingPtr>& factors) {
    const int nodes = factors.front()->nodes();
    Dense product = Dense::Identity(nodes, nodes);
    for (const MixingPtr& w : factors)
        for (int column = 0; column < nodes; ++column)
            product.col(column) = multiply(*w, product.col(column));
    product.array() -= 1.0 / nodes;
    const Vec squares = dense_eigenvalues(product.transpose() * product);
    return std::sqrt(std::clamp(squares(nodes - 1), 0.0, 1.0));
}

std::optional<double> iterated_norm_on_mean_zero(const std::vector<MixingPtr>& factors) {
    const auto apply = [&factors](const Vec& x) {
        Vec y = x.array() - mean(x);
        for (const MixingPtr& w : factors) y = multiply(*w, y);
        for (auto w = factors.rbegin(); w != factors.rend(); ++w) y = multiply_transposed(**w, y);
        return Vec(y.array() - mean(y));
    };
    const int nodes = factors.front()->nodes();
    // A matrix that maps a vector without structure to zero is zero, where Lanczos has no basis.
    const Vec probe = probe_of(nodes);
    if (norm(entries(apply(probe))) <= 1e-14 * norm(entries(probe))) return 0;
    constexpr double accuracy = 1e-8;
    const auto square = earned_largest(nodes, apply, accuracy);
    if (!square) return std::nullopt;
    // The root of a small number is less accurate than the number.
    if (*square < accuracy) return std::nullopt;
    return std::sqrt(*square);
}

}  // namespace paceline

// Second, straightforward implementations of the compressors for tests to compare with, and input
// vectors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "algorithms/compression/compressor.hpp"

namespace paceline {

inline Eigen::VectorXd normal_vector(unsigned seed, Eigen::Index entries) {
    std::mt19937_64 rng(seed);
    std::normal_distribution<double> normal;
    Eigen::VectorXd x(entries);
    for (double& v : x) v = normal(rng);
    return x;
}

inline Tensor tensor_of(std::int64_t entries) {
    return {"x", {entries}};
}

/// Returns what receivers decode from one tensor.
inline Eigen::VectorXd decoded(const Compressor& compressor, Eigen::VectorXd x,
                               RandomStream& random) {
    compressor.apply({x.data(), static_cast<std::size_t>(x.size())}, tensor_of(x.size()), random);
    return x;
}

/// Keeps the k largest entries by magnitude, found by sorting.
inline Eigen::VectorXd largest(const Eigen::VectorXd& x, Eigen::Index k) {
    std::vector<Eigen::Index> order(static_cast<std::size_t>(x.size()));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(
        order, [&](Eigen::Index a, Eigen::Index b) { return std::abs(x(a)) > std::abs(x(b)); });
    Eigen::VectorXd kept = Eigen::VectorXd::Zero(x.size());
    for (Eigen::Index i = 0; i < k; ++i) {
        const Eigen::Index at = order[static_cast<std::size_t>(i)];
        kept(at) = x(at);
    }
    return kept;
}

/// Keeps the largest entries of each tensor, or all of them if that takes no more bytes.
inline Eigen::VectorXd largest_of_tensors(const Layout& layout, const Eigen::VectorXd& x,
                                          double density) {
    Eigen::VectorXd kept(x.size());
    for (std::size_t j = 0; j < layout.tensors().size(); ++j) {
        const Eigen::Index d = layout.tensors()[j].entries();
        const auto k = std::max<Eigen::Index>(
            1, static_cast<Eigen::Index>(density * static_cast<double>(d) + 1e-9));
        const bool dense = 2 * k >= d;  // positions would weigh as much as they save
        kept.segment(layout.offset(j), d) = largest(x.segment(layout.offset(j), d), dense ? d : k);
    }
    return kept;
}

inline Eigen::VectorXd scaled_signs_of_tensors(const Layout& layout, const Eigen::VectorXd& x) {
    Eigen::VectorXd signs(x.size());
    for (std::size_t j = 0; j < layout.tensors().size(); ++j) {
        const Eigen::Index d = layout.tensors()[j].entries();
        const Eigen::ArrayXd part = x.segment(layout.offset(j), d).array();
        signs.segment(layout.offset(j), d) = part.abs().mean() * part.sign();
    }
    return signs;
}

}  // namespace paceline

// Extreme eigenvalues of W: dense (Eigen) up to some thousand nodes, by restarted Lanczos (Spectra)
// on the sparse rows beyond.
//
// Dense eigenvalues have no special cases, and cost n^3: 0.1 s for 1000 nodes, 1 s for 2000, 20 s
// for 4000. Lanczos has: where a matrix has few distinct eigenvalues, its basis is exhausted early
// and goes on from rounding errors, and what comes out can be anything. So a pair is believed only
// if its residual is small and no Rayleigh quotient of a power iteration lies beyond it. Otherwise
// there is no value.
#pragma once

#include <optional>
#include <vector>

#include "topologies/mixing/mixing_schedule.hpp"

namespace paceline {

/// The most nodes for which dense eigenvalues are computed.
constexpr int most_dense_nodes = 2000;

/// Of a symmetric W, without the eigenvalue 1 of the mean.
struct ExtremeEigenvalues {
    std::optional<double> second;
    std::optional<double> least;
};

/// Requires a symmetric, doubly stochastic W of two nodes or more.
ExtremeEigenvalues dense_extremes(const Mixing& mixing);
/// Requires the same of W, and three nodes or more.
ExtremeEigenvalues iterated_extremes(const Mixing& mixing);

/// Return |W_(p-1) .. W_0 - J|, the largest factor by which a period leaves a vector of mean zero.
/// Require doubly stochastic factors, of three nodes or more where it is iterated.
std::optional<double> dense_norm_on_mean_zero(const std::vector<MixingPtr>& factors);
std::optional<double> iterated_norm_on_mean_zero(const std::vector<MixingPtr>& factors);

}  // namespace paceline

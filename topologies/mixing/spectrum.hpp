// How fast averaging converges: the spectral gap of W, and other eigenvalues that algorithms need.
//
//   rho = max |W x| / |x| over x of mean zero = the norm of W - J;    gap = 1 - rho
//
// W must be doubly stochastic, so rho lies in [0, 1]. If W is symmetric, or directed and normal
// (all circulants), rho is the second largest modulus of an eigenvalue, max(|lambda_2|,
// |lambda_n|).
//
//   in parts     rho is 1 (parts.hpp). lambda_n is the least of all parts
//   circulant    (all nodes alike: ring, complete, exponential graphs, and products of them) closed
//                form, lambda_j = sum over m of w_0m exp(2 pi i j m / n), in O(n d). Ring, n >= 4:
//                1/3 + 2/3 cos(2 pi / n); exponential, n even: 1 - 2 / (1 + ceil(log2 n));
//                complete: 0
//   symmetric    lambda_2 and lambda_n of the dense matrix up to some thousand nodes, by Lanczos
//                beyond (eigenvalues.hpp)
//   directed     rho^2 by the same of (W - J)^T (W - J)
//   periodic     rho of the product W^(p-1) .. W^(0) over a period
//   drawn        rho^2 is the second eigenvalue of E[W^T W], the factor by which the mean square of
//                disagreement shrinks in a step (the schedule knows its closed form)
//
// These numbers are for people: `list` and `check` print six digits, and no run reads them. Eigen
// and Spectra sum in an order that depends on the processor, which affects the last digits.
//
// There is no value where Lanczos does not converge, or its result does not stand up to the checks
// of eigenvalues.hpp: some graphs of thousands of nodes that are not circulant, with few distinct
// eigenvalues or gaps far below 1e-5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "topologies/mixing/mixing_schedule.hpp"
#include "topologies/mixing/parts.hpp"

namespace paceline {

struct Spectrum {
    std::optional<double> rho{};    // over `steps` steps; 0 for one node
    std::int64_t steps = 1;         // the period, or 1
    std::size_t parts = 1;          // of nodes that never exchange with others
    bool symmetric = false;         // whether W of each step is (if drawn, a few of them)
    std::optional<double> least{};  // lambda_n, if W is static and symmetric; 1 for one node

    /// Returns 1 - rho^(1 / steps): the fraction of the disagreement that one step removes.
    [[nodiscard]] std::optional<double> gap() const;
};

/// Requires doubly stochastic W.
Spectrum spectrum(const MixingSchedule& schedule);

}  // namespace paceline

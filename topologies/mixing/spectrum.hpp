// How fast averaging converges: the spectral gap of W, and other eigenvalues that algorithms need.
//
//   rho = max |W x| / |x| over x of mean zero = the norm of W - J;    gap = 1 - rho
//
// W must be doubly stochastic. If W is symmetric, or directed and normal (all circulants), rho is
// the second largest modulus of an eigenvalue, max(|lambda_2|, |lambda_n|).
//
//   circulant    (all nodes alike: ring, complete, exponential graphs, and products of them) closed
//                form, lambda_j = sum over m of w_0m exp(2 pi i j m / n), in O(n d). Ring, n >= 4:
//                1/3 + 2/3 cos(2 pi / n); exponential, n even: 1 - 2 / (1 + ceil(log2 n));
//                complete: 0
//   symmetric    lambda_2 and lambda_n by restarted Lanczos (Spectra) on the sparse rows
//   directed     rho^2 by the same on (W - J)^T (W - J)
//   periodic     rho of the product W^(p-1) .. W^(0) over a period
//   drawn        rho^2 is the second eigenvalue of E[W^T W], the factor by which the mean square of
//                disagreement shrinks in a step (the schedule knows its closed form)
//
// These numbers are for people: `list` and `check` print six digits, and no run reads them. Spectra
// sums in an order that depends on the processor, which affects the last of about ten digits.
//
// The accuracy is about 1e-10. There is no value if Lanczos does not converge within its steps: for
// gaps far below 1e-5 on graphs that are not circulant.
#pragma once

#include <cstdint>
#include <optional>

#include "topologies/mixing/schedule.hpp"

namespace paceline {

struct Spectrum {
    std::optional<double> rho{};    // over `steps` steps; 0 for one node
    std::int64_t steps = 1;         // the period, or 1
    bool symmetric = false;         // whether W of each step is (if drawn, a few of them)
    std::optional<double> least{};  // lambda_n, if W is static and symmetric; 1 for one node

    /// Returns 1 - rho^(1 / steps): the fraction of the disagreement that one step removes.
    [[nodiscard]] std::optional<double> gap() const;
};

/// Requires doubly stochastic W.
Spectrum spectrum(const MixingSchedule& schedule);

}  // namespace paceline

// What a least-squares fit tells about its parameters: its noise, what combinations of parameters
// the rows leave open, rows that nothing explains, and how much another row would add.
//
//   S, m, n     the sum of squares, rows and parameters
//   noise       s = sqrt(S / (m - n)) with m >= n + 2, but at least `least_noise`; else a stated
//               default
//   rise        s^2 F(level; 1, m - n), or s^2 chi^2(level; 1) with the default: how much S may
//               rise within the interval of one parameter at that level
//   J           slopes of the residuals; J = U diag(sigma) V^T
//   weak v_k    a column of V along which the rows say little: the half-width of its interval,
//               sqrt(rise) / sigma_k, exceeds `weak_from` (of the cube's side)
//   h_i         leverage, row i of U squared: a residual has the standard deviation s sqrt(1 - h_i)
//   misfit      |r_i| / (s_i sqrt(1 - h_i)) above what one row of m exceeds in `misfit_chance` of
//               the cases, with s_i the noise without that row (externally studentized; Cook and
//               Weisberg, "Residuals and Influence in Regression", 1982, section 2.2)
//
// All of this holds for linear residuals; intervals by profiles (least_squares.hpp) do not need it.
#pragma once

#include <cstddef>
#include <vector>

#include <Eigen/Core>

#include "analysis/fit/least_squares.hpp"

namespace paceline {

struct Noise {
    double share = 0;          // standard deviation of a residual
    bool is_default = false;   // there are too few rows to tell
    std::ptrdiff_t freedom{};  // m - n, if it is not the default
};

inline constexpr double least_noise = 1e-4;  // simulated rows have none, but steps of a derivative

/// Returns the noise that the residuals show, or the default.
Noise noise_of(const Fit& fit, double if_too_few_rows);

/// Returns how much S may rise within an interval at this level, in (0, 1).
double rise_of(const Noise& noise, double level);

struct WeakDirection {
    Eigen::VectorXd along;  // of length 1; its largest entry is positive
    double half_width = 0;  // of the interval along it; infinite if the rows say nothing
    double moves = 0;       // the largest change of a residual per unit of length
};

inline constexpr double weak_from = 0.25;

/// Returns the directions along which the rows leave more than `weak_from` open, weakest first.
std::vector<WeakDirection> weak_directions(const Fit& fit, double rise);

inline constexpr double misfit_chance = 0.01;

/// Returns places that the rows allow as well as that of the fit: draws of a normal distribution
/// around it, with the covariance s^2 (J^T J)^-1 but no wider than the cube along any direction, of
/// which those in the cube are kept. The same fit gives the same draws.
std::vector<Eigen::VectorXd> draws_of(const Fit& fit, const Noise& noise, std::size_t count);

/// Returns the residuals that are too large for the others.
std::vector<std::size_t> misfits(const Fit& fit, const Noise& noise);

}  // namespace paceline

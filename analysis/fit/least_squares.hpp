// Least squares within bounds, for residuals that a simulation gives.
//
// The free parameters are the coordinates t of a unit cube, each in [0, 1]. The caller maps them to
// what they stand for, usually by the logarithm of a range. Sought is the t with the least
//
//   S(t)  =  sum of r_i(t)^2        r: residuals, all of one unit, such as logarithms of ratios
//
// The minimizer is the Levenberg-Marquardt method of MINPACK (J. J. More, "The Levenberg-Marquardt
// algorithm: implementation and theory", 1978), as Eigen ships it. It knows no bounds, so it works
// on u, with t = (1 + u)^2 / (2 (1 + u^2)), which covers [0, 1] once for u in [-1, 1]. Derivatives
// are differences: residuals come in batches, so that a caller can run all of a batch at once.
//
// Where the residuals decide nothing, the fit is the one nearest to an anchor: to S, the minimizer
// adds anchor_weight^2 |t - anchor|^2, which is far below any noise.
//
// S may have several minima. The search starts from those of four places that are best and
// apart, chosen from a Halton sequence and the middle of the cube; the same problem always takes
// the same steps.
//
// An interval of a parameter is that of its profile: the least S that the other parameters allow at
// each of its values. It ends where that exceeds the minimum by `rise`, or at the cube's face; the
// end is open then, and more values beyond the range may fit as well. Unlike a standard error, this
// is right where r is not linear (Venzon and Moolgavkar, Applied Statistics 37, 1988).
//
// Limits: r should be continuous; where it jumps, the minimum may be beside the jump. Minima that
// no start leads to are missed.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include <Eigen/Core>

namespace paceline {

/// Returns the residuals at each of several places of the cube, always equally many.
using Residuals =
    std::function<std::vector<Eigen::VectorXd>(const std::vector<Eigen::VectorXd>& places)>;

inline constexpr double anchor_weight = 1e-4;

struct LeastSquares {
    std::ptrdiff_t parameters = 1;  // at least 1
    Residuals residuals;
    std::function<void(std::size_t start, double sum)> tell{};  // sees S after each step
    Eigen::VectorXd anchor{};                                   // empty: the middle of the cube
};

struct Fit {
    Eigen::VectorXd at;         // in the cube
    Eigen::VectorXd residuals;  // there
    Eigen::MatrixXd slopes;     // d r_i / d t_j there, by central differences
    double sum = 0;             // S
};

/// Returns the least minimum that was found.
Fit fit(const LeastSquares& problem);

struct ProfileInterval {
    double low = 0;
    double high = 1;
    bool low_is_open = false;  // the profile has not risen so far at the face of the cube
    bool high_is_open = false;
};

/// What the profiles of all parameters say.
struct Profiles {
    std::vector<ProfileInterval> intervals;
    Fit fit;  // a lower minimum than the given one, if a profile has led to one; else that one
};

/// Returns the interval of each parameter where S rises by at most rise(minimum).
Profiles profiles(const LeastSquares& problem, Fit fit,
                  const std::function<double(const Fit& fit)>& rise);

}  // namespace paceline

// Closed forms for the cost of checkpoints and restarts. All nodes work together; when one dies,
// all return to the last checkpoint.
//
//   N   nodes, each failing independently      C   time to write a checkpoint; no work meanwhile
//   M   mean time that a node is present       r   time to read it, once all are present again
//   R   mean time that it is away afterwards   tau work between two checkpoints
//   m = M/N, the mean time between deaths while all are present
//
// Times present and away are exponential. Deaths occur on nodes that work, write, read or wait for
// others, but not on nodes that are away.
//
// Expected time from one checkpoint to the next:
//
//   E(tau) = (e^((tau + C)/m) - 1) e^(r/m) m (1 + R/M)^N
//
// Derivation. Let X be the time from a death until all nodes have begun again. An attempt at the w
// = tau + C of a segment succeeds with p = e^(-w/m) and takes m (1 - p) on average, whether it
// succeeds or not. What follows a failed attempt does not depend on what came before. So
//
//   E = m (1 - p) + (1 - p)(X + E),  that is  E = (1/p - 1)(m + X)
//
// An attempt at reading succeeds with q = e^(-r/m). Let H be the mean time from a death until no
// node is away. In the same way X = H + m (1 - q) + (1 - q) X, so m + X = (m + H)/q. Nodes come and
// go independently of each other and of the work. In the long run no node is away for a share (M/(M
// + R))^N of the time, and that share is m/(m + H). With R = r = 0 and N = 1, this is the known M
// (e^((tau + C)/M) - 1).
//
// The interval with the smallest E/tau solves (1 - tau/m) e^((tau + C)/m) = 1. It depends neither
// on R nor on r. Approximations of it, confirmed by the script scr_ckpt_interval of LLNL's SCR:
//
//   Young  sqrt(2 C m)                                                 (J. W. Young, CACM 17, 1974)
//   Daly   sqrt(2 C m) (1 + sqrt(C/(2 m))/3 + C/(18 m)) - C, if C < 2 m, else m
//                        (J. T. Daly, Future Generation Computer Systems 22, 2006)
//
// Limits: `Failures::detection` matters only if a node returns sooner than that. E neglects it, and
// also the time from the last checkpoint to the end of a run. Work comes in whole steps, so tau is
// a multiple of a step. `Checkpoints::every` gives tau exactly if it is the same multiple and C is
// less than a step.
#pragma once

#include <cmath>

#include "sim/engine/units.hpp"

namespace paceline {

struct CheckpointedRun {
    int nodes = 1;
    Duration mean_between{};  // of one node; above 0
    Duration mean_repair{};
    Duration write{};  // above 0
    Duration read{};
};

/// Returns m in seconds.
inline double between_deaths_s(const CheckpointedRun& run) {
    return to_seconds(run.mean_between) / run.nodes;
}

/// Returns Young's interval.
inline Duration young_interval(const CheckpointedRun& run) {
    return from_seconds(std::sqrt(2 * to_seconds(run.write) * between_deaths_s(run)));
}

/// Returns Daly's interval of higher order.
inline Duration daly_interval(const CheckpointedRun& run) {
    const double m = between_deaths_s(run);
    const double write = to_seconds(run.write);
    if (write >= 2 * m) return from_seconds(m);
    const double root = std::sqrt(write / (2 * m));
    return from_seconds(2 * m * root * (1 + root / 3 + root * root / 9) - write);
}

/// Returns the interval that wastes least according to E. Bisects in units of m: (1 - x) e^(x + c)
/// falls from e^c to 0 as x goes from 0 to 1.
inline Duration best_interval(const CheckpointedRun& run) {
    const double m = between_deaths_s(run);
    const double c = to_seconds(run.write) / m;
    double below = 0;
    double above = 1;
    for (int i = 0; i < 60; ++i) {
        const double x = (below + above) / 2;
        (std::log1p(-x) + x + c > 0 ? below : above) = x;
    }
    return from_seconds(m * below);
}

/// Returns E(tau) in seconds, because it may be far beyond the clock's range.
inline double expected_segment_s(const CheckpointedRun& run, Duration interval) {
    const double m = between_deaths_s(run);
    const double none_away =
        run.nodes * std::log1p(to_seconds(run.mean_repair) / to_seconds(run.mean_between));
    return std::expm1(to_seconds(interval + run.write) / m) *
           std::exp(to_seconds(run.read) / m + none_away) * m;
}

/// Returns tau / E(tau): useful work relative to that of the same number of nodes that never fail.
inline double useful_share(const CheckpointedRun& run, Duration interval) {
    return to_seconds(interval) / expected_segment_s(run, interval);
}

}  // namespace paceline

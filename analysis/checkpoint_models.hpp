// What checkpoints and restarts cost, in closed form: all nodes work together, the death of one
// sends all back to the last checkpoint.
//
//   N   nodes, each failing by itself          C   writing a checkpoint; no work meanwhile
//   M   mean time that a node is there         r   reading it, when all are there again
//   R   mean time that it is away then         tau work between two checkpoints
//   m = M/N, the mean time between deaths while all are there
//
// Times there and away are exponential. Deaths befall nodes that work, write, read or wait for
// others; not those that are away.
//
// Expected time from one checkpoint to the next:
//
//   E(tau) = (e^((tau + C)/m) - 1) e^(r/m) m (1 + R/M)^N
//
// Derivation. Let X be the time from a death until all have begun again. A try at the w = tau + C of a
// segment succeeds with p = e^(-w/m) and takes m (1 - p) in the mean, whether it does or not; what
// comes after a failed one does not depend on what was before. So
//
//   E = m (1 - p) + (1 - p)(X + E),  that is  E = (1/p - 1)(m + X)
//
// A try at reading succeeds with q = e^(-r/m). With H the mean time from a death until none is
// away, in the same way X = H + m (1 - q) + (1 - q) X, so m + X = (m + H)/q. Nodes come and go
// independently of one another and of the work: in the long run none is away in a share
// (M/(M + R))^N of the time, and that is m/(m + H). With R = r = 0 and N = 1 it is the known
// M (e^((tau + C)/M) - 1).
//
// The interval with the least E/tau solves (1 - tau/m) e^((tau + C)/m) = 1; it depends on neither R
// nor r. Approximations of it, from memory, unverified:
//
//   Young  sqrt(2 C m)                                                 (J. W. Young, CACM 17, 1974)
//   Daly   sqrt(2 C m) (1 + sqrt(C/(2 m))/3 + C/(18 m)) - C, if C < 2 m, else m
//                        (J. T. Daly, Future Generation Computer Systems 22, 2006)
//
// Limits: `Failures::detection` counts only where a node returns sooner than that; E neglects it, as
// it does the time from the last checkpoint to the end of a run. Work comes in whole steps: tau is
// a multiple of one, and `Checkpoints::every` gives it exactly if it is the same multiple and C is
// less than a step.
#pragma once

#include "sim/engine/units.hpp"

namespace paceline {

struct CheckpointedRun {
    int nodes = 1;
    Duration mean_between{};  // of one node; above 0
    Duration mean_repair{};
    Duration write{};  // above 0
    Duration read{};
};

/// Young's interval.
Duration young_interval(const CheckpointedRun& run);
/// Daly's interval of higher order.
Duration daly_interval(const CheckpointedRun& run);
/// The interval that wastes least by E.
Duration best_interval(const CheckpointedRun& run);

/// E(tau), in seconds: it may be far beyond the clock's range.
double expected_segment_s(const CheckpointedRun& run, Duration interval);
/// tau / E(tau): work that counts, as a share of that of as many nodes that never fail.
double useful_share(const CheckpointedRun& run, Duration interval);

}  // namespace paceline

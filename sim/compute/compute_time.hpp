// How long a computation takes on a node that may be slower or faster than nominal.
//
// A law is a product of parts. Each part is a pure function of the seed: whether a gradient is slow
// does not depend on the algorithm, so all algorithms of a study meet the same slow gradients. For
// the k-th gradient of worker r, with nominal length d, that begins at t:
//
//   without phases   D = d product over i of f_i(r, k)
//   with phases      the D with  integral from t to t + D of ds / product over j of p_j(r, s)
//                                = d product over i of f_i(r, k)
//
//   f_i   a factor that holds for a whole gradient (StepFactor): 2 is twice as long
//   p_j   a factor that changes with time (PhasesOf), constant between changes
//
// The integral is taken piece by piece, so a gradient that begins before a slow interval and ends
// in it is slowed only in that part. D is rounded to the nearest picosecond. d may be a part of a
// gradient, such as the time until a bucket is complete. The same law then gives the time when that
// part is done.
//
// Limits: a computation is neither moved nor shared. A factor is 1 / speed, whatever the size of
// the work.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/engine/machine_sizes.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// Returns how long the k-th gradient of worker `rank` takes if it begins at `begin` and nominally
/// takes `nominal`. Null if every node runs at nominal speed. Not thread-safe: laws with random
/// phases keep their position.
using ComputeTime = std::function<Duration(int rank, std::int64_t k, Time begin, Duration nominal)>;

/// Returns the factor on the duration of a worker's k-th gradient; above 0.
using StepFactor = std::function<double(int rank, std::int64_t k)>;

/// A factor on the duration of work, valid until a time.
struct Phase {
    double factor = 1;
    Time until = never;
};

/// Returns a worker's next phase on each call. There is none after a phase that lasts until
/// `never`.
using Phases = std::function<Phase()>;

/// Returns the phases of worker `rank`, starting with the one that contains `begin`.
using PhasesOf = std::function<Phases(int rank, Time begin)>;

struct ComputeParts {
    std::vector<StepFactor> steps;
    std::vector<PhasesOf> phases;
};

/// Returns the law of all parts, or null if there are none.
ComputeTime make_compute_time(ComputeParts parts);

/// The nodes that a part applies to, and whose workers are whose.
struct ChosenNodes {
    std::vector<int> nodes{};  // in increasing order; empty: all
    MachineSizes machines{};

    [[nodiscard]] int node_of(int rank) const { return machines.machine_of(rank); }
    [[nodiscard]] bool has(int rank) const;
};

}  // namespace paceline

// How long a computation takes on a node that is not as it should be.
//
// A law is made of parts, which are multiplied. Each is a pure function under the seed: whether a
// gradient is slow does not depend on the algorithm that asks, so that all algorithms of a study
// meet the same slow gradients. The k-th gradient of worker r, of nominal length d, begun at t:
//
//   without phases   D = d product over i of f_i(r, k)
//   with phases      the D with  integral from t to t + D of ds / product over j of p_j(r, s)
//                                = d product over i of f_i(r, k)
//
//   f_i   a factor that holds for a whole gradient (StepFactor): 2 is twice as long
//   p_j   a factor that changes with time (PhasesOf), constant between changes
//
// The integral is taken piece by piece, so a gradient that begins before a slow interval and ends
// in it is slowed in that part alone. D is the nearest picosecond. d may be a part of a gradient,
// such as the time until a bucket is complete: the same law then says when that part is done.
//
// Limits: a computation is neither moved nor shared; a factor is 1 / speed, at every size of work.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/engine/units.hpp"

namespace paceline {

/// How long the k-th gradient of worker `rank` takes that begins at `begin` and should take
/// `nominal`. Null where every node is as it should be. For one thread: laws with random phases
/// remember where they are.
using ComputeTime = std::function<Duration(int rank, std::int64_t k, Time begin, Duration nominal)>;

/// How many times as long the k-th gradient of a worker takes; above 0.
using StepFactor = std::function<double(int rank, std::int64_t k)>;

/// How many times as long work takes until a time.
struct Phase {
    double factor = 1;
    Time until = never;
};

/// The phases of a worker one after the other, each call the next; after one until `never`, none.
using Phases = std::function<Phase()>;

/// The phases of worker `rank` from the one in which `begin` lies.
using PhasesOf = std::function<Phases(int rank, Time begin)>;

struct ComputeParts {
    std::vector<StepFactor> steps;
    std::vector<PhasesOf> phases;
};

/// The law of all parts; null where there are none.
ComputeTime make_compute_time(ComputeParts parts);

/// The nodes that a part is about, each of so many workers.
struct ChosenNodes {
    std::vector<int> nodes{};  // in increasing order; empty: all
    int workers_each = 1;

    [[nodiscard]] int node_of(int rank) const { return rank / workers_each; }
    [[nodiscard]] bool has(int rank) const;
};

}  // namespace paceline

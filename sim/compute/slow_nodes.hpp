// Parts of the law of compute_time.hpp: chosen nodes that are slow at chosen times.
//
// By step, where k = 0, 1, ... is the number of a worker's gradient:
//
//   always       every gradient of the chosen nodes
//   at random    each gradient with probability `share`, independently
//   every k-th   gradients first, first + every, first + 2 every, ...
//   one node     in each step, with probability `share`, one of the chosen nodes, drawn at random
//                and independently of other steps; all its workers are slow
//
// By time, on each node's own clock:
//
//   periodic     from begin + i period to begin + i period + length, i = 0, 1, ...
//   random       pauses of mean `mean_between` and slow intervals of mean `mean_length`, both
//                exponential and independent. A node begins in a pause. In the long run, the share
//                mean_length / (mean_between + mean_length) of the time is slow.
#pragma once

#include <cstdint>

#include "sim/compute/compute_time.hpp"
#include "sim/engine/random.hpp"

namespace paceline {

StepFactor always_slow(double factor, ChosenNodes chosen);
/// Draws for each worker, not for each node, whether a gradient is slow.
StepFactor slow_at_random(double factor, double share, ChosenNodes chosen, RandomStreams streams);
/// Requires every >= 1.
StepFactor slow_every(double factor, std::int64_t every, std::int64_t first, ChosenNodes chosen);
/// `nodes` is the number of nodes. Requires nodes >= 1.
StepFactor one_slow_node(double factor, double share, ChosenNodes chosen, int nodes,
                         RandomStreams streams);

/// Requires 0 < length <= period and begin >= 0.
PhasesOf slow_periodically(double factor, Duration period, Duration length, Duration begin,
                           ChosenNodes chosen);

struct RandomIntervals {
    Duration mean_between;
    Duration mean_length;
};

/// Requires both means above 0.
PhasesOf slow_at_intervals(double factor, RandomIntervals means, ChosenNodes chosen,
                           RandomStreams streams);

}  // namespace paceline

// Parts of the law of compute_time.hpp: speeds that differ between nodes, and jitter of gradients.
//
// A speed of 2 halves the time of every gradient; a nominal node has speed 1. Speeds are drawn once
// per node, each from its own stream, so a node's draw does not depend on the number of nodes:
//
//   log-normal    exp(sigma Z): median 1, mean exp(sigma^2 / 2); its inverse has the same law
//   uniform       in [low, high]
//   two classes   the share p of n nodes, round(p n) of them, drawn at random, has one speed; the
//                 others have 1
//
// Jitter is an independent factor on the time of each gradient of each worker:
//
//   normal        1 + deviation Z, drawn again unless in (0, 2): mean 1
//   log-normal    exp(sigma Z - sigma^2 / 2): mean 1
//   exponential   1 + excess E, E of mean 1: least 1, mean 1 + excess; the longest of n is
//                 1 + excess (1 + 1/2 + ... + 1/n) in the mean
//   Pareto        U^(-1/shape): least 1, mean shape / (shape - 1) for a shape above 1
//
// Z is standard normal, U uniform in (0, 1].
#pragma once

#include <cstdint>
#include <vector>

#include "sim/compute/compute_time.hpp"
#include "sim/engine/random.hpp"

namespace paceline {

std::vector<double> log_normal_speeds(int nodes, double sigma, RandomStreams streams);
/// Requires 0 < low <= high.
std::vector<double> uniform_speeds(int nodes, double low, double high, RandomStreams streams);
/// Requires speed > 0 and share in [0, 1].
std::vector<double> two_class_speeds(int nodes, double share, double speed, RandomStreams streams);

/// Returns the factor for the workers of nodes with these speeds.
StepFactor by_speed(std::vector<double> speeds, MachineSizes machines);

enum class JitterLaw : std::uint8_t { normal, log_normal, exponential, pareto };

struct Jitter {
    JitterLaw law = JitterLaw::normal;
    double parameter = 0;  // deviation, sigma, excess, shape
};

StepFactor jitter(Jitter jitter, RandomStreams streams);

}  // namespace paceline

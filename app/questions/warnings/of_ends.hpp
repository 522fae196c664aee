// Warnings about how a run would end, where that can be foreseen. Each function returns the text,
// or nothing if all is well.
#pragma once

#include <string>

#include "app/scenario/scenario.hpp"

namespace paceline {

/// The steps last longer than the clock can count, by the closed form or by what they compute.
std::string beyond_the_clock(const Scenario& scenario);

/// The time limit is below the first step.
std::string no_whole_step(const Scenario& scenario);

/// Nodes that fail at random leave no time for a step, or for a checkpoint where all restart: with
/// n nodes that are present for M and away for R on average, the time without a death that is
/// needed, T, passes once in about exp(T n / M) ((M + R) / M)^n tries.
///
///   all restart        T = detection, reading, and the next checkpoint, or all steps if there is
///                      none
///   stall              T = a step
///   survivors rerun    T = detection and a step, of the nodes that are present; all are never
///                      needed
///   others go on       T = a step of one node
std::string vain_failures(const Scenario& scenario);

/// Steps take no time, and only a time limit ends the run.
std::string time_stands_still(const Scenario& scenario);

/// There is a target, and nothing says how often it is judged.
std::string default_evaluations(const Scenario& scenario);

/// There is a target, and it is judged at the start and at the end alone.
std::string late_evaluations(const Scenario& scenario);

/// A stop after equally many steps of each worker makes the fast workers of an asynchronous method
/// wait, at the end, for the slowest one. The run then says little about what asynchrony is for.
std::string equal_steps(const Scenario& scenario);

}  // namespace paceline

// Helpers that readers of several families share.
#pragma once

#include <cstdint>

#include "algorithms/compression/coding.hpp"
#include "algorithms/optimizers/adam.hpp"
#include "algorithms/optimizers/momentum.hpp"
#include "analysis/forms/memory_forms.hpp"
#include "app/scenario/algorithms/algorithm_entry.hpp"

namespace paceline {

/// A number of steps that no study reaches.
inline constexpr std::int64_t most_steps_of_an_option = std::int64_t{1} << 40;

/// Share of a vector that a worker holds where the model and the gradients' mean exist once.
inline constexpr double vectors_of_replicas = 0.2;

/// Vectors that optimizers keep on a device (analysis/forms/memory_forms.hpp).
inline constexpr double vectors_of_adam = 2;
[[nodiscard]] inline double kept_by_momentum(const AlgorithmInput& in) {
    return in.optimizer.momentum > 0 ? 1 : 0;
}

/// Traits of algorithms that take the step of momentum SGD on a model that all workers share.
inline constexpr AlgorithmTraits momentum_sgd_on_replicas{
    .when_nodes_die = WhenNodesDie::reruns_replicas,
    .decays_by_itself = true,
    .supports_nesterov_and_clipping = true};

/// Reads "fp32" or "fp16".
WireFormat as_wire(const Place& place);

/// Reads the "coding_step" of an algorithm that compresses: the time of one pass over an entry.
CodingCost read_coding(const ObjectReader& read);

/// Returns Adam's rule with the optimizer's decay, and the keys "beta1", "beta2" and "epsilon" of
/// the algorithm.
AdamRule read_adam_rule(const ObjectReader& read, const AlgorithmInput& in, AdamRule rule);

/// Returns momentum, Nesterov's form, decay and clipping of the scenario's optimizer.
MomentumRule rule_of(const Optimizer& optimizer);

/// Records what an all-reduce by servers needs, the slots of a ring that has them, and what
/// warnings ask of its path.
void use_all_reduce(AlgorithmChoice& choice, const AllReducePlan& plan);

}  // namespace paceline

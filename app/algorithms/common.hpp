// What readers of several families share.
#pragma once

#include <cstdint>

#include "algorithms/compression/coding.hpp"
#include "algorithms/optimizers/momentum.hpp"
#include "app/algorithms.hpp"

namespace paceline {

/// A number of steps that no study reaches.
inline constexpr std::int64_t most_steps_of_an_option = std::int64_t{1} << 40;

/// "fp32" or "fp16".
WireFormat as_wire(const Place& place);

/// "coding_step" of an algorithm that compresses: the time of one pass over an entry.
CodingCost read_coding(const ObjectReader& read);

/// Momentum, Nesterov's form, decay and clipping of the scenario's optimizer.
MomentumRule rule_of(const Optimizer& optimizer);

/// Notes what an all-reduce by servers needs.
void use_servers(AlgorithmChoice& choice, const AllReducePlan& plan);

/// Dense SGD with the "all_reduce" and the "wire", by `otherwise` unless the scenario says.
AlgorithmChoice dense(const ObjectReader& read, const AlgorithmInput& in,
                      const AllReducePlan& otherwise);

/// What the methods that average with neighbors in every step have in common: the "mixing" and the
/// "wire", with `vectors` vectors to each neighbor after the gradient, or beside it.
AlgorithmChoice decentralized(const ObjectReader& read, const AlgorithmInput& in, int vectors,
                              bool beside);

}  // namespace paceline

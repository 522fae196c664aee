// What readers of methods that average with neighbors have in common.
#pragma once

#include "app/scenario/algorithms/algorithm_entry.hpp"

namespace paceline {

/// Reads what methods that average with neighbors in every step share: the "mixing" and the "wire".
/// They send `vectors` vectors to each neighbor, after the gradient or (`beside`) concurrently with
/// it.
AlgorithmChoice decentralized(const ObjectReader& read, const AlgorithmInput& in, int vectors,
                              bool beside, MixingUse use = MixingUse::averages);
/// The same, and how averages travel: their codec, aggregation and schedule.
AlgorithmChoice neighborly(const ObjectReader& read, const AlgorithmInput& in, int vectors,
                           bool beside);
/// The same for a choice whose exchange has been read; `members` workers, or machines, have the
/// mixing.
AlgorithmChoice averaging(AlgorithmChoice choice, const ObjectReader& read,
                          const AlgorithmInput& in, int members, int vectors, bool beside,
                          MixingUse use);

}  // namespace paceline

// The values of all rounds in progress of a job, by the stream of the round.
#pragma once

#include <cstddef>
#include <map>

#include "algorithms/rounds/rounds.hpp"
#include "algorithms/rounds/sparse_round.hpp"
#include "models/tensors/vector.hpp"
#include "sim/network/stream.hpp"
#include "topologies/mixing/mixing_schedule.hpp"

namespace paceline {

struct RoundValues {
    Rounds<Vector> vectors{};
    Rounds<MixingPtr> mixings{};  // W of each round among neighbors
    std::map<Stream, SparseRound> sparse{};

    [[nodiscard]] std::size_t size() const {
        return vectors.size() + mixings.size() + sparse.size();
    }
    /// Erases the rounds from one stream up to, but not including, another.
    void forget(Stream from, Stream until) {
        vectors.forget(from, until);
        mixings.forget(from, until);
        sparse.erase(sparse.lower_bound(from), sparse.lower_bound(until));
    }
};

}  // namespace paceline

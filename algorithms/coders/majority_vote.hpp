// Majority vote over n vectors of +-1: the sign of their sum, 0 for a tie (if n is even). Ties move
// nothing by this project's choice; sources vary.
//
// The signs of all workers are gathered, and every worker counts the votes.
//
// Source: Bernstein, Zhao, Azizzadenesheli, Anandkumar. "signSGD with Majority Vote is
// Communication Efficient and Fault Tolerant." ICLR 2019.
#pragma once

#include "algorithms/rounds/rounds.hpp"
#include "models/tensors/vector.hpp"

namespace paceline {

[[nodiscard]] Vector majority_vote(const Round<Vector>& signs);

}  // namespace paceline

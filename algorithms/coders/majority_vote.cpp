#include "algorithms/coders/majority_vote.hpp"

#include <cstddef>

namespace paceline {

Vector majority_vote(const Round<Vector>& signs) {
    Vector votes = signs.of(0);
    for (std::size_t i = 1; i < signs.members(); ++i) votes += signs.of(i);
    for (double& v : votes.writable()) v = static_cast<double>(v > 0) - static_cast<double>(v < 0);
    return votes;
}

}  // namespace paceline

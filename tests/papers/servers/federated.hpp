// The rounds of federated references: who is asked, whose work counts, and which gradients a client
// has used.
//
// All present nodes are asked, or ceil(o k) of them that are drawn: the stream "clients of a round"
// of the seed shuffles the first places of their list. Of these, K are the k = max(floor(C n), 1)
// that finish first: the nodes of the shortest paces. One that is late stops then, after as many
// gradients as it has completed. A node that dies in a round is not waited for; one that returns
// may be asked in the next round.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tests/papers/papers.hpp"

namespace paceline::papers {

struct Round {
    std::int64_t first, steps;
    std::vector<int> asked, kept;  // kept: in the order of their numbers
    std::vector<int> returned;     // since the last round began
};

struct Clients {
    const Setting& s;
    std::vector<std::int64_t> gradients;  // that each has completed before the round

    /// Returns the gradient of local step `step` (0, 1, ...) of a round at x, with weight decay.
    [[nodiscard]] Column gradient(const Column& x, int node, std::int64_t step) const;
    [[nodiscard]] double samples(int node) const;
};

/// Runs all rounds. `one_round` returns the server's model after a round.
History in_rounds(
    const Case& run,
    const std::function<Column(const Clients& clients, const Round& round)>& one_round);

/// Rounds of all kinds: all clients, those drawn, the first of those asked, and clients that die.
/// Requires a kind without required keys.
std::vector<Case> federated_cases(const Json& algorithm, History (*reference)(const Case&));

}  // namespace paceline::papers

// Who averages with whom: the weights W of decentralized averaging, as sparse rows.
//
//   x_i  <-  sum over j of w_ij x_j
//
// Rows of W sum to 1; for averaging to keep the mean, columns do, too.
//
// Nothing to do with wires. Memory O(nodes + edges).
#pragma once

#include <vector>

namespace paceline {

struct MixingWeight {
    int node;
    double weight;
};

class Mixing {
  public:
    /// rows[i]: the nonzero w_ij in increasing j, w_ii included. Requires each row to sum to 1
    /// within 1e-12.
    explicit Mixing(std::vector<std::vector<MixingWeight>> rows);

    [[nodiscard]] int nodes() const { return static_cast<int>(rows_.size()); }
    /// The weights by which node i averages, its own included, by increasing node.
    [[nodiscard]] const std::vector<MixingWeight>& row(int i) const {
        return rows_[static_cast<std::size_t>(i)];
    }
    /// The others whose row has a weight for node i: to whom it sends, by increasing node.
    [[nodiscard]] const std::vector<int>& listeners(int i) const {
        return listeners_[static_cast<std::size_t>(i)];
    }

  private:
    std::vector<std::vector<MixingWeight>> rows_;
    std::vector<std::vector<int>> listeners_;
};

/// Each node and its two neighbors on a circle, 1/3 each. Two nodes: 1/2 each; one node: itself.
/// Second eigenvalue for n >= 4: 1/3 + 2/3 cos(2 pi / n).
Mixing make_ring_mixing(int nodes);

/// Everybody with everybody, 1/n: averaging is exact. Second eigenvalue 0.
Mixing make_complete_mixing(int nodes);

}  // namespace paceline

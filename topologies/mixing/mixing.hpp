// Who averages with whom: the weight matrix W of decentralized averaging, as sparse rows.
//
//   x_i  <-  sum over j of w_ij x_j
//
// Rows of W sum to 1. If the columns do too, averaging keeps the mean.
//
// Independent of the physical network. Memory O(nodes + edges).
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
    /// Returns the weights by which node i averages, including its own, by increasing node.
    [[nodiscard]] const std::vector<MixingWeight>& row(int i) const {
        return rows_[static_cast<std::size_t>(i)];
    }
    /// Returns the other nodes whose row has a weight for node i, by increasing node: those i sends
    /// to.
    [[nodiscard]] const std::vector<int>& listeners(int i) const {
        return listeners_[static_cast<std::size_t>(i)];
    }

  private:
    std::vector<std::vector<MixingWeight>> rows_;
    std::vector<std::vector<int>> listeners_;
};

/// Averages each node and its two neighbors on a circle, 1/3 each. Two nodes: 1/2 each; one node:
/// itself. Second eigenvalue for n >= 4: 1/3 + 2/3 cos(2 pi / n).
Mixing make_ring_mixing(int nodes);

/// Averages all nodes, 1/n each, which is exact. Second eigenvalue 0.
Mixing make_complete_mixing(int nodes);

}  // namespace paceline

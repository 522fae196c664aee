// A sparse vector: the entries of a flat vector that are sent. Also a set of positions.
#pragma once

#include <cstdint>
#include <vector>

#include <Eigen/Core>

#include "models/tensors/layout.hpp"

namespace paceline {

struct SparseVector {
    LayoutPtr layout;                     // of the whole vector
    std::vector<std::int64_t> positions;  // ascending, no duplicates
    std::vector<double> values;           // one per position
};

/// Adds v to sum. Requires that sum has v's layout.
void add(const SparseVector& v, Eigen::VectorXd& sum);

/// A set of positions in a vector of n entries. It takes n bits, so that sets merge word by word at
/// any density.
class Support {
  public:
    explicit Support(std::int64_t entries);

    void insert(const SparseVector& v);
    /// Adds the positions of `other`. Requires sets over as many entries.
    void merge(const Support& other);
    /// Returns how many positions of [first, last) are in the set.
    [[nodiscard]] std::int64_t count(std::int64_t first, std::int64_t last) const;

  private:
    std::vector<std::uint64_t> words_;
};

}  // namespace paceline

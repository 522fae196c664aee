// Matrices as products of two thin ones: P Q^T with P of a x r, Q of c x r.
//
// Each compressible tensor is a matrix of a = its first extent and c = the product of the others,
// row by row, and r = min(rank, a, c). The factors of all tensors lie one behind the other in a flat
// vector each, columns first; behind the P of the last matrix come the tensors of one dimension, as
// they are, so that one message carries both.
#pragma once

#include <cstdint>
#include <vector>

#include <Eigen/Core>

#include "models/layout.hpp"
#include "sim/engine/random.hpp"

namespace paceline {

class LowRank {
  public:
    /// Requires rank >= 1.
    LowRank(const Layout& layout, std::int64_t rank);

    /// Entries of all P and of the tensors of one dimension behind them: sum of r a, plus those.
    [[nodiscard]] std::int64_t left_entries() const { return left_ + rest_; }
    /// Entries of all Q: sum of r c.
    [[nodiscard]] std::int64_t right_entries() const { return right_; }

    /// Q with entries drawn from N(0, 1).
    [[nodiscard]] Eigen::VectorXd drawn_right(RandomStream& random) const;
    /// M Q of each matrix, and the tensors of one dimension.
    [[nodiscard]] Eigen::VectorXd left(const Eigen::VectorXd& m, const Eigen::VectorXd& q) const;
    /// M^T P of each matrix. A column of P that is zero keeps the column of `before`, Q as it was:
    /// a tensor without a gradient in one step does not lose its Q for good.
    [[nodiscard]] Eigen::VectorXd right(const Eigen::VectorXd& m, const Eigen::VectorXd& p,
                                        const Eigen::VectorXd& before) const;
    /// Columns of each P made orthonormal in place (Gram-Schmidt, twice); zero columns stay.
    void orthonormalize(Eigen::VectorXd& p) const;
    /// P Q^T of each matrix, and the tensors of one dimension as they lie behind P.
    [[nodiscard]] Eigen::VectorXd product(const Eigen::VectorXd& p, const Eigen::VectorXd& q) const;

  private:
    struct Part {
        Eigen::Index begin;    // in the whole vector
        Eigen::Index rows;     // a; of a tensor of one dimension its entries
        Eigen::Index columns;  // c
        Eigen::Index rank;     // r; 0: one dimension
        Eigen::Index left;     // where its P begins, or the tensor itself behind all P
        Eigen::Index right;    // where its Q begins
    };

    std::vector<Part> parts_;
    Eigen::Index entries_ = 0;
    Eigen::Index left_ = 0;
    Eigen::Index right_ = 0;
    Eigen::Index rest_ = 0;
};

}  // namespace paceline

// Low-rank factors: a matrix as the product P Q^T of two thin ones, P of a x r and Q of c x r.
//
// Each compressible tensor is a row-major matrix with a = its first extent and c = the product of
// the others, and r = min(rank, a, c). The P of all tensors are stored one after another in one
// flat vector, and the Q in another, both column-major. The one-dimensional tensors follow the last
// P unchanged, so that one message carries both.
#pragma once

#include <cstdint>
#include <vector>

#include <Eigen/Core>

#include "models/tensors/layout.hpp"
#include "sim/engine/random.hpp"

namespace paceline {

class LowRank {
  public:
    /// Requires rank >= 1.
    LowRank(const Layout& layout, std::int64_t rank);

    /// Entries of all P and of the one-dimensional tensors after them: sum of r a, plus those.
    [[nodiscard]] std::int64_t left_entries() const { return left_ + rest_; }
    /// Entries of all Q: sum of r c.
    [[nodiscard]] std::int64_t right_entries() const { return right_; }

    /// Returns Q with entries drawn from N(0, 1).
    [[nodiscard]] Eigen::VectorXd drawn_right(RandomStream& random) const;
    /// Returns M Q of each matrix, then the one-dimensional tensors.
    [[nodiscard]] Eigen::VectorXd left(const Eigen::VectorXd& m, const Eigen::VectorXd& q) const;
    /// Returns M^T P of each matrix. Where a column of P is zero, the column of `before` (the old
    /// Q) is kept: a tensor without a gradient in one step does not lose its Q for good.
    [[nodiscard]] Eigen::VectorXd right(const Eigen::VectorXd& m, const Eigen::VectorXd& p,
                                        const Eigen::VectorXd& before) const;
    /// Makes the columns of each P orthonormal in place (Gram-Schmidt, twice); zero columns stay.
    void orthonormalize(Eigen::VectorXd& p) const;
    /// Returns P Q^T of each matrix, and the one-dimensional tensors stored after P.
    [[nodiscard]] Eigen::VectorXd product(const Eigen::VectorXd& p, const Eigen::VectorXd& q) const;

  private:
    struct Part {
        Eigen::Index begin;    // in the whole vector
        Eigen::Index rows;     // a; for a one-dimensional tensor its entries
        Eigen::Index columns;  // c
        Eigen::Index rank;     // r; 0: one-dimensional tensor
        Eigen::Index left;     // where its P begins, or the tensor itself after all P
        Eigen::Index right;    // where its Q begins
    };

    std::vector<Part> parts_;
    Eigen::Index entries_ = 0;
    Eigen::Index left_ = 0;
    Eigen::Index right_ = 0;
    Eigen::Index rest_ = 0;
};

}  // namespace paceline

// Products, norms and least squares of Eigen's vectors in orders that do not depend on the machine.
//
// Eigen picks the order of its sums by the width of packets and the size of caches. Its expressions
// entry by entry (+ - * / sqrt abs max select) have no order and stay Eigen's. Whatever adds up
// entries is here:
//
//   sum, dot, norm, ..       of sim/numeric/sums.hpp: 32 lanes, folded in halves
//   M x                      column after column, from the left: y = ((m_1 x_1) + m_2 x_2) + ..
//   M^T x                    a dot product of each column
//   M Q   (rows of M)        a dot product of each row and column of Q
//   M^T P (rows of M)        row after row, from the top: q = (m_1 p_1) + m_2 p_2 + ..
//   P Q^T                    column after column of P and Q, from the first
//   shortest_solution        Cholesky's factorization with pivots, column after column
//
// Nothing is fused. Blocks of loops are for the cache and do not change an order.
#pragma once

#include <Eigen/Core>

namespace paceline {

using ConstVectorRef = Eigen::Ref<const Eigen::VectorXd>;
using ConstMatrixRef = Eigen::Ref<const Eigen::MatrixXd>;
using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

double sum(const ConstVectorRef& x);
double dot(const ConstVectorRef& x, const ConstVectorRef& y);
double squared_norm(const ConstVectorRef& x);
double norm(const ConstVectorRef& x);
double squared_distance(const ConstVectorRef& x, const ConstVectorRef& y);

/// Sums over each row, from the first column to the last.
Eigen::VectorXd sums_of_rows(const Eigen::MatrixXd& m);
Eigen::VectorXd sums_of_columns(const Eigen::MatrixXd& m);

/// M x, in float.
Eigen::VectorXf product(const Eigen::MatrixXf& m, const Eigen::Ref<const Eigen::VectorXf>& x);
/// M^T N: a dot product for each entry.
Eigen::MatrixXd transposed_product(const Eigen::MatrixXd& m, const Eigen::MatrixXd& n);

// Products with matrices of few columns. Matrices that are wide lie row by row.
using ConstWideMap = Eigen::Map<const RowMajorMatrix>;
using ConstThinMap = Eigen::Map<const Eigen::MatrixXd>;
using ThinMap = Eigen::Map<Eigen::MatrixXd>;

/// P = M Q.
void multiply(const ConstWideMap& m, const ConstThinMap& q, ThinMap p);
/// Q = M^T P.
void multiply_transposed(const ConstWideMap& m, const ConstThinMap& p, ThinMap q);
/// M = P Q^T.
void multiply_outer(const ConstThinMap& p, const ConstThinMap& q, Eigen::Map<RowMajorMatrix> m);

/// Makes the columns orthonormal in place (Gram-Schmidt, twice). Columns that are zero stay zero.
void orthonormalize(ThinMap columns);

/// The shortest x that minimizes |h x - c|, for a symmetric h without negative eigenvalues.
///
///   h = L L^T with pivots on the diagonal (Higham, Accuracy and Stability of Numerical Algorithms,
///   10.3); pivots below 1e-13 of the greatest are zero. If none is, x = L^-T L^-1 c. Otherwise
///   L = Q R (Gram-Schmidt), and x = Q R^-T R^-1 Q^T c.
///
/// Only the lower triangle of h is read. O(n^3).
Eigen::VectorXd shortest_solution(const Eigen::MatrixXd& h, const Eigen::VectorXd& c);

}  // namespace paceline

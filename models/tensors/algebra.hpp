// Products, norms and least squares of Eigen vectors, computed in an order that does not depend on
// the machine.
//
// Eigen chooses the order of its sums by the width of packets and the size of caches. Its entrywise
// expressions (+ - * / sqrt abs max select) involve no order, so Eigen still computes them.
// Everything that sums entries is here:
//
//   sum, dot, norm, ..       see sim/numeric/sums.hpp: 32 lanes, folded in halves
//   M x                      column after column, from the left: y = ((m_1 x_1) + m_2 x_2) + ..
//   M^T x                    a dot product of each column
//   M Q   (rows of M)        a dot product of each row and column of Q
//   M^T P (rows of M)        row after row, from the top: q = (m_1 p_1) + m_2 p_2 + ..
//   P Q^T                    column after column of P and Q, from the first
//   shortest_solution        Cholesky's factorization with pivots, column after column
//
// Nothing is fused. Loops are blocked for the cache only; blocking does not change an order.
#pragma once

#include <Eigen/Core>

namespace paceline {

using ConstVectorRef = Eigen::Ref<const Eigen::VectorXd>;
using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

double sum(const ConstVectorRef& x);
double dot(const ConstVectorRef& x, const ConstVectorRef& y);
double squared_norm(const ConstVectorRef& x);
double norm(const ConstVectorRef& x);
double squared_distance(const ConstVectorRef& x, const ConstVectorRef& y);

/// Returns the sum of each row, added from the first column to the last.
Eigen::VectorXd sums_of_rows(const Eigen::MatrixXd& m);
Eigen::VectorXd sums_of_columns(const Eigen::MatrixXd& m);

/// Returns M x, in float.
Eigen::VectorXf product(const Eigen::MatrixXf& m, const Eigen::Ref<const Eigen::VectorXf>& x);
/// Returns M^T N, with a dot product for each entry.
Eigen::MatrixXd transposed_product(const Eigen::MatrixXd& m, const Eigen::MatrixXd& n);

// Products with matrices of few columns. Wide matrices are stored row by row.
using ConstWideMap = Eigen::Map<const RowMajorMatrix>;
using ConstThinMap = Eigen::Map<const Eigen::MatrixXd>;
using ThinMap = Eigen::Map<Eigen::MatrixXd>;

/// Computes P = M Q.
void multiply(const ConstWideMap& m, const ConstThinMap& q, ThinMap p);
/// Computes Q = M^T P.
void multiply_transposed(const ConstWideMap& m, const ConstThinMap& p, ThinMap q);
/// Computes M = P Q^T.
void multiply_outer(const ConstThinMap& p, const ConstThinMap& q, Eigen::Map<RowMajorMatrix> m);

/// Makes the columns orthonormal in place (Gram-Schmidt, twice). Zero columns stay zero.
void orthonormalize(ThinMap columns);

/// Returns the shortest x that minimizes |h x - c|, for a symmetric h without negative eigenvalues.
///
///   h = L L^T with pivots on the diagonal (Higham, Accuracy and Stability of Numerical Algorithms,
///   10.3). Pivots below 1e-13 of the greatest count as zero. If none do, x = L^-T L^-1 c.
///   Otherwise L = Q R (Gram-Schmidt), and x = Q R^-T R^-1 Q^T c.
///
/// Only the lower triangle of h is read. O(n^3).
Eigen::VectorXd shortest_solution(const Eigen::MatrixXd& h, const Eigen::VectorXd& c);

}  // namespace paceline

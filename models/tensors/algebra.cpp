#include "models/tensors/algebra.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "sim/engine/check.hpp"
#include "sim/numeric/sums.hpp"

namespace paceline {

namespace {

using Eigen::Index;

std::span<const double> entries(const ConstVectorRef& x) {
    return {x.data(), static_cast<std::size_t>(x.size())};
}

constexpr Index columns_at_once = 512;  // of a wide matrix: with a few vectors they fit the cache

// Adds q += p_0 m_0 + p_1 m_1 + .. from left to right, for the rows of one strip of M.
template <std::size_t Rows>
void add_rows(const double* m, Index stride, std::array<double, Rows> p, Index count, double* q) {
    for (Index j = 0; j < count; ++j) {
        double total = q[j];
        for (std::size_t i = 0; i < Rows; ++i)
            total += p[i] * m[static_cast<Index>(i) * stride + j];
        q[j] = total;
    }
}

// A Cholesky factorization with reordered rows and columns.
struct Factors {
    Eigen::MatrixXd l;         // n x rank, in the new order
    std::vector<Index> order;  // original row of each row of l
};

Factors factorize(Eigen::MatrixXd h) {
    constexpr double least_share = 1e-13;
    const Index n = h.rows();
    Factors factors{Eigen::MatrixXd::Zero(n, n), std::vector<Index>(static_cast<std::size_t>(n))};
    std::iota(factors.order.begin(), factors.order.end(), Index{0});
    Eigen::MatrixXd& l = factors.l;
    for (Index j = 1; j < n; ++j)
        for (Index i = 0; i < j; ++i) h(i, j) = h(j, i);
    const double least = n > 0 ? least_share * h.diagonal().maxCoeff() : 0;
    Index rank = 0;
    for (; rank < n; ++rank) {
        Index pivot = 0;
        const double greatest = h.diagonal().tail(n - rank).maxCoeff(&pivot);
        if (!(greatest > least)) break;
        pivot += rank;
        h.row(rank).swap(h.row(pivot));
        h.col(rank).swap(h.col(pivot));
        l.row(rank).swap(l.row(pivot));
        std::swap(factors.order[static_cast<std::size_t>(rank)],
                  factors.order[static_cast<std::size_t>(pivot)]);
        const double root = std::sqrt(greatest);
        const Index below = n - rank - 1;
        l(rank, rank) = root;
        l.col(rank).tail(below) = h.col(rank).tail(below) / root;
        for (Index j = rank + 1; j < n; ++j)
            h.col(j).tail(below) -= l(j, rank) * l.col(rank).tail(below);
    }
    l.conservativeResize(n, rank);
    return factors;
}

// Solves L x = b in place, for a lower triangle.
void solve_lower(const Eigen::MatrixXd& l, Eigen::VectorXd& x) {
    for (Index j = 0; j < x.size(); ++j) {
        x(j) /= l(j, j);
        const Index below = x.size() - j - 1;
        x.tail(below) -= x(j) * l.col(j).tail(below);
    }
}

// Solves L^T x = b in place, for a lower triangle.
void solve_lower_transposed(const Eigen::MatrixXd& l, Eigen::VectorXd& x) {
    for (Index j = x.size(); j-- > 0;) {
        const Index below = x.size() - j - 1;
        x(j) = (x(j) - dot(l.col(j).tail(below), x.tail(below))) / l(j, j);
    }
}

// Returns x = Q R^-T R^-1 Q^T c, where L = Q R.
Eigen::VectorXd solve_singular(const Eigen::MatrixXd& l, const Eigen::VectorXd& c) {
    Eigen::MatrixXd q = l;
    orthonormalize(ThinMap(q.data(), q.rows(), q.cols()));
    const Eigen::MatrixXd lower = transposed_product(l, q);  // R^T
    Eigen::VectorXd x(q.cols());
    for (Index j = 0; j < q.cols(); ++j) x(j) = dot(q.col(j), c);
    solve_lower_transposed(lower, x);
    solve_lower(lower, x);
    Eigen::VectorXd solution = Eigen::VectorXd::Zero(q.rows());
    for (Index j = 0; j < q.cols(); ++j) solution += x(j) * q.col(j);
    return solution;
}

}  // namespace

double sum(const ConstVectorRef& x) {
    return sum(entries(x));
}

double dot(const ConstVectorRef& x, const ConstVectorRef& y) {
    return dot(entries(x), entries(y));
}

double squared_norm(const ConstVectorRef& x) {
    return squared_norm(entries(x));
}

double norm(const ConstVectorRef& x) {
    return norm(entries(x));
}

double squared_distance(const ConstVectorRef& x, const ConstVectorRef& y) {
    return squared_distance(entries(x), entries(y));
}

Eigen::VectorXd sums_of_rows(const Eigen::MatrixXd& m) {
    Eigen::VectorXd sums = Eigen::VectorXd::Zero(m.rows());
    for (Index j = 0; j < m.cols(); ++j) sums += m.col(j);
    return sums;
}

Eigen::VectorXd sums_of_columns(const Eigen::MatrixXd& m) {
    Eigen::VectorXd sums(m.cols());
    for (Index j = 0; j < m.cols(); ++j) sums(j) = sum(m.col(j));
    return sums;
}

Eigen::VectorXf product(const Eigen::MatrixXf& m, const Eigen::Ref<const Eigen::VectorXf>& x) {
    PACELINE_CHECK(m.cols() == x.size(), "a vector has an entry for every column");
    Eigen::VectorXf y = Eigen::VectorXf::Zero(m.rows());
    for (Index j = 0; j < m.cols(); ++j) y += x(j) * m.col(j);
    return y;
}

Eigen::MatrixXd transposed_product(const Eigen::MatrixXd& m, const Eigen::MatrixXd& n) {
    PACELINE_CHECK(m.rows() == n.rows(), "columns of both have one length");
    Eigen::MatrixXd result(m.cols(), n.cols());
    for (Index j = 0; j < n.cols(); ++j)
        for (Index i = 0; i < m.cols(); ++i) result(i, j) = dot(m.col(i), n.col(j));
    return result;
}

void multiply(const ConstWideMap& m, const ConstThinMap& q, ThinMap p) {
    const auto columns = static_cast<std::size_t>(m.cols());
    for (Index i = 0; i < m.rows(); ++i)
        for (Index k = 0; k < q.cols(); ++k)
            p(i, k) = dot(std::span(m.data() + i * m.cols(), columns),
                          std::span(q.data() + k * q.rows(), columns));
}

void multiply_transposed(const ConstWideMap& m, const ConstThinMap& p, ThinMap q) {
    q.setZero();
    const Index stride = m.cols();
    for (Index begin = 0; begin < m.cols(); begin += columns_at_once) {
        const Index count = std::min(columns_at_once, m.cols() - begin);
        const auto row = [&](Index i) { return m.data() + i * stride + begin; };
        Index i = 0;
        for (; i + 4 <= m.rows(); i += 4)
            for (Index k = 0; k < p.cols(); ++k)
                add_rows<4>(row(i), stride, {p(i, k), p(i + 1, k), p(i + 2, k), p(i + 3, k)}, count,
                            &q(begin, k));
        for (; i < m.rows(); ++i)
            for (Index k = 0; k < p.cols(); ++k)
                add_rows<1>(row(i), stride, {p(i, k)}, count, &q(begin, k));
    }
}

void multiply_outer(const ConstThinMap& p, const ConstThinMap& q, Eigen::Map<RowMajorMatrix> m) {
    m.setZero();
    const Index columns = p.cols();
    const Index stride = q.rows();
    for (Index begin = 0; begin < m.cols(); begin += columns_at_once) {
        const Index count = std::min(columns_at_once, m.cols() - begin);
        for (Index i = 0; i < m.rows(); ++i) {
            Index k = 0;
            for (; k + 4 <= columns; k += 4)
                add_rows<4>(q.data() + k * stride + begin, stride,
                            {p(i, k), p(i, k + 1), p(i, k + 2), p(i, k + 3)}, count, &m(i, begin));
            for (; k < columns; ++k)
                add_rows<1>(q.data() + k * stride + begin, stride, {p(i, k)}, count, &m(i, begin));
        }
    }
}

void orthonormalize(ThinMap columns) {
    for (Index j = 0; j < columns.cols(); ++j)
        for (int round = 0; round < 2; ++round) {  // one leaves rounding errors of the first
            for (Index i = 0; i < j; ++i)
                columns.col(j) -= dot(columns.col(i), columns.col(j)) * columns.col(i);
            const double length = norm(columns.col(j));
            if (length > 0) columns.col(j) /= length;
        }
}

Eigen::VectorXd shortest_solution(const Eigen::MatrixXd& h, const Eigen::VectorXd& c) {
    PACELINE_CHECK(h.rows() == h.cols() && h.rows() == c.size(),
                   "equations are as many as unknowns");
    const Factors factors = factorize(h);
    const auto source = [&](Index i) { return factors.order[static_cast<std::size_t>(i)]; };
    Eigen::VectorXd x(c.size());
    for (Index i = 0; i < x.size(); ++i) x(i) = c(source(i));
    if (factors.l.cols() == factors.l.rows()) {
        solve_lower(factors.l, x);
        solve_lower_transposed(factors.l, x);
    } else {
        x = solve_singular(factors.l, x);
    }
    Eigen::VectorXd solution(c.size());
    for (Index i = 0; i < x.size(); ++i) solution(source(i)) = x(i);
    return solution;
}

}  // namespace paceline

#include "algorithms/compression/low_rank.hpp"

#include <algorithm>

#include <boost/random/normal_distribution.hpp>

#include "sim/engine/check.hpp"

namespace paceline {

namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstWide = Eigen::Map<const RowMajor>;
using ConstThin = Eigen::Map<const Eigen::MatrixXd>;
using Thin = Eigen::Map<Eigen::MatrixXd>;

// Takes out of column j what it has in common with those before it.
void subtract_projections(Thin& p, Eigen::Index j) {
    for (Eigen::Index i = 0; i < j; ++i) p.col(j) -= p.col(i).dot(p.col(j)) * p.col(i);
}

}  // namespace

LowRank::LowRank(const Layout& layout, std::int64_t rank) : entries_(layout.entries()) {
    PACELINE_CHECK(rank >= 1, "a factor has a column or more");
    for (std::size_t j = 0; j < layout.tensors().size(); ++j) {
        const Tensor& tensor = layout.tensors()[j];
        const Eigen::Index entries = tensor.entries();
        if (!tensor.compressible() || entries == 0) {
            parts_.push_back({layout.offset(j), entries, 1, 0, rest_, 0});
            rest_ += entries;
            continue;
        }
        const Eigen::Index rows = tensor.shape.front();
        const Eigen::Index columns = entries / rows;
        const Eigen::Index r = std::min({Eigen::Index{rank}, rows, columns});
        parts_.push_back({layout.offset(j), rows, columns, r, left_, right_});
        left_ += r * rows;
        right_ += r * columns;
    }
    for (Part& part : parts_)
        if (part.rank == 0) part.left += left_;
}

Eigen::VectorXd LowRank::drawn_right(RandomStream& random) const {
    boost::random::normal_distribution<double> normal;
    Eigen::VectorXd q(right_);
    for (double& v : q) v = normal(random);
    return q;
}

Eigen::VectorXd LowRank::left(const Eigen::VectorXd& m, const Eigen::VectorXd& q) const {
    Eigen::VectorXd p(left_ + rest_);
    for (const Part& part : parts_) {
        if (part.rank == 0) {
            p.segment(part.left, part.rows) = m.segment(part.begin, part.rows);
            continue;
        }
        Thin(&p[part.left], part.rows, part.rank) =
            ConstWide(&m[part.begin], part.rows, part.columns) *
            ConstThin(&q[part.right], part.columns, part.rank);
    }
    return p;
}

Eigen::VectorXd LowRank::right(const Eigen::VectorXd& m, const Eigen::VectorXd& p,
                               const Eigen::VectorXd& before) const {
    Eigen::VectorXd q(right_);
    for (const Part& part : parts_) {
        if (part.rank == 0) continue;
        const ConstThin left(&p[part.left], part.rows, part.rank);
        const ConstThin old(&before[part.right], part.columns, part.rank);
        Thin right(&q[part.right], part.columns, part.rank);
        right = ConstWide(&m[part.begin], part.rows, part.columns).transpose() * left;
        for (Eigen::Index j = 0; j < part.rank; ++j)
            if (left.col(j).squaredNorm() == 0) right.col(j) = old.col(j);
    }
    return q;
}

void LowRank::orthonormalize(Eigen::VectorXd& p) const {
    for (const Part& part : parts_) {
        if (part.rank == 0) continue;
        Thin columns(&p[part.left], part.rows, part.rank);
        for (Eigen::Index j = 0; j < part.rank; ++j)
            for (int round = 0; round < 2; ++round) {  // once leaves rounding errors of the first
                subtract_projections(columns, j);
                const double norm = columns.col(j).norm();
                if (norm > 0) columns.col(j) /= norm;
            }
    }
}

Eigen::VectorXd LowRank::product(const Eigen::VectorXd& p, const Eigen::VectorXd& q) const {
    Eigen::VectorXd m(entries_);
    for (const Part& part : parts_) {
        if (part.rank == 0) {
            m.segment(part.begin, part.rows) = p.segment(part.left, part.rows);
            continue;
        }
        Eigen::Map<RowMajor>(&m[part.begin], part.rows, part.columns) =
            ConstThin(&p[part.left], part.rows, part.rank) *
            ConstThin(&q[part.right], part.columns, part.rank).transpose();
    }
    return m;
}

}  // namespace paceline

#include "algorithms/compression/low_rank.hpp"

#include <algorithm>

#include "models/tensors/algebra.hpp"
#include "sim/engine/check.hpp"
#include "sim/numeric/draws.hpp"

namespace paceline {

LowRank::LowRank(const Layout& layout, std::int64_t rank) : entries_(layout.entries()) {
    PACELINE_CHECK(rank >= 1, "a factor has a column or more");
    for (std::size_t j = 0; j < layout.tensors().size(); ++j) {
        const Tensor& tensor = layout.tensors()[j];
        const auto begin = static_cast<Eigen::Index>(layout.offset(j));
        const auto entries = static_cast<Eigen::Index>(tensor.entries());
        if (!tensor.compressible() || entries == 0) {
            parts_.push_back({begin, entries, 1, 0, rest_, 0});
            rest_ += entries;
            continue;
        }
        const auto rows = static_cast<Eigen::Index>(tensor.shape.front());
        const Eigen::Index columns = entries / rows;
        const Eigen::Index r = std::min({static_cast<Eigen::Index>(rank), rows, columns});
        parts_.push_back({begin, rows, columns, r, left_, right_});
        left_ += r * rows;
        right_ += r * columns;
    }
    for (Part& part : parts_)
        if (part.rank == 0) part.left += left_;
}

Eigen::VectorXd LowRank::drawn_right(RandomStream& random) const {
    Eigen::VectorXd q(right_);
    for (double& v : q) v = draw_normal(random);
    return q;
}

Eigen::VectorXd LowRank::left(const Eigen::VectorXd& m, const Eigen::VectorXd& q) const {
    Eigen::VectorXd p(left_ + rest_);
    for (const Part& part : parts_) {
        if (part.rank == 0) {
            p.segment(part.left, part.rows) = m.segment(part.begin, part.rows);
            continue;
        }
        multiply(ConstWideMap(&m[part.begin], part.rows, part.columns),
                 ConstThinMap(&q[part.right], part.columns, part.rank),
                 ThinMap(&p[part.left], part.rows, part.rank));
    }
    return p;
}

Eigen::VectorXd LowRank::right(const Eigen::VectorXd& m, const Eigen::VectorXd& p,
                               const Eigen::VectorXd& before) const {
    Eigen::VectorXd q(right_);
    for (const Part& part : parts_) {
        if (part.rank == 0) continue;
        const ConstThinMap left(&p[part.left], part.rows, part.rank);
        const ConstThinMap old(&before[part.right], part.columns, part.rank);
        ThinMap right(&q[part.right], part.columns, part.rank);
        multiply_transposed(ConstWideMap(&m[part.begin], part.rows, part.columns), left, right);
        for (Eigen::Index j = 0; j < part.rank; ++j)
            if (squared_norm(left.col(j)) == 0) right.col(j) = old.col(j);
    }
    return q;
}

void LowRank::orthonormalize(Eigen::VectorXd& p) const {
    for (const Part& part : parts_) {
        if (part.rank > 0) paceline::orthonormalize(ThinMap(&p[part.left], part.rows, part.rank));
    }
}

Eigen::VectorXd LowRank::product(const Eigen::VectorXd& p, const Eigen::VectorXd& q) const {
    Eigen::VectorXd m(entries_);
    for (const Part& part : parts_) {
        if (part.rank == 0) {
            m.segment(part.begin, part.rows) = p.segment(part.left, part.rows);
            continue;
        }
        multiply_outer(ConstThinMap(&p[part.left], part.rows, part.rank),
                       ConstThinMap(&q[part.right], part.columns, part.rank),
                       Eigen::Map<RowMajorMatrix>(&m[part.begin], part.rows, part.columns));
    }
    return m;
}

}  // namespace paceline

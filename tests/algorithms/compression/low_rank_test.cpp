#include "algorithms/compression/low_rank.hpp"

#include <Eigen/QR>
#include <doctest/doctest.h>

#include "models/tensors/layout.hpp"
#include "tests/algorithms/compression/reference_compressors.hpp"

namespace paceline::low_rank_test {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

const Layout layout({{"conv", {4, 3, 2}}, {"bias", {5}}, {"fc", {2, 7}}, {"one", {1, 3}}});

TEST_CASE("low rank: factors have r entries per row and column; 1-D tensors travel along") {
    const LowRank shape(layout, 3);

    CHECK(shape.left_entries() == 3 * 4 + 2 * 2 + 1 * 1 + 5);
    CHECK(shape.right_entries() == 3 * 6 + 2 * 7 + 1 * 3);
}

TEST_CASE("low rank, property: products are those of plain matrices") {
    const LowRank shape(layout, 3);
    for (unsigned seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        const Eigen::VectorXd m = normal_vector(seed, layout.entries());
        const Eigen::VectorXd q = normal_vector(seed + 100, shape.right_entries());
        const RowMajor conv = Eigen::Map<const RowMajor>(m.data(), 4, 6);
        const RowMajor fc = Eigen::Map<const RowMajor>(m.data() + 29, 2, 7);
        const Eigen::MatrixXd conv_q = Eigen::Map<const Eigen::MatrixXd>(q.data(), 6, 3);
        const Eigen::MatrixXd fc_q = Eigen::Map<const Eigen::MatrixXd>(q.data() + 18, 7, 2);

        const Eigen::VectorXd p = shape.left(m, q);
        const Eigen::VectorXd right = shape.right(m, p, q);
        const Eigen::VectorXd back = shape.product(p, q);

        const Eigen::MatrixXd conv_p = conv * conv_q;
        const Eigen::MatrixXd fc_p = fc * fc_q;
        CHECK((p.head(12) - conv_p.reshaped()).norm() < 1e-12);
        CHECK((p.segment(12, 4) - fc_p.reshaped()).norm() < 1e-12);
        CHECK(p.tail(5) == m.segment(24, 5));
        CHECK((right.head(18) - (conv.transpose() * conv_p).reshaped()).norm() < 1e-12);
        const RowMajor conv_back = conv_p * conv_q.transpose();
        CHECK((back.head(24) - conv_back.reshaped<Eigen::RowMajor>()).norm() < 1e-12);
        CHECK(back.segment(24, 5) == m.segment(24, 5));
    }
}

TEST_CASE("low rank, property: orthonormal columns span what the columns did") {
    const LowRank shape(Layout({{"m", {9, 5}}}), 4);
    for (unsigned seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        Eigen::VectorXd p = normal_vector(seed, 36);
        if (seed % 2 == 1) p.segment(9, 9) = 2 * p.head(9);  // makes the second column useless
        const Eigen::MatrixXd before = p.reshaped(9, 4);

        shape.orthonormalize(p);

        const Eigen::MatrixXd after = p.reshaped(9, 4);
        const Eigen::Array4d norms = after.colwise().norm();  // 0 where nothing is left of a column
        CHECK(((norms - 1).abs() < 1e-12 || norms == 0).all());
        CHECK((after.transpose() * after).isDiagonal(1e-12));
        CHECK((after * after.transpose() * before - before).norm() < 1e-11);
    }
}

TEST_CASE("low rank: a zero column stays zero, and keeps the old column of Q") {
    const LowRank shape(Layout({{"m", {4, 3}}}), 2);
    Eigen::VectorXd p = Eigen::VectorXd::Zero(8);
    p.head(4) = Eigen::VectorXd{{3, 0, 4, 0}};
    const Eigen::VectorXd before = normal_vector(1, 6);

    shape.orthonormalize(p);
    const Eigen::VectorXd q = shape.right(normal_vector(2, 12), p, before);

    CHECK(p.head(4) == Eigen::VectorXd{{0.6, 0, 0.8, 0}});
    CHECK(p.tail(4).isZero(0));
    CHECK(q.tail(3) == before.tail(3));
    CHECK(q.head(3) != before.head(3));
}

}  // namespace
}  // namespace paceline::low_rank_test

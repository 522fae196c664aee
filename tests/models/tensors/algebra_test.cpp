#include "models/tensors/algebra.hpp"

#include <cmath>
#include <random>

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <doctest/doctest.h>

namespace paceline::algebra_test {
namespace {

Eigen::MatrixXd random_matrix(Eigen::Index rows, Eigen::Index columns, std::mt19937_64& random) {
    Eigen::MatrixXd m(rows, columns);
    for (double& v : m.reshaped()) v = std::ldexp(static_cast<double>(random() >> 11), -52) - 1;
    return m;
}

bool same(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
    return a.rows() == b.rows() && a.cols() == b.cols() && (a.array() == b.array()).all();
}

}  // namespace

// The summation orders that the header fixes, one entry at a time.
TEST_CASE("algebra, property: thin products have the bits of their orders, whatever the blocks") {
    std::mt19937_64 random(1);
    for (const Eigen::Index rows : {1, 3, 4, 5, 9})
        for (const Eigen::Index columns : {1, 31, 512, 513, 1100})
            for (const Eigen::Index rank : {1, 2, 4, 7}) {
                CAPTURE(rows);
                CAPTURE(columns);
                CAPTURE(rank);
                const RowMajorMatrix m = random_matrix(rows, columns, random);
                const Eigen::MatrixXd p = random_matrix(rows, rank, random);
                const Eigen::MatrixXd q = random_matrix(columns, rank, random);
                const ConstWideMap wide(m.data(), rows, columns);
                const ConstThinMap left(p.data(), rows, rank);
                const ConstThinMap right(q.data(), columns, rank);
                Eigen::MatrixXd mq(rows, rank);
                Eigen::MatrixXd mp(columns, rank);
                RowMajorMatrix pq(rows, columns);
                multiply(wide, right, ThinMap(mq.data(), rows, rank));
                multiply_transposed(wide, left, ThinMap(mp.data(), columns, rank));
                multiply_outer(left, right, Eigen::Map<RowMajorMatrix>(pq.data(), rows, columns));

                Eigen::MatrixXd mp_by_entry = Eigen::MatrixXd::Zero(columns, rank);
                RowMajorMatrix pq_by_entry = RowMajorMatrix::Zero(rows, columns);
                for (Eigen::Index k = 0; k < rank; ++k)
                    for (Eigen::Index i = 0; i < rows; ++i) {
                        REQUIRE(mq(i, k) == dot(m.row(i).transpose().eval(), q.col(k)));
                        for (Eigen::Index j = 0; j < columns; ++j) {
                            mp_by_entry(j, k) += m(i, j) * p(i, k);
                            pq_by_entry(i, j) += p(i, k) * q(j, k);
                        }
                    }
                CHECK(same(mp, mp_by_entry));
                CHECK(same(pq, pq_by_entry));
                CHECK((mq - m * q).norm() <= 1e-13 * (1 + mq.norm()));
            }
}

TEST_CASE("algebra: sums and products are Eigen's to rounding") {
    std::mt19937_64 random(2);
    const Eigen::MatrixXd m = random_matrix(37, 5, random);
    const Eigen::MatrixXd n = random_matrix(37, 4, random);
    const Eigen::VectorXd x = random_matrix(5, 1, random);
    CHECK((sums_of_rows(m) - m.rowwise().sum()).norm() < 1e-14);
    CHECK((sums_of_columns(m) - m.colwise().sum().transpose()).norm() < 1e-14);
    CHECK((transposed_product(m, n) - m.transpose() * n).norm() < 1e-13);
    const Eigen::VectorXf exact = (m * x).cast<float>();
    CHECK((product(m.cast<float>(), x.cast<float>()) - exact).norm() < 1e-5F);
    CHECK(norm(m.col(0)) == doctest::Approx(m.col(0).norm()).epsilon(1e-15));
    CHECK(dot(m.col(0), m.col(1)) == doctest::Approx(m.col(0).dot(m.col(1))).epsilon(1e-13));
}

TEST_CASE("algebra: columns become orthonormal, and a zero column stays") {
    std::mt19937_64 random(3);
    Eigen::MatrixXd columns = random_matrix(50, 4, random);
    columns.col(3) = columns.col(0) + 1e-9 * columns.col(3);
    columns.col(1).setZero();
    orthonormalize(ThinMap(columns.data(), 50, 4));
    Eigen::MatrixXd expected = Eigen::MatrixXd::Identity(4, 4);
    expected(1, 1) = 0;
    CHECK((columns.transpose() * columns - expected).norm() < 1e-14);
}

TEST_CASE("algebra, property: the shortest solution is that of an orthogonal decomposition") {
    std::mt19937_64 random(4);
    for (int round = 0; round < 200; ++round) {
        CAPTURE(round);
        const Eigen::Index n = 1 + round % 12;
        const Eigen::Index samples = 1 + round % 17;
        const Eigen::MatrixXd a = random_matrix(samples, n, random);
        const Eigen::MatrixXd h = a.transpose() * a;
        const Eigen::VectorXd c = a.transpose() * random_matrix(samples, 1, random);
        Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> oracle;
        oracle.setThreshold(1e-10);
        const Eigen::VectorXd expected = oracle.compute(h).solve(c);
        Eigen::MatrixXd lower = h;
        lower.triangularView<Eigen::StrictlyUpper>().setConstant(std::nan(""));
        const Eigen::VectorXd x = shortest_solution(lower, c);
        const Eigen::VectorXd values = h.selfadjointView<Eigen::Lower>().eigenvalues();
        double least = values(n - 1);
        for (const double value : values)
            if (value > 1e-10 * values(n - 1)) least = std::min(least, value);
        CHECK((x - expected).norm() <= 1e-13 * values(n - 1) / least * (1 + expected.norm()));
    }
}

TEST_CASE("algebra: equations without any weight have the solution zero") {
    CHECK(shortest_solution(Eigen::MatrixXd::Zero(3, 3), Eigen::Vector3d::Zero()).isZero(0));
}

}  // namespace paceline::algebra_test

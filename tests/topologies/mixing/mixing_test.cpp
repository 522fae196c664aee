#include "topologies/mixing/mixing.hpp"

#include <cmath>
#include <numbers>
#include <vector>

#include <Eigen/Eigenvalues>
#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "tests/topologies/mixing/matrix.hpp"

namespace paceline::mixing_test {
namespace {

using doctest::Approx;

// Returns the eigenvalues in increasing order.
Eigen::VectorXd eigenvalues(const Mixing& mixing) {
    return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(matrix(mixing)).eigenvalues();
}

std::vector<Mixing> all_of(int nodes) {
    return {make_ring_mixing(nodes), make_complete_mixing(nodes)};
}

TEST_CASE("mixing, property: rows and columns of ring and complete sum to 1, and W is symmetric") {
    for (int n = 1; n <= 40; ++n)
        for (const Mixing& mixing : all_of(n)) {
            CAPTURE(n);

            const Eigen::MatrixXd w = matrix(mixing);

            CHECK(mixing.nodes() == n);
            CHECK((w.rowwise().sum().array() - 1).abs().maxCoeff() <= 1e-12);
            CHECK((w.colwise().sum().array() - 1).abs().maxCoeff() <= 1e-12);
            CHECK(w == w.transpose());
            CHECK(w.minCoeff() >= 0);
        }
}

TEST_CASE("mixing: on a ring a node averages with itself and its two neighbors, 1/3 each") {
    const Eigen::MatrixXd w = matrix(make_ring_mixing(5));

    CHECK(w(0, 0) == Approx(1.0 / 3).epsilon(1e-15));
    CHECK(w(0, 1) == Approx(1.0 / 3).epsilon(1e-15));
    CHECK(w(0, 4) == Approx(1.0 / 3).epsilon(1e-15));
    CHECK(w(0, 2) == 0);
    CHECK(w(0, 3) == 0);
    CHECK(w(3, 2) == Approx(1.0 / 3).epsilon(1e-15));
}

TEST_CASE("mixing: a ring of one node is the node itself") {
    CHECK(matrix(make_ring_mixing(1)) == Eigen::MatrixXd::Ones(1, 1));
    CHECK(make_ring_mixing(1).listeners(0).empty());
}

TEST_CASE("mixing: a ring of two nodes halves") {
    CHECK(matrix(make_ring_mixing(2)) == Eigen::MatrixXd::Constant(2, 2, 0.5));
    CHECK(make_ring_mixing(2).listeners(0) == std::vector<int>{1});
}

TEST_CASE("mixing: a ring of three nodes is complete") {
    CHECK(matrix(make_ring_mixing(3)) == matrix(make_complete_mixing(3)));
}

TEST_CASE("mixing: the second eigenvalue of a ring is 1/3 + 2/3 cos(2 pi / n)") {
    for (const int n : {4, 8, 16}) {
        CAPTURE(n);
        const double expected = 1.0 / 3 + 2.0 / 3 * std::cos(2 * std::numbers::pi / n);

        const Eigen::VectorXd found = eigenvalues(make_ring_mixing(n));

        CHECK(found(n - 1) == Approx(1).epsilon(1e-12));
        CHECK(found(n - 2) == Approx(expected).epsilon(1e-12));
        CHECK(found(0) >= -1.0 / 3 - 1e-12);
    }
}

TEST_CASE("mixing: the second eigenvalue of a complete graph is 0: averaging is exact") {
    const Eigen::VectorXd found = eigenvalues(make_complete_mixing(9));

    CHECK(found(8) == Approx(1).epsilon(1e-12));
    CHECK(found.head(8).cwiseAbs().maxCoeff() <= 1e-12);
}

TEST_CASE("mixing: a row names nodes in increasing order, its own included") {
    const Mixing ring = make_ring_mixing(4);

    REQUIRE(ring.row(3).size() == 3);
    CHECK(ring.row(3)[0].node == 0);
    CHECK(ring.row(3)[1].node == 2);
    CHECK(ring.row(3)[2].node == 3);
}

TEST_CASE("mixing: listeners are the others whose rows have a weight for the node") {
    const Mixing directed({{{0, 1}}, {{0, 0.5}, {1, 0.5}}, {{0, 0.25}, {1, 0.25}, {2, 0.5}}});

    CHECK(directed.listeners(0) == std::vector<int>{1, 2});
    CHECK(directed.listeners(1) == std::vector<int>{2});
    CHECK(directed.listeners(2).empty());
    CHECK(make_ring_mixing(6).listeners(0) == std::vector<int>{1, 5});
    CHECK(make_complete_mixing(4).listeners(2) == std::vector<int>{0, 1, 3});
}

TEST_CASE("mixing: a row that does not sum to 1 within 1e-12 is refused") {
    CHECK_THROWS_AS(Mixing({{{0, 0.9}}}), LogicError);
    CHECK_THROWS_AS(Mixing({{{0, 1 + 1e-11}}}), LogicError);
    CHECK_THROWS_AS(Mixing({{{0, 1}}, {}}), LogicError);
    CHECK_NOTHROW(Mixing({{{0, 1 + 1e-13}}}));
}

TEST_CASE("mixing: a row out of order, with a node twice or with an unknown one is refused") {
    CHECK_THROWS_AS(Mixing({{{1, 0.5}, {0, 0.5}}, {{1, 1}}}), LogicError);
    CHECK_THROWS_AS(Mixing({{{0, 0.5}, {0, 0.5}}}), LogicError);
    CHECK_THROWS_AS(Mixing({{{0, 0.5}, {1, 0.5}}}), LogicError);
    CHECK_THROWS_AS(Mixing({{{-1, 0.5}, {0, 0.5}}}), LogicError);
}

TEST_CASE("mixing: there is no mixing of fewer than one node") {
    CHECK_THROWS_AS(make_ring_mixing(0), LogicError);
    CHECK_THROWS_AS(make_complete_mixing(0), LogicError);
}

}  // namespace
}  // namespace paceline::mixing_test

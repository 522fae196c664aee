#include "topologies/mixing/graphs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include <Eigen/Eigenvalues>
#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "tests/topologies/mixing/matrix.hpp"

namespace paceline::graphs_test {
namespace {

using doctest::Approx;

/// Returns the second largest |eigenvalue|.
double contraction(const Mixing& mixing) {
    Eigen::VectorXd sizes =
        Eigen::EigenSolver<Eigen::MatrixXd>(matrix(mixing)).eigenvalues().cwiseAbs();
    std::sort(sizes.begin(), sizes.end());
    return sizes.size() < 2 ? 0 : sizes(sizes.size() - 2);
}

double second(const Mixing& mixing) {
    const Eigen::VectorXd values =
        Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(matrix(mixing)).eigenvalues();
    return values(values.size() - 2);
}

std::vector<Mixing> all_of(int n) {
    std::vector<Mixing> all{make_star_mixing(n), make_grid_mixing(rows_for(n), n / rows_for(n)),
                            make_torus_mixing(rows_for(n), n / rows_for(n)),
                            make_exponential_mixing(n), make_symmetric_exponential_mixing(n)};
    if ((n & (n - 1)) == 0) all.push_back(make_hypercube_mixing(n));
    return all;
}

TEST_CASE(
    "graphs: grids and tori join a node with the next one of its row and column, of any size") {
    for (int rows = 1; rows <= 6; ++rows)
        for (int columns = 1; columns <= 6; ++columns)
            for (const bool is_torus : {false, true}) {
                CAPTURE(rows);
                CAPTURE(columns);
                CAPTURE(is_torus);
                const Mixing mixing =
                    is_torus ? make_torus_mixing(rows, columns) : make_grid_mixing(rows, columns);
                REQUIRE(mixing.nodes() == rows * columns);
                const auto steps = [&](int from, int to, int length) {
                    const int apart = std::abs(from - to);
                    return is_torus ? std::min(apart, length - apart) : apart;
                };
                for (int i = 0; i < mixing.nodes(); ++i) {
                    std::vector<int> expected;
                    for (int j = 0; j < mixing.nodes(); ++j)
                        if (steps(i / columns, j / columns, rows) +
                                steps(i % columns, j % columns, columns) <=
                            1)
                            expected.push_back(j);
                    std::vector<int> heard;
                    for (const MixingWeight& w : mixing.row(i)) heard.push_back(w.node);
                    CHECK(heard == expected);
                }
            }
}

TEST_CASE(
    "mixing graphs, property: doubly stochastic, connected, and lazy ones have no "
    "negative eigenvalue") {
    for (int n = 1; n <= 40; ++n)
        for (const Mixing& mixing : all_of(n)) {
            CAPTURE(n);
            const Eigen::MatrixXd w = matrix(mixing);
            CHECK(w.rows() == n);
            CHECK((w.rowwise().sum().array() - 1).abs().maxCoeff() <= 1e-12);
            CHECK((w.colwise().sum().array() - 1).abs().maxCoeff() <= 1e-12);
            CHECK(w.minCoeff() >= 0);
            if (n > 1) CHECK(contraction(lazy(mixing)) < 1 - 1e-6);
            CHECK((matrix(lazy(mixing)) - (Eigen::MatrixXd::Identity(n, n) + w) / 2)
                      .cwiseAbs()
                      .maxCoeff() < 1e-15);
        }
}

TEST_CASE("mixing graphs: all but the exponential are symmetric") {
    for (int n = 1; n <= 40; ++n) {
        CAPTURE(n);
        for (const Mixing& mixing : all_of(n)) {
            const Eigen::MatrixXd w = matrix(mixing);
            const bool directed = w == matrix(make_exponential_mixing(n));
            if (!directed) CHECK(w == w.transpose());
        }
    }
    const Eigen::MatrixXd w = matrix(make_exponential_mixing(8));
    CHECK(w(0, 7) == 0.25);
    CHECK(w(0, 6) == 0.25);
    CHECK(w(0, 4) == 0.25);
    CHECK(w(0, 1) == 0);
}

TEST_CASE("mixing graphs: spectral gaps are the published ones") {
    CHECK(second(make_grid_mixing(2, 2)) == Approx(1.0 / 3).epsilon(1e-6));
    CHECK(second(make_grid_mixing(2, 4)) == Approx(0.853553).epsilon(1e-6));
    CHECK(second(make_grid_mixing(4, 4)) == Approx(0.868641).epsilon(1e-6));
    CHECK(second(make_grid_mixing(4, 8)) == Approx(0.965778).epsilon(1e-6));
    CHECK(second(make_grid_mixing(8, 8)) == Approx(0.967705).epsilon(1e-6));
    CHECK(second(make_torus_mixing(2, 4)) == Approx(0.5).epsilon(1e-6));
    CHECK(second(make_torus_mixing(4, 4)) == Approx(0.6).epsilon(1e-6));
    CHECK(second(make_torus_mixing(4, 8)) == Approx(0.882843).epsilon(1e-6));
    CHECK(second(make_torus_mixing(8, 8)) == Approx(0.882843).epsilon(1e-6));
    for (const int n : {3, 5, 8, 33})
        CHECK(second(make_star_mixing(n)) == Approx(1 - 1.0 / n).epsilon(1e-9));
    for (const int n : {4, 8, 16, 32, 64}) {
        const double log = std::log2(n);
        CHECK(contraction(make_exponential_mixing(n)) == Approx(1 - 2 / (1 + log)).epsilon(1e-6));
        CHECK(second(make_hypercube_mixing(n)) == Approx(1 - 2 / (1 + log)).epsilon(1e-6));
        CHECK(second(make_symmetric_exponential_mixing(n)) ==
              Approx(1 - 2 / (1 + log)).epsilon(1e-4));
    }
    CHECK(contraction(make_exponential_mixing(5)) == Approx(0.25).epsilon(1e-6));
    CHECK(contraction(make_exponential_mixing(7)) == Approx(0.3536).epsilon(1e-3));
    CHECK(contraction(make_exponential_mixing(15)) == Approx(0.4899).epsilon(1e-3));
}

TEST_CASE("mixing graphs, property: max-degree weights are 1 / (1 + d_max), and keep the mean") {
    for (const Mixing& graph : {make_star_mixing(6), make_grid_mixing(3, 4), make_ring_mixing(7),
                                make_exponential_mixing(6), make_complete_mixing(1)}) {
        const Mixing mixing = max_degree_weights(graph);
        std::size_t most = 0;
        for (int i = 0; i < graph.nodes(); ++i) most = std::max(most, graph.row(i).size() - 1);
        for (int i = 0; i < graph.nodes(); ++i) {
            REQUIRE(mixing.row(i).size() == graph.row(i).size());
            double sum = 0;
            for (const MixingWeight& w : mixing.row(i)) {
                sum += w.weight;
                if (w.node != i)
                    CHECK(w.weight == doctest::Approx(1 / (1 + static_cast<double>(most))));
            }
            CHECK(sum == doctest::Approx(1));
        }
        CHECK(std::abs(worst_column(mixing).sum - 1) < 1e-12);
        CHECK(is_symmetric(mixing) == is_symmetric(graph));
    }
}

TEST_CASE("mixing graphs: a rectangle is as square as its number of nodes allows") {
    CHECK(rows_for(1) == 1);
    CHECK(rows_for(7) == 1);
    CHECK(rows_for(12) == 3);
    CHECK(rows_for(36) == 6);
}

TEST_CASE("mixing graphs: impossible graphs are refused") {
    CHECK_THROWS_AS(make_hypercube_mixing(6), LogicError);
    CHECK_THROWS_AS(make_grid_mixing(0, 3), LogicError);
    CHECK_THROWS_AS(metropolis_hastings({{1}, {}}), LogicError);
}

}  // namespace
}  // namespace paceline::graphs_test

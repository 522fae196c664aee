#include "topologies/mixing/eigenvalues.hpp"

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <boost/random/uniform_int_distribution.hpp>
#include <boost/random/uniform_real_distribution.hpp>
#include <doctest/doctest.h>

#include "sim/engine/random.hpp"
#include "tests/topologies/mixing/matrix.hpp"
#include "topologies/mixing/graphs.hpp"

namespace paceline::eigenvalues_test {
namespace {

Eigen::VectorXd eigenvalues_of(const Mixing& mixing) {
    return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(matrix(mixing)).eigenvalues();
}

// Cliques of random sizes: each has the eigenvalues 1 and 0 alone, so few are distinct.
Mixing cliques(RandomStream& random) {
    boost::random::uniform_int_distribution<int> count(1, 4);
    boost::random::uniform_int_distribution<int> size(1, 30);
    std::vector<std::vector<int>> neighbors;
    for (int clique = 0, all = count(random); clique < all; ++clique) {
        const int first = static_cast<int>(neighbors.size());
        const int n = size(random) + (clique == 0 ? 2 : 0);
        for (int i = 0; i < n; ++i) {
            neighbors.emplace_back();
            for (int j = 0; j < n; ++j)
                if (j != i) neighbors.back().push_back(first + j);
        }
    }
    return metropolis_hastings(neighbors);
}

TEST_CASE("eigenvalues, property: what iteration finds is that of the dense matrix, or nothing") {
    const RandomStreams streams(5);
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        RandomStream random = streams.stream("graph", seed);
        const Mixing whole = cliques(random);
        const Mixing mixing = seed % 2 == 0 ? whole : lazy(whole);
        CAPTURE(seed);
        const Eigen::VectorXd dense = eigenvalues_of(mixing);

        const ExtremeEigenvalues found = iterated_extremes(mixing);

        if (found.second) CHECK(std::abs(*found.second - dense(dense.size() - 2)) < 1e-7);
        if (found.least) CHECK(std::abs(*found.least - dense(0)) < 1e-7);
    }
}

TEST_CASE("eigenvalues: on graphs in one part, iteration finds both") {
    for (const Mixing& mixing :
         {make_star_mixing(50), make_torus_mixing(6, 9), make_grid_mixing(5, 11),
          make_hypercube_mixing(64), make_symmetric_exponential_mixing(45)}) {
        const Eigen::VectorXd dense = eigenvalues_of(mixing);
        CAPTURE(mixing.nodes());
        const ExtremeEigenvalues found = iterated_extremes(mixing);
        CHECK(std::abs(found.second.value() - dense(dense.size() - 2)) < 1e-9);
        CHECK(std::abs(found.least.value() - dense(0)) < 1e-9);
    }
}

TEST_CASE("eigenvalues, property: the norm of a product by iteration is the dense one, or none") {
    const RandomStreams streams(6);
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        RandomStream random = streams.stream("graph", seed);
        const Mixing mixing = cliques(random);
        const auto w = std::make_shared<const Mixing>(mixing);
        CAPTURE(seed);
        const Eigen::MatrixXd rest = (matrix(mixing) * matrix(mixing)).array() - 1.0 / w->nodes();
        const double norm = rest.jacobiSvd().singularValues()(0);

        const auto iterated = iterated_norm_on_mean_zero({w, w});

        if (iterated) CHECK(std::abs(*iterated - norm) < 1e-7);
        CHECK(std::abs(dense_norm_on_mean_zero({w, w}).value() - norm) < 1e-7);
    }
}

}  // namespace
}  // namespace paceline::eigenvalues_test

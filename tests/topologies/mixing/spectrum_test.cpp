#include "topologies/mixing/spectrum.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
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

namespace paceline::spectrum_test {
namespace {

using doctest::Approx;

double rho(const MixingSchedule& schedule) {
    return spectrum(schedule).rho.value();
}

double norm_without_mean(const Eigen::MatrixXd& w) {
    const Eigen::MatrixXd rest = w.array() - 1.0 / static_cast<double>(w.rows());
    return rest.jacobiSvd().singularValues()(0);
}

Mixing random_graph(int n, RandomStream& random, double density) {
    boost::random::uniform_real_distribution<double> uniform(0, 1);
    std::vector<std::vector<int>> neighbors(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i)
        for (int j = i + 1; j < n; ++j)
            if (j == i + 1 || uniform(random) < density) {
                neighbors[static_cast<std::size_t>(i)].push_back(j);
                neighbors[static_cast<std::size_t>(j)].push_back(i);
            }
    return metropolis_hastings(neighbors);
}

/// A third each of two random permutations and the identity: directed and doubly stochastic.
Mixing random_directed(int n, RandomStream& random) {
    Eigen::MatrixXd w = Eigen::MatrixXd::Identity(n, n) / 3;
    for (int which = 0; which < 2; ++which) {
        std::vector<int> order;
        for (int i = 0; i < n; ++i) {
            boost::random::uniform_int_distribution<int> place(0, i);
            order.insert(order.begin() + place(random), i);
        }
        for (int i = 0; i < n; ++i) w(i, order[static_cast<std::size_t>(i)]) += 1.0 / 3;
    }
    std::vector<std::vector<MixingWeight>> rows(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            if (w(i, j) > 0) rows[static_cast<std::size_t>(i)].push_back({j, w(i, j)});
    return Mixing(std::move(rows));
}

TEST_CASE("spectrum: rho of every graph is the published one, to 6 digits") {
    const auto is = [](const MixingSchedule& schedule, double published) {
        CAPTURE(published);
        CHECK(std::abs(rho(schedule) - published) <= 5.1e-7);
    };
    is(make_ring_mixing(4), 1.0 / 3);
    is(make_ring_mixing(8), 0.804738);
    is(make_ring_mixing(16), 0.949253);
    is(make_ring_mixing(32), 0.987190);
    is(make_ring_mixing(64), 0.996790);
    is(make_exponential_mixing(4), 1.0 / 3);
    is(make_exponential_mixing(8), 0.5);
    is(make_exponential_mixing(16), 0.6);
    is(make_exponential_mixing(32), 2.0 / 3);
    is(make_exponential_mixing(64), 5.0 / 7);
    is(make_exponential_mixing(128), 0.75);
    is(make_exponential_mixing(5), 0.25);
    is(make_grid_mixing(2, 2), 1.0 / 3);
    is(make_grid_mixing(2, 4), 0.853553);
    is(make_grid_mixing(4, 4), 0.868641);
    is(make_grid_mixing(4, 8), 0.965778);
    is(make_grid_mixing(8, 8), 0.967705);
    is(make_torus_mixing(2, 4), 0.5);
    is(make_torus_mixing(4, 4), 0.6);
    is(make_torus_mixing(4, 8), 0.882843);
    is(make_torus_mixing(8, 8), 0.882843);
    for (const int n : {2, 4, 8, 16, 32, 64, 128}) {
        is(make_hypercube_mixing(n), 1 - 2 / (1 + std::log2(n)));
        is(make_complete_mixing(n), 0);
    }
    for (const int n : {3, 8, 33, 1000}) is(make_star_mixing(n), 1 - 1.0 / n);
}

TEST_CASE("spectrum: what is published to 4 digits is met to 4") {
    for (const auto& [n, published] :
         std::vector<std::pair<int, double>>{{7, 0.3536}, {9, 0.4418}, {15, 0.4899}})
        CHECK(std::abs(rho(make_exponential_mixing(n)) - published) <= 5.1e-5);
    for (const auto& [n, published] : std::vector<std::pair<int, double>>{
             {4, -0.333}, {8, -0.354}, {16, -0.483}, {32, -0.513}, {64, -0.582}})
        CHECK(std::abs(spectrum(make_symmetric_exponential_mixing(n)).least.value() - published) <=
              5.1e-4);
}

TEST_CASE(
    "spectrum: lambda_n of even rings is -1/3, of hypercubes minus rho, of lazy ones not < 0") {
    for (const int n : {4, 8, 20})
        CHECK(spectrum(make_ring_mixing(n)).least.value() == Approx(-1.0 / 3).epsilon(1e-12));
    for (const int n : {4, 8, 64}) {
        const Spectrum found = spectrum(make_hypercube_mixing(n));
        CHECK(found.least.value() == Approx(-found.rho.value()).epsilon(1e-9));
        CHECK(std::abs(spectrum(lazy(make_hypercube_mixing(n))).least.value() -
                       (1 - found.rho.value()) / 2) < 1e-9);
    }
}

TEST_CASE("spectrum, property: for random undirected graphs it equals that of the dense matrix") {
    const RandomStreams streams(1);
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        RandomStream random = streams.stream("graph", seed);
        boost::random::uniform_int_distribution<int> size(2, 64);
        const int n = size(random);
        const Mixing mixing = random_graph(n, random, seed % 3 == 0 ? 0.02 : 0.3);
        CAPTURE(seed);
        CAPTURE(n);
        const Eigen::VectorXd dense =
            Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(matrix(mixing)).eigenvalues();

        const Spectrum found = spectrum(mixing);

        CHECK(found.symmetric);
        CHECK(std::abs(found.rho.value() - std::max(std::abs(dense(0)), std::abs(dense(n - 2)))) <
              1e-9);
        CHECK(std::abs(found.least.value() - dense(0)) < 1e-9);
    }
}

TEST_CASE("spectrum, property: few distinct eigenvalues do not stop the iteration early") {
    const auto bipartite = [](int left, int right) {
        std::vector<std::vector<int>> neighbors(static_cast<std::size_t>(left + right));
        for (int i = 0; i < left; ++i)
            for (int j = left; j < left + right; ++j) {
                neighbors[static_cast<std::size_t>(i)].push_back(j);
                neighbors[static_cast<std::size_t>(j)].push_back(i);
            }
        return metropolis_hastings(neighbors);
    };
    for (const int left : {1, 2, 5, 20})
        for (const int right : {2, 3, 9, 40})
            for (const Mixing& mixing : {bipartite(left, right), lazy(bipartite(left, right)),
                                         lazy(make_star_mixing(left + right))}) {
                const Eigen::VectorXd dense =
                    Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(matrix(mixing)).eigenvalues();
                const Eigen::Index n = dense.size();
                CAPTURE(left);
                CAPTURE(right);

                const Spectrum found = spectrum(mixing);

                CHECK(std::abs(found.rho.value() -
                               std::max(std::abs(dense(0)), std::abs(dense(n - 2)))) < 1e-9);
                CHECK(std::abs(found.least.value() - dense(0)) < 1e-9);
            }
}

TEST_CASE("spectrum, property: for a random directed W it is the norm of W - J") {
    const RandomStreams streams(2);
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        RandomStream random = streams.stream("graph", seed);
        boost::random::uniform_int_distribution<int> size(2, 64);
        const int n = size(random);
        const Mixing mixing = random_directed(n, random);
        CAPTURE(seed);
        CAPTURE(n);

        const Spectrum found = spectrum(mixing);

        CHECK(std::abs(found.rho.value() - norm_without_mean(matrix(mixing))) < 1e-8);
        CHECK(found.symmetric == is_symmetric(mixing));
        CHECK(found.least.has_value() == found.symmetric);
    }
}

TEST_CASE("spectrum, property: for periodic mixings it is the norm of their product minus J") {
    const RandomStreams streams(3);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        RandomStream random = streams.stream("graph", seed);
        const int n = 3 + static_cast<int>(seed);
        const std::vector<Mixing> period{random_directed(n, random), random_graph(n, random, 0.2),
                                         random_directed(n, random)};
        CAPTURE(n);

        const Spectrum found = spectrum(MixingSchedule::periodic(period));

        const Eigen::MatrixXd product = matrix(period[2]) * matrix(period[1]) * matrix(period[0]);
        CHECK(std::abs(found.rho.value() - norm_without_mean(product)) < 1e-8);
        CHECK(found.steps == 3);
        CHECK(found.gap().value() == Approx(1 - std::cbrt(found.rho.value())));
        CHECK(!found.least);
    }
}

TEST_CASE("spectrum: one-peer graphs forget all in a period where n is a power of two") {
    for (int n = 2; n <= 33; ++n) {
        CAPTURE(n);
        const bool exact = (n & (n - 1)) == 0;
        CHECK((rho(make_one_peer_exponential(n)) == 0) == exact);
        if (exact) CHECK(rho(make_one_peer_hypercube(n)) == 0);
        if (exact) CHECK(spectrum(make_one_peer_exponential(n)).gap() == 1.0);
    }
}

TEST_CASE("spectrum: a random matching shrinks the mean square of disagreement by rho^2") {
    for (const int n : {7, 16}) {
        constexpr int draws = 4000;
        CAPTURE(n);
        const MixingSchedule schedule = make_random_matching(n, 17);
        const Eigen::VectorXd x =
            Eigen::VectorXd::LinSpaced(n, -1, 1).array().cube();  // of mean zero
        double mean = 0;
        for (std::int64_t k = 0; k < draws; ++k)
            mean += (matrix(*schedule.at(k)) * x).squaredNorm() / x.squaredNorm() / draws;

        const Spectrum found = spectrum(schedule);

        CHECK(mean == Approx(*found.rho * *found.rho).epsilon(0.02));
        CHECK(found.symmetric);
        CHECK(!found.least);
    }
}

// Returns W of the edges among `n` nodes, with Metropolis weights.
Mixing of_edges(int n, const std::vector<std::pair<int, int>>& edges) {
    std::vector<std::vector<int>> neighbors(static_cast<std::size_t>(n));
    for (const auto& [i, j] : edges) {
        neighbors[static_cast<std::size_t>(i)].push_back(j);
        neighbors[static_cast<std::size_t>(j)].push_back(i);
    }
    return metropolis_hastings(neighbors);
}

std::vector<std::pair<int, int>> complete_among_first(int n) {
    std::vector<std::pair<int, int>> edges;
    for (int i = 0; i < n; ++i)
        for (int j = i + 1; j < n; ++j) edges.emplace_back(i, j);
    return edges;
}

TEST_CASE("spectrum: pairs and complete parts beside lonely nodes have rho 1 and lambda_n 0") {
    for (const int n : {3, 4, 5, 8, 16, 32, 64, 96, 200, 1000}) {
        CAPTURE(n);
        const Spectrum pair = spectrum(of_edges(n, {{0, 1}}));
        CHECK(pair.rho == 1.0);
        CHECK(pair.parts == static_cast<std::size_t>(n - 1));
        CHECK(std::abs(pair.least.value()) < 1e-12);
        if (n > 200) continue;
        const Spectrum complete = spectrum(of_edges(n, complete_among_first(n - 1)));
        CHECK(complete.rho == 1.0);
        CHECK(complete.gap() == 0.0);
        CHECK(complete.parts == 2);
        CHECK(std::abs(complete.least.value()) < 1e-12);
    }
}

TEST_CASE("spectrum: a ring beside a lonely node has the ring's lambda_n") {
    std::vector<std::pair<int, int>> ring;
    for (int i = 0; i < 20; ++i) ring.emplace_back(i, (i + 1) % 20);
    const Spectrum found = spectrum(of_edges(21, ring));
    CHECK(found.rho == 1.0);
    CHECK(found.least.value() == Approx(-1.0 / 3).epsilon(1e-12));
}

TEST_CASE("spectrum, property: rho is in [0, 1], and 1 if and only if there are several parts") {
    const RandomStreams streams(4);
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        RandomStream random = streams.stream("graph", seed);
        boost::random::uniform_int_distribution<int> size(2, 40);
        boost::random::uniform_int_distribution<int> wanted(1, 6);
        boost::random::uniform_real_distribution<double> uniform(0, 1);
        const int n = size(random);
        const int parts = std::min(n, wanted(random));
        const double density = std::array{0.0, 0.1, 1.0}[seed % 3];
        std::vector<std::pair<int, int>> edges;  // node i is in part i mod parts
        for (int i = 0; i < n; ++i)
            for (int j = i + parts; j < n; j += parts)
                if (j == i + parts || uniform(random) < density) edges.emplace_back(i, j);
        const Mixing mixing =
            seed % 2 == 0 ? of_edges(n, edges) : lazy(max_degree_weights(of_edges(n, edges)));
        CAPTURE(seed);
        const Eigen::VectorXd dense =
            Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(matrix(mixing)).eigenvalues();

        const Spectrum found = spectrum(mixing);

        CHECK(found.parts == static_cast<std::size_t>(parts));
        CHECK(found.rho.value() >= 0);
        CHECK(found.rho.value() <= 1);
        CHECK((found.rho == 1.0) == (parts > 1));
        CHECK(std::abs(found.rho.value() - std::max(std::abs(dense(0)), std::abs(dense(n - 2)))) <
              1e-9);
        CHECK(std::abs(found.least.value() - dense(0)) < 1e-9);
    }
}

TEST_CASE("spectrum: nodes that only swap never agree, though they are in one part") {
    const Mixing swap({{{1, 1.0}}, {{0, 1.0}}});
    CHECK(spectrum(swap).rho == 1.0);
    CHECK(spectrum(swap).parts == 1);
    CHECK(spectrum(swap).least == -1.0);
}

TEST_CASE("spectrum: parts that meet in another step of the period are one") {
    const Mixing first = of_edges(4, {{0, 1}, {2, 3}});
    const Mixing second = of_edges(4, {{0, 2}, {1, 3}});
    CHECK(spectrum(MixingSchedule::periodic({first, first})).rho == 1.0);
    CHECK(spectrum(MixingSchedule::periodic({first, first})).parts == 2);
    CHECK(spectrum(MixingSchedule::periodic({first, second})).parts == 1);
    CHECK(std::abs(rho(MixingSchedule::periodic({first, second}))) < 1e-12);
}

TEST_CASE("spectrum: thousands of nodes, where no dense matrix is made") {
    // Products of rings: the eigenvalues of a torus are those of its rings, weighed by edges.
    const auto ring = [](int j, int n) { return std::cos(2 * std::numbers::pi * j / n); };
    const double of_torus = (1 + 2 * ring(1, 80) + 2) / 5;
    CHECK(std::abs(rho(make_torus_mixing(40, 80)) - of_torus) < 1e-8);
    CHECK(std::abs(rho(make_hypercube_mixing(4096)) - 11.0 / 13) < 1e-8);
    CHECK(std::abs(rho(make_star_mixing(3000)) - (1 - 1.0 / 3000)) < 1e-8);
    CHECK(rho(make_one_peer_hypercube(4096)) == 0);
    const Spectrum pair = spectrum(of_edges(5000, {{0, 1}}));
    CHECK(pair.rho == 1.0);
    CHECK(std::abs(pair.least.value()) < 1e-12);
}

TEST_CASE("spectrum: a graph of two parts never agrees, and one node has nothing to forget") {
    CHECK(rho(metropolis_hastings({{1}, {0}, {3}, {2}})) == Approx(1).epsilon(1e-12));
    for (const MixingSchedule& one : {MixingSchedule(make_star_mixing(1)),
                                      make_one_peer_exponential(1), make_random_matching(1, 1)})
        CHECK(rho(one) == 0);
    CHECK(rho(make_random_matching(2, 1)) == 0);
}

}  // namespace
}  // namespace paceline::spectrum_test

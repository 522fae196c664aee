#include "topologies/mixing/mixing_schedule.hpp"

#include <set>
#include <vector>

#include <Eigen/Core>
#include <doctest/doctest.h>

#include "sim/engine/check.hpp"
#include "tests/topologies/mixing/matrix.hpp"
#include "topologies/mixing/graphs.hpp"

namespace paceline::topologies_schedule_test {
namespace {

double farthest(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
    return (a - b).cwiseAbs().maxCoeff();
}

Eigen::MatrixXd product(const MixingSchedule& schedule, std::int64_t first, std::int64_t count) {
    Eigen::MatrixXd w = Eigen::MatrixXd::Identity(schedule.nodes(), schedule.nodes());
    for (std::int64_t step = first; step < first + count; ++step)
        w = matrix(*schedule.at(step)) * w;
    return w;
}

Eigen::MatrixXd exact_averaging(int n) {
    return Eigen::MatrixXd::Constant(n, n, 1.0 / n);
}

bool is_power_of_two(int n) {
    return (n & (n - 1)) == 0;
}

bool doubly_stochastic(const Eigen::MatrixXd& w) {
    return w.minCoeff() >= 0 && (w.rowwise().sum().array() - 1).abs().maxCoeff() < 1e-12 &&
           (w.colwise().sum().array() - 1).abs().maxCoeff() < 1e-12;
}

TEST_CASE("mixing schedule: a W is a schedule that never changes") {
    const MixingSchedule schedule = make_ring_mixing(5);

    CHECK(schedule.is_static());
    CHECK(schedule.period() == 1);
    CHECK(schedule.nodes() == 5);
    CHECK(schedule.at(0) == schedule.at(7));
    CHECK(matrix(*schedule.at(3)) == matrix(make_ring_mixing(5)));
}

TEST_CASE("mixing schedule: nobody averages by default or by a null pointer") {
    CHECK(MixingSchedule().empty());
    CHECK(MixingSchedule(MixingPtr()).empty());
    CHECK_THROWS_AS((void)MixingSchedule().at(0), LogicError);
}

TEST_CASE("mixing schedule: a periodic one repeats, in the order given") {
    const MixingSchedule schedule = MixingSchedule::periodic(
        {make_ring_mixing(4), make_complete_mixing(4), make_star_mixing(4)});

    CHECK(schedule.period() == 3);
    CHECK(matrix(*schedule.at(0)) == matrix(make_ring_mixing(4)));
    CHECK(matrix(*schedule.at(1)) == matrix(make_complete_mixing(4)));
    CHECK(matrix(*schedule.at(2)) == matrix(make_star_mixing(4)));
    CHECK(schedule.at(1'000'000'000'000) == schedule.at(1));
    CHECK_THROWS_AS(MixingSchedule::periodic({}), LogicError);
    CHECK_THROWS_AS(MixingSchedule::periodic({make_ring_mixing(3), make_ring_mixing(4)}),
                    LogicError);
    CHECK_THROWS_AS((void)schedule.at(-1), LogicError);
}

TEST_CASE("one-peer exponential: node i averages itself and node i - 2^(k mod p), 1/2 each") {
    const MixingSchedule schedule = make_one_peer_exponential(6);
    REQUIRE(schedule.period() == 3);

    for (std::int64_t k = 0; k < 7; ++k)
        for (int i = 0; i < 6; ++i) {
            CAPTURE(k);
            Eigen::RowVectorXd expected = Eigen::RowVectorXd::Zero(6);
            const int away = k % 3 == 0 ? 1 : (k % 3 == 1 ? 2 : 4);
            expected(i) = 0.5;
            expected((i + 6 - away) % 6) = 0.5;

            CHECK(matrix(*schedule.at(k)).row(i) == expected);
        }
}

TEST_CASE("one-peer exponential: the product over a period is exact averaging iff n is 2^p") {
    for (int n = 1; n <= 40; ++n) {
        CAPTURE(n);
        const MixingSchedule schedule = make_one_peer_exponential(n);
        for (std::int64_t first = 0; first < schedule.period(); ++first) {
            const Eigen::MatrixXd w = product(schedule, first, schedule.period());

            CHECK(doubly_stochastic(w));
            CHECK((farthest(w, exact_averaging(n)) < 1e-15) == is_power_of_two(n));
        }
        if (n > 2)
            CHECK(farthest(product(schedule, 0, schedule.period() - 1), exact_averaging(n)) > 1e-3);
    }
}

TEST_CASE("one-peer hypercube: symmetric pairs, and exact averaging over a period") {
    for (const int n : {1, 2, 4, 8, 16, 32}) {
        CAPTURE(n);
        const MixingSchedule schedule = make_one_peer_hypercube(n);

        CHECK(farthest(product(schedule, 0, schedule.period()), exact_averaging(n)) < 1e-15);
        for (std::int64_t k = 0; k < schedule.period(); ++k) CHECK(is_symmetric(*schedule.at(k)));
    }
    CHECK(matrix(*make_one_peer_hypercube(8).at(1))(5, 7) == 0.5);
    CHECK_THROWS_AS(make_one_peer_hypercube(6), LogicError);
}

TEST_CASE("random matching, property: a matching of all nodes but one if n is odd, 1/2 each") {
    for (int n = 1; n <= 33; ++n)
        for (std::uint64_t seed = 1; seed <= 4; ++seed)
            for (std::int64_t k = 0; k < 4; ++k) {
                CAPTURE(n);
                CAPTURE(seed);
                const Eigen::MatrixXd w = matrix(*make_random_matching(n, seed).at(k));

                CHECK(doubly_stochastic(w));
                CHECK(w == w.transpose());
                CHECK(farthest(w * w, w) == 0);  // averaging pairs is a projection
                CHECK((w.diagonal().array() == 1).count() == n % 2);
                CHECK((w.diagonal().array() == 0.5).count() == n - n % 2);
            }
}

TEST_CASE("random matching: it depends only on the seed and the step, whoever asks and when") {
    const MixingSchedule one = make_random_matching(16, 3);
    const MixingSchedule again = make_random_matching(16, 3);
    const Eigen::MatrixXd late = matrix(*one.at(1'000'000));

    CHECK(late == matrix(*again.at(1'000'000)));
    CHECK(matrix(*one.at(0)) == matrix(*again.at(0)));
    CHECK(matrix(*one.at(0)) != matrix(*one.at(1)));
    CHECK(matrix(*one.at(0)) != matrix(*make_random_matching(16, 4).at(0)));
    CHECK(one.period() == 0);
    CHECK(one.is_drawn());
    CHECK(!one.is_static());
}

TEST_CASE("random matching: every pair is as likely as every other one") {
    constexpr int draws = 20'000;
    for (const int n : {4, 5}) {
        CAPTURE(n);
        const MixingSchedule schedule = make_random_matching(n, 11);
        Eigen::MatrixXd count = Eigen::MatrixXd::Zero(n, n);
        for (std::int64_t k = 0; k < draws; ++k)
            count += (matrix(*schedule.at(k)).array() == 0.5).cast<double>().matrix();
        const double p = n % 2 == 0 ? 1.0 / (n - 1) : 1.0 / n;
        const double sigma = std::sqrt(p * (1 - p) / draws);

        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j)
                if (i != j) CHECK(std::abs(count(i, j) / draws - p) < 5 * sigma);
    }
}

TEST_CASE("random matching: E[W^T W] is what its mean square says, over all matchings") {
    // n = 4: the three matchings; n = 3: the three pairs with one left over.
    const auto of_mean_zero = [](const Eigen::MatrixXd& mean) {
        const Eigen::Index n = mean.rows();
        const Eigen::VectorXd x = Eigen::VectorXd::Unit(n, 0) - Eigen::VectorXd::Unit(n, 1);
        return x.dot(mean * x) / x.squaredNorm();
    };
    for (const int n : {3, 4})
        for (const double give : {0.5, 0.25, 0.1}) {
            CAPTURE(n);
            CAPTURE(give);
            std::vector<Eigen::MatrixXd> distinct;
            const MixingSchedule schedule = make_random_matching(n, 5, give);
            for (std::int64_t k = 0; k < 100; ++k) {
                const Eigen::MatrixXd w = matrix(*schedule.at(k));
                bool seen = false;
                for (const Eigen::MatrixXd& other : distinct) seen = seen || other == w;
                if (!seen) distinct.push_back(w);
            }
            REQUIRE(distinct.size() == 3);
            Eigen::MatrixXd mean = Eigen::MatrixXd::Zero(n, n);
            for (const Eigen::MatrixXd& w : distinct) mean += w.transpose() * w / 3;

            CHECK(schedule.mean_square().value() ==
                  doctest::Approx(of_mean_zero(mean)).epsilon(1e-12));
        }
    CHECK(make_random_matching(1, 1).mean_square() == 0.0);
    CHECK(make_random_matching(2, 1).mean_square() == 0.0);
    CHECK(make_random_matching(16, 1).mean_square() == doctest::Approx(14.0 / 30));
}

TEST_CASE("mixing schedule: lazy halves the way in every step") {
    const MixingSchedule plain = make_one_peer_exponential(6);
    const MixingSchedule half = lazy(plain);
    REQUIRE(half.period() == plain.period());
    for (std::int64_t k = 0; k < 3; ++k)
        CHECK(farthest(matrix(*half.at(k)),
                       (Eigen::MatrixXd::Identity(6, 6) + matrix(*plain.at(k))) / 2) < 1e-15);
    const Eigen::MatrixXd drawn = matrix(*make_random_matching(8, 2).at(5));
    CHECK(farthest(matrix(*make_random_matching(8, 2, 0.25).at(5)),
                   (Eigen::MatrixXd::Identity(8, 8) + drawn) / 2) < 1e-15);
    CHECK_THROWS_AS((void)lazy(make_random_matching(8, 2)), LogicError);
}

// --- one peer inside or outside ---

// Whom node i listens to.
int heard(const Mixing& mixing, int i) {
    int other = i;
    for (const MixingWeight& weight : mixing.row(i))
        if (weight.node != i) other = weight.node;
    return other;
}

TEST_CASE("inner-outer graph: one node of each machine goes out at a time, to its own place") {
    for (const int machines : {2, 3, 4, 7})
        for (const int g : {3, 4, 5, 8}) {
            const MixingSchedule schedule = make_one_peer_inner_outer(machines, g);
            std::vector<std::set<int>> met(static_cast<std::size_t>(machines) *
                                           static_cast<std::size_t>(g));
            for (std::int64_t k = 0; k < schedule.period(); ++k) {
                const Mixing& w = *schedule.at(k);
                CHECK(doubly_stochastic(matrix(w)));
                for (int i = 0; i < machines * g; ++i) {
                    const int other = heard(w, i);
                    REQUIRE(other != i);
                    met[static_cast<std::size_t>(i)].insert(other);
                    const bool is_out = i % g == k % g;
                    REQUIRE((other / g != i / g) == is_out);
                    if (is_out) REQUIRE(other % g == i % g);
                }
            }
            // Everybody meets the machines and the places that powers of two away are.
            for (const std::set<int>& all : met) CHECK(all.size() >= 2);
        }
}

// What BlueFog's generator yields for 16 workers, 8 on each machine, rank 3: the senders to it in
// steps 0 to 4, worked out by hand from its rule.
TEST_CASE("inner-outer graph: the first steps are BlueFog's") {
    const MixingSchedule schedule = make_one_peer_inner_outer(2, 8);
    // Step k: node k is out. Distances inside 1, 2, 4 in turn, without counting the one that is
    // out.
    CHECK(heard(*schedule.at(0), 3) == 2);      // 1 before
    CHECK(heard(*schedule.at(1), 3) == 0);      // 2 before: 2, (1 is out), 0
    CHECK(heard(*schedule.at(2), 3) == 6);      // 4 before: (2), 1, 0, 7, 6
    CHECK(heard(*schedule.at(3), 3) == 8 + 3);  // out: the other machine
    CHECK(heard(*schedule.at(4), 3) == 1);      // 2 before
    CHECK(heard(*schedule.at(5), 3) == 7);      // 4 before: 2, 1, 0, 7
    CHECK(schedule.period() == 24);
}

TEST_CASE(
    "inner-outer graph: with one node per machine, or one machine, it is the one-peer "
    "exponential") {
    for (const int n : {1, 2, 3, 5, 8, 12})
        for (std::int64_t k = 0; k < 8; ++k) {
            const Eigen::MatrixXd expected = matrix(*make_one_peer_exponential(n).at(k));
            CHECK(matrix(*make_one_peer_inner_outer(n, 1).at(k)) == expected);
            CHECK(matrix(*make_one_peer_inner_outer(1, n).at(k)) == expected);
        }
    CHECK_THROWS_AS((void)make_one_peer_inner_outer(2, 2), LogicError);
}

}  // namespace
}  // namespace paceline::topologies_schedule_test

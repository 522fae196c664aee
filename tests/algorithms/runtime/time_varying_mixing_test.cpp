// Decentralized algorithms on mixings that change from step to step: the weights they use, how long
// a step takes, and whether workers with momentum reach consensus. Growth factors come from theory:
// the spectral radius of the linear recursion of disagreement, without gradients.
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <boost/random/uniform_real_distribution.hpp>
#include <doctest/doctest.h>

#include "algorithms/decentralized/awc_dmsgd.hpp"
#include "algorithms/decentralized/d2_dmsgd.hpp"
#include "algorithms/decentralized/da_dmsgd.hpp"
#include "algorithms/decentralized/decentlam.hpp"
#include "algorithms/decentralized/dmsgd.hpp"
#include "algorithms/decentralized/dsgd.hpp"
#include "algorithms/decentralized/gradient_tracking.hpp"
#include "algorithms/decentralized/qg_dmsgd.hpp"
#include "tests/algorithms/runtime/training_run.hpp"
#include "tests/topologies/mixing/matrix.hpp"
#include "topologies/mixing/graphs.hpp"

namespace paceline::time_varying_mixing_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using doctest::Approx;

const Link link{1_Gbps, 5us};

using Algorithm = std::function<Task<>(Worker&)>;

const Algorithm of_dsgd = [](Worker& w) { return dsgd(w); };
const Algorithm of_gradient_tracking = [](Worker& w) { return gradient_tracking(w); };
Algorithm of_decentlam(double beta) {
    return [beta](Worker& w) { return decentlam(w, {beta}); };
}
Algorithm of_dmsgd(double beta) {
    return [beta](Worker& w) { return dmsgd(w, {beta}); };
}
Algorithm of_awc_dmsgd(double beta) {
    return [beta](Worker& w) { return awc_dmsgd(w, {beta}); };
}
Algorithm of_da_dmsgd(double beta) {
    return [beta](Worker& w) { return da_dmsgd(w, {beta}); };
}
Algorithm of_qg_dmsgd(double beta) {
    return [beta](Worker& w) { return qg_dmsgd(w, {beta}); };
}
Algorithm of_d2_dmsgd(double beta) {
    return [beta](Worker& w) { return d2_dmsgd(w, {beta}); };
}

constexpr int columns = 3;

/// Returns the models after `steps` steps without gradients, from random ones; a row per worker.
Eigen::MatrixXd without_gradients(const MixingSchedule& mixing, std::int64_t steps,
                                  const Algorithm& algorithm, std::uint64_t seed = 1) {
    const LayoutPtr layout = make_layout({{"x", {columns}}});
    Job job = timing_job(layout, steps);
    job.start = Vector(layout, Eigen::VectorXd::Zero(columns));
    job.objective = [](const Vector& x, int, std::int64_t) {
        return Eigen::VectorXd(Eigen::VectorXd::Zero(x.entries()));
    };
    job.mixing = mixing;
    job.learning_rate = [](std::int64_t) { return 1.0; };
    const int n = mixing.nodes();
    TrainingRun run(n, link, std::move(job));
    RandomStream random = RandomStreams(seed).stream("start");
    boost::random::uniform_real_distribution<double> uniform(-1, 1);
    for (int i = 0; i < n; ++i)
        for (double& x : run.cluster.worker(i).model().writable()) x = uniform(random);
    run.spawn_all(algorithm);
    run.simulation.run();
    REQUIRE(run.processes.finished());
    Eigen::MatrixXd models(n, columns);
    for (int i = 0; i < n; ++i) models.row(i) = run.model_of(i);
    return models;
}

double disagreement(const Eigen::MatrixXd& models) {
    return (models.rowwise() - models.colwise().mean()).norm();
}

/// Returns the factor by which disagreement grows per step, between two distant steps.
double growth(const MixingSchedule& mixing, const Algorithm& algorithm, std::int64_t first = 240,
              std::int64_t last = 1440) {
    const double early = disagreement(without_gradients(mixing, first, algorithm));
    const double late = disagreement(without_gradients(mixing, last, algorithm));
    return std::pow(late / early, 1 / static_cast<double>(last - first));
}

TEST_CASE("time-varying mixing: a worker averages by the W of its step") {
    for (const MixingSchedule& mixing :
         {make_one_peer_exponential(6), make_one_peer_hypercube(8), make_random_matching(7, 5),
          MixingSchedule(make_ring_mixing(5))})
        for (const std::int64_t steps : {1, 2, 5}) {
            CAPTURE(steps);
            const Eigen::MatrixXd start = without_gradients(mixing, 0, of_dsgd);
            Eigen::MatrixXd expected = start;
            for (std::int64_t k = 0; k < steps; ++k) expected = matrix(*mixing.at(k)) * expected;

            CHECK((without_gradients(mixing, steps, of_dsgd) - expected).cwiseAbs().maxCoeff() <
                  1e-14);
        }
}

TEST_CASE("time-varying mixing: two vectors of a step are averaged by the same W") {
    // Without gradients the momenta stay zero only if both averages keep the mean of zero; the
    // models then move as by one average.
    const MixingSchedule mixing = make_random_matching(8, 3);
    const Eigen::MatrixXd plain = without_gradients(mixing, 6, of_dsgd);

    for (const Algorithm& twice : {of_da_dmsgd(0.9), of_gradient_tracking})
        CHECK((without_gradients(mixing, 6, twice) - plain).cwiseAbs().maxCoeff() < 1e-14);
}

TEST_CASE("time-varying mixing: slow and fast workers use the same W in the same step") {
    // Computations differ in length: messages of later steps arrive before those of earlier ones.
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        const MixingSchedule mixing = make_random_matching(9, seed);
        const Algorithm uneven = [](Worker& self) -> Task<> {
            Vector& x = self.model();
            while (self.begins_step()) {
                co_await self.compute((1 + (self.rank() * 7 + self.step() * 5) % 11) * 100us);
                x = co_await self.neighbor_average(x);
            }
        };
        CAPTURE(seed);

        CHECK((without_gradients(mixing, 40, uneven) - without_gradients(mixing, 40, of_dsgd))
                  .cwiseAbs()
                  .maxCoeff() < 1e-15);
    }
}

TEST_CASE("time-varying mixing: one-peer graphs agree exactly after a period iff n is 2^p") {
    CHECK(disagreement(without_gradients(make_one_peer_exponential(8), 3, of_dsgd)) < 1e-14);
    CHECK(disagreement(without_gradients(make_one_peer_hypercube(16), 4, of_dsgd)) < 1e-14);
    CHECK(disagreement(without_gradients(make_one_peer_exponential(8), 2, of_dsgd)) > 1e-3);
    CHECK(disagreement(without_gradients(make_one_peer_exponential(6), 3, of_dsgd)) > 1e-3);
}

/// The same by theory: x+ = W x + beta (x - x') on vectors of mean zero, over a period.
double radius(const MixingSchedule& mixing, double beta) {
    const int n = mixing.nodes();
    const Eigen::MatrixXd same = Eigen::MatrixXd::Identity(n, n);
    const Eigen::MatrixXd rest = same.array() - 1.0 / n;
    Eigen::MatrixXd period = Eigen::MatrixXd::Identity(2 * n, 2 * n);
    for (std::int64_t k = 0; k < mixing.period(); ++k) {
        Eigen::MatrixXd step = Eigen::MatrixXd::Zero(2 * n, 2 * n);
        step.topLeftCorner(n, n) = rest * (matrix(*mixing.at(k)) + beta * same);
        step.topRightCorner(n, n) = -beta * rest;
        step.bottomLeftCorner(n, n) = rest;
        period = step * period;
    }
    const double largest =
        Eigen::EigenSolver<Eigen::MatrixXd>(period).eigenvalues().cwiseAbs().maxCoeff();
    return std::pow(largest, 1 / static_cast<double>(mixing.period()));
}

/// Checks that published values, theory and the algorithm's run agree.
void check_growth(const MixingSchedule& mixing, double beta, double published, double tolerance,
                  std::int64_t last = 1440) {
    CAPTURE(mixing.nodes());
    CAPTURE(beta);
    const double theory = radius(mixing, beta);
    CHECK(std::abs(theory - published) < tolerance);
    // A complex pair of eigenvalues turns while it grows: two norms are far from its average.
    CHECK(std::abs(growth(mixing, of_decentlam(beta), 240, last) - theory) < 2e-3);
}

constexpr double three_digits = 5.1e-4;
constexpr double a_finite_run = 3e-3;  // the published value is that of a finite run, too

TEST_CASE("DecentLaM's disagreement grows as theory says: directed static exponential graphs") {
    check_growth(make_exponential_mixing(8), 0.5, 0.986, three_digits);
    check_growth(make_exponential_mixing(8), 0.8, 1.180, three_digits);
    check_growth(make_exponential_mixing(8), 0.9, 1.238, three_digits);
    check_growth(make_exponential_mixing(8), 0.95, 1.265, three_digits);
    check_growth(make_exponential_mixing(16), 0.9, 1.252, three_digits);
    check_growth(make_exponential_mixing(32), 0.9, 1.243, three_digits);
}

TEST_CASE("DecentLaM's disagreement shrinks as theory says: rings, symmetric and static") {
    check_growth(make_ring_mixing(32), 0.5, 0.9737, three_digits, 540);
    check_growth(make_ring_mixing(8), 0.95, 0.9747, three_digits, 540);
    check_growth(make_ring_mixing(16), 0.9, 0.9487, three_digits, 540);
}

TEST_CASE("DecentLaM's disagreement grows as theory says: one-peer graphs") {
    check_growth(make_one_peer_exponential(16), 0.9, 1.197, a_finite_run);
    check_growth(make_one_peer_exponential(16), 0.8, 1.145, a_finite_run);
    check_growth(make_one_peer_exponential(16), 0.5, 0.964, a_finite_run, 640);
    check_growth(make_one_peer_exponential(8), 0.9, 1.115, a_finite_run);
    check_growth(make_one_peer_exponential(8), 0.8, 1.057, a_finite_run);
    check_growth(make_one_peer_hypercube(16), 0.9, 1.222, a_finite_run);
    check_growth(make_one_peer_hypercube(8), 0.9, 1.055, a_finite_run);
}

TEST_CASE("DecentLaM's disagreement grows as simulated elsewhere: random matchings") {
    CHECK(growth(make_random_matching(16, 1), of_decentlam(0.9)) == Approx(1.086).epsilon(0.01));
    CHECK(growth(make_random_matching(16, 2), of_decentlam(0.8)) == Approx(1.036).epsilon(0.01));
    CHECK(growth(make_random_matching(16, 3), of_decentlam(0.7)) == Approx(0.984).epsilon(0.01));
    CHECK(growth(make_random_matching(8, 4), of_decentlam(0.9)) == Approx(1.066).epsilon(0.01));
}

/// E[z z^T] of a node's difference d and its predecessor d', after one step of disagreement under
/// a random matching of infinitely many nodes, with momentum beta: d+ = (d_i + d_j)/2 + beta
/// (d_i - d'_i), partners independent. In the order dd, dd', d'd'.
Eigen::Matrix3d second_moments(double beta) {
    const double own = 0.5 + beta;
    Eigen::Matrix3d step;
    step << own * own + 0.25, -2 * own * beta, beta * beta,  //
        own, -beta, 0,                                       //
        1, 0, 0;
    return step;
}

TEST_CASE(
    "DecentLaM on random matchings: the mean square of many nodes is stable iff beta < 2^-1/2") {
    const auto by_step = [](double beta) {
        return Eigen::EigenSolver<Eigen::Matrix3d>(second_moments(beta))
            .eigenvalues()
            .cwiseAbs()
            .maxCoeff();
    };
    CHECK(by_step(std::sqrt(0.5)) == Approx(1).epsilon(1e-12));
    CHECK(by_step(0.7) < 1);
    CHECK(by_step(0.715) > 1);

    // The square of the growth that many nodes show in a simulated run; 200 nodes are many.
    for (const double beta : {0.6, 0.7, 0.8, 0.9}) {
        CAPTURE(beta);
        const double found = growth(make_random_matching(200, 7), of_decentlam(beta), 40, 240);
        CHECK(found * found == Approx(by_step(beta)).epsilon(0.01));
    }
}

TEST_CASE("time-varying mixing: DmSGD, its variants and quasi-global momentum reach consensus") {
    for (const MixingSchedule& mixing : {make_one_peer_exponential(16), make_random_matching(16, 1),
                                         MixingSchedule(make_exponential_mixing(8))})
        for (const Algorithm& algorithm :
             {of_dmsgd(0.9), of_awc_dmsgd(0.9), of_da_dmsgd(0.9), of_qg_dmsgd(0.9)}) {
            const Eigen::MatrixXd start = without_gradients(mixing, 0, algorithm);
            const Eigen::MatrixXd end = without_gradients(mixing, 600, algorithm);

            CHECK(disagreement(end) < 1e-6 * disagreement(start));
        }
}

TEST_CASE("D2 agrees iff lambda_n of a symmetric, static W is above -1/3") {
    // z^2 - 2 lambda z + lambda = 0: beyond -1 where lambda < -1/3.
    const double lambda = -0.5;  // hypercube of 8
    const double root = -lambda + std::sqrt(lambda * lambda - lambda);

    CHECK(growth(make_hypercube_mixing(8), of_d2_dmsgd(0), 40, 440) == Approx(root).epsilon(1e-3));
    CHECK(growth(lazy(make_hypercube_mixing(8)), of_d2_dmsgd(0), 5, 60) < 0.95);
    CHECK(growth(make_exponential_mixing(16), of_d2_dmsgd(0), 40, 440) > 1.05);
    CHECK(growth(make_one_peer_exponential(16), of_d2_dmsgd(0), 40, 440) > 1.1);
}

Duration step_time(const MixingSchedule& mixing, const Algorithm& algorithm, std::int64_t steps) {
    Job job = timing_job(make_layout({{"all", {500'000}}}), steps);  // 2 MB: 16 ms
    job.mixing = mixing;
    TrainingRun run(mixing.nodes(), link, std::move(job));
    run.spawn_all(algorithm);
    run.simulation.run();
    REQUIRE(run.processes.finished());
    return run.elapsed() / steps;
}

TEST_CASE("time-varying mixing: a step sends one vector, alpha + M / B") {
    const double one = to_seconds(step_of_tests) + 10e-6 + 16e-3;
    const double two = to_seconds(step_of_tests) + 10e-6 + 2 * 16e-3;
    for (const MixingSchedule& mixing :
         {make_one_peer_exponential(6), make_one_peer_exponential(16), make_one_peer_exponential(2),
          make_one_peer_hypercube(8), make_random_matching(2, 1), make_random_matching(10, 1)}) {
        CAPTURE(mixing.nodes());
        CHECK(to_seconds(step_time(mixing, of_decentlam(0.9), 7)) == Approx(one).epsilon(1e-8));
        CHECK(to_seconds(step_time(mixing, of_da_dmsgd(0.9), 7)) == Approx(two).epsilon(1e-8));
    }
}

TEST_CASE("time-varying mixing: runs of one, two and three nodes finish") {
    for (const int n : {1, 2, 3})
        for (const MixingSchedule& mixing :
             {make_one_peer_exponential(n), make_random_matching(n, 1),
              MixingSchedule(make_exponential_mixing(n))}) {
            CAPTURE(n);
            for (const Algorithm& algorithm : {of_dsgd, of_da_dmsgd(0.9), of_decentlam(0.9)}) {
                const Duration step = step_time(mixing, algorithm, 20);

                CHECK(step >= step_of_tests);
                if (n == 1) CHECK(step == step_of_tests);
            }
        }
}

TEST_CASE("time-varying mixing: the same seed gives the same run, another seed another one") {
    const auto run = [](std::uint64_t seed) {
        return without_gradients(make_random_matching(12, seed), 9, of_decentlam(0.6));
    };
    CHECK(run(1) == run(1));
    CHECK(run(1) != run(2));
}

}  // namespace
}  // namespace paceline::time_varying_mixing_test

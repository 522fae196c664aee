#include "algorithms/gossip/momentum_consensus.hpp"

#include <cmath>
#include <functional>
#include <memory>
#include <numbers>

#include <doctest/doctest.h>

#include "algorithms/decentralized/awc_dmsgd.hpp"
#include "algorithms/decentralized/dsgd_awc.hpp"
#include "tests/algorithms/runtime/training_run.hpp"
#include "tests/topologies/mixing/matrix.hpp"
#include "topologies/mixing/graphs.hpp"

namespace paceline::momentum_consensus_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link link{1_Gbps, 5us};

using Algorithm = std::function<Task<>(Worker&)>;

Algorithm of_iterates(double beta, double omega) {
    return [=](Worker& w) { return momentum_consensus_of_iterates(w, {beta, omega}); };
}
Algorithm of_buffers(double beta, double omega) {
    return [=](Worker& w) { return momentum_consensus_of_buffers(w, {beta, omega}); };
}

/// Worker i descends curvature / 2 (x - t_i)^2 from 1; each worker is one row.
struct Problem {
    Mixing mixing;
    Eigen::VectorXd targets;
    double gamma = 0.05;
    double curvature = 1;

    [[nodiscard]] Job job(std::int64_t steps) const {
        const LayoutPtr layout = make_layout({{"x", {1}}});
        Job job = timing_job(layout, steps);
        job.start = Vector(layout, Eigen::VectorXd::Ones(1));
        job.objective = [t = targets, c = curvature](const Vector& x, int rank, std::int64_t) {
            return Eigen::VectorXd(c * (x.values().array() - t(rank)));
        };
        job.mixing = std::make_shared<const Mixing>(mixing);
        job.learning_rate = [g = gamma](std::int64_t) { return g; };
        return job;
    }
    [[nodiscard]] Eigen::VectorXd after(std::int64_t steps, const Algorithm& algorithm) const {
        TrainingRun run(mixing.nodes(), link, job(steps));
        run.spawn_all(algorithm);
        run.simulation.run();
        REQUIRE(run.processes.finished());
        Eigen::VectorXd x(mixing.nodes());
        for (int i = 0; i < mixing.nodes(); ++i) x(i) = run.model_of(i)(0);
        return x;
    }
};

Problem ring_problem(int n) {
    Eigen::VectorXd targets(n);
    for (int i = 0; i < n; ++i) targets(i) = std::cos(2 * std::numbers::pi * i / n) + 0.1 * i;
    return {make_ring_mixing(n), targets};
}

// The two rules, written with whole matrices.
Eigen::VectorXd iterates_by_matrix(const Problem& p, double beta, double omega, int steps) {
    const Eigen::MatrixXd W = matrix(p.mixing);
    Eigen::VectorXd x = Eigen::VectorXd::Ones(W.rows());
    Eigen::VectorXd before = x;
    for (int k = 0; k < steps; ++k) {
        const Eigen::VectorXd g = p.curvature * (x - p.targets);
        const Eigen::VectorXd next =
            W * x - p.gamma * g + beta * (omega * (W * (x - before)) + (1 - omega) * (x - before));
        before = x;
        x = next;
    }
    return x;
}
Eigen::VectorXd buffers_by_matrix(const Problem& p, double beta, double omega, int steps) {
    const Eigen::MatrixXd W = matrix(p.mixing);
    Eigen::VectorXd x = Eigen::VectorXd::Ones(W.rows());
    Eigen::VectorXd v = Eigen::VectorXd::Zero(W.rows());
    for (int k = 0; k < steps; ++k) {
        const Eigen::VectorXd g = p.curvature * (x - p.targets);
        v = beta * (omega * (W * v) + (1 - omega) * v) - p.gamma * g;
        x = W * x + v;
    }
    return x;
}

TEST_CASE("momentum consensus: both readings agree with their rules in matrix form") {
    for (const int n : {1, 2, 5, 8})
        for (const double omega : {0.0, 0.3, 1.0}) {
            CAPTURE(n);
            CAPTURE(omega);
            const Problem p = ring_problem(n);

            const Eigen::VectorXd a = p.after(40, of_iterates(0.6, omega));
            const Eigen::VectorXd b = p.after(40, of_buffers(0.6, omega));

            CHECK((a - iterates_by_matrix(p, 0.6, omega, 40)).norm() < 1e-10);
            CHECK((b - buffers_by_matrix(p, 0.6, omega, 40)).norm() < 1e-10);
        }
}

TEST_CASE(
    "momentum consensus: the readings agree for two steps where models began alike, then part") {
    const Problem p = ring_problem(6);
    for (const double omega : {0.0, 0.5, 1.0}) {
        CAPTURE(omega);
        const auto apart = [&](int steps) {
            return (p.after(steps, of_iterates(0.9, omega)) -
                    p.after(steps, of_buffers(0.9, omega)))
                .norm();
        };
        CHECK(apart(1) < 1e-14);
        CHECK(apart(2) < 1e-14);
        CHECK(apart(3) > 1e-4);
    }
}

TEST_CASE("momentum consensus: on buffers with omega 0 it is AWC-DmSGD, without momentum D-PSGD") {
    const Problem p = ring_problem(7);

    const Eigen::VectorXd awc = p.after(50, [](Worker& w) { return awc_dmsgd(w, {0.8}); });
    const Eigen::VectorXd plain = p.after(50, [](Worker& w) { return dsgd_awc(w); });

    CHECK((p.after(50, of_buffers(0.8, 0)) - awc).norm() < 1e-10);
    CHECK((p.after(50, of_buffers(0, 1)) - plain).norm() < 1e-10);
    CHECK((p.after(50, of_iterates(0, 1)) - plain).norm() < 1e-10);
}

TEST_CASE("momentum consensus: alone both are heavy-ball SGD") {
    const Problem p = ring_problem(1);
    double x = 1;
    double m = 0;
    for (int k = 0; k < 30; ++k) {
        m = 0.9 * m + (x - p.targets(0));
        x -= p.gamma * m;
    }

    CHECK(std::abs(p.after(30, of_iterates(0.9, 0.5))(0) - x) < 1e-10);
    CHECK(std::abs(p.after(30, of_buffers(0.9, 0.5))(0) - x) < 1e-10);
}

// The fixed point of x = W x - gamma (x - t) + v, v = beta (omega W + (1-omega) I) v - gamma (x-t),
// per eigenvalue mu of W: gamma a / (1 - mu + gamma a) with a = 1 / (1 - beta (1 - omega + omega
// mu)).
TEST_CASE("momentum consensus: iterates keep DSGD's fixed point, a buffer multiplies its bias") {
    constexpr double beta = 0.9;
    Problem p = ring_problem(8);
    for (int i = 0; i < 8; ++i) p.targets(i) = std::cos(2 * std::numbers::pi * i / 8);
    p.mixing = lazy(make_ring_mixing(8));
    p.gamma = 0.01;
    const double ring = 1.0 / 3 + 2.0 / 3 * std::cos(2 * std::numbers::pi / 8);
    const double mu = (1 + ring) / 2;
    const auto bias = [&](double a) { return p.gamma * a / (1 - mu + p.gamma * a); };
    const auto measured = [&](const Algorithm& algorithm) {
        return p.after(6000, algorithm)(0) / p.targets(0);
    };

    for (const double omega : {0.0, 0.5, 1.0}) {
        CAPTURE(omega);
        const double a = 1 / (1 - beta * (1 - omega + omega * mu));
        CHECK(std::abs(measured(of_iterates(beta, omega)) - bias(1)) < 1e-9);
        CHECK(std::abs(measured(of_buffers(beta, omega)) - bias(a)) < 1e-9);
    }
}

TEST_CASE("momentum consensus: on iterates it is stable up to the bound, and not beyond") {
    constexpr double beta = 0.5;
    for (const int n : {5, 6, 8}) {
        double least = 1;  // eigenvalue of the ring
        for (int k = 0; k < n; ++k)
            least = std::min(least, 1.0 / 3 + 2.0 / 3 * std::cos(2 * std::numbers::pi * k / n));
        for (const double omega : {0.0, 1.0}) {
            CAPTURE(n);
            CAPTURE(omega);
            const double bound = omega == 0 ? 1 + 2 * beta + least : 1 + (1 + 2 * beta) * least;
            const auto size_at = [&](double gamma) {
                Problem p = ring_problem(n);
                p.targets = Eigen::VectorXd::Unit(n, 0);  // every eigenvector takes part
                p.gamma = gamma;
                return p.after(1500, of_iterates(beta, omega)).norm();
            };
            CHECK(size_at(0.96 * bound) < 1e3);
            CHECK(size_at(1.05 * bound) > 1e6);
        }
    }
}

TEST_CASE("momentum consensus: two models to each neighbor travel beside the gradient") {
    const LayoutPtr layout = small_layout();
    for (const auto& algorithm : {of_iterates(0.9, 0), of_buffers(0.9, 1)})
        for (const auto step : {1us, 1000us}) {
            Job job = timing_job(layout, 4);
            job.timing = make_step_timing(step, *layout);
            job.update = 3us;
            const Mixing ring = make_ring_mixing(6);
            job.mixing = std::make_shared<const Mixing>(ring);
            TrainingRun run(6, link, std::move(job));
            run.spawn_all(algorithm);
            run.simulation.run();

            StepModelInput in = on_star(6, idle_star(link), step, layout);
            in.update = 3us;
            CHECK(run.elapsed() == 4 * *neighbor_step_time(ring, 2, true, in));
            CHECK(run.network.traffic(3).sent == 4 * (2 * (2 * 104_B)));
        }
}

}  // namespace
}  // namespace paceline::momentum_consensus_test

// Checks the decentralized family against its theory: fixed points, reductions, recursions and the
// laws of the mean. The fixed points are derived in closed form for quadratics, per eigenvalue of
// W.
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/decentralized/awc_dmsgd.hpp"
#include "algorithms/decentralized/d2_dmsgd.hpp"
#include "algorithms/decentralized/da_dmsgd.hpp"
#include "algorithms/decentralized/decentlam.hpp"
#include "algorithms/decentralized/dmsgd.hpp"
#include "algorithms/decentralized/dsgd.hpp"
#include "algorithms/decentralized/dsgd_awc.hpp"
#include "algorithms/decentralized/gradient_tracking.hpp"
#include "algorithms/decentralized/momentum_tracking.hpp"
#include "algorithms/decentralized/qg_dadam.hpp"
#include "algorithms/decentralized/qg_dmsgd.hpp"
#include "algorithms/dense/synchronous_sgd.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "tests/algorithms/runtime/training_run.hpp"
#include "tests/topologies/mixing/matrix.hpp"
#include "topologies/mixing/graphs.hpp"

namespace paceline::decentralized_family_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link link{1_Gbps, 5us};

using Algorithm = std::function<Task<>(Worker&)>;

/// Worker i descends (x - t_i)^2 / 2 in one dimension, starting at x = 1, with a constant gamma.
struct Quadratics {
    std::vector<double> targets;
    Mixing mixing;
    double gamma = 0.01;
    double start = 1;
    double warm_up = 0;  // steps in which the learning rate rises to gamma

    /// Returns the models after the given number of steps.
    [[nodiscard]] Eigen::VectorXd after(std::int64_t steps, const Algorithm& algorithm) const {
        const LayoutPtr layout = make_layout({{"x", {1}}});
        Job job = timing_job(layout, steps);
        job.start = Vector(layout, Eigen::VectorXd::Constant(1, start));
        job.objective = [t = targets](const Vector& x, int rank, std::int64_t) {
            return Eigen::VectorXd(x.values().array() - t[static_cast<std::size_t>(rank)]);
        };
        job.mixing = std::make_shared<const Mixing>(mixing);
        job.learning_rate = [g = gamma, w = warm_up](std::int64_t k) {
            return static_cast<double>(k) < w ? g * static_cast<double>(k + 1) / (w + 1) : g;
        };
        TrainingRun run(mixing.nodes(), link, std::move(job));
        run.spawn_all(algorithm);
        run.simulation.run();
        REQUIRE(run.processes.finished());
        Eigen::VectorXd models(mixing.nodes());
        for (int i = 0; i < mixing.nodes(); ++i) models(i) = run.model_of(i)(0);
        return models;
    }
};

constexpr double beta = 0.8;

Task<> replicated_momentum_sgd(Worker& self) {
    co_await synchronous_sgd(self, SynchronousSgdOptions{dense_exchange(AllReduce::ring), {beta}});
    self.model() = self.replicated_model();
}

const Algorithm of_dsgd = [](Worker& w) { return dsgd(w); };
const Algorithm of_dsgd_awc = [](Worker& w) { return dsgd_awc(w); };
const Algorithm of_gradient_tracking = [](Worker& w) { return gradient_tracking(w); };
Algorithm of_dmsgd(double b) {
    return [b](Worker& w) { return dmsgd(w, {b}); };
}
Algorithm of_awc_dmsgd(double b) {
    return [b](Worker& w) { return awc_dmsgd(w, {b}); };
}
Algorithm of_da_dmsgd(double b) {
    return [b](Worker& w) { return da_dmsgd(w, {b}); };
}
Algorithm of_decentlam(double b) {
    return [b](Worker& w) { return decentlam(w, {b}); };
}
Algorithm of_qg_dmsgd(double b) {
    return [b](Worker& w) { return qg_dmsgd(w, {b}); };
}
Algorithm of_momentum_tracking(double b) {
    return [b](Worker& w) { return momentum_tracking(w, {b}); };
}
Algorithm of_d2_dmsgd(double b) {
    return [b](Worker& w) { return d2_dmsgd(w, {b}); };
}

/// The targets form an eigenvector of W; the fixed point is that vector, scaled.
struct Mode {
    Quadratics problem;
    double lambda;
    double dsgd, dmsgd, dsgd_awc, awc_dmsgd, da_dmsgd;  // x / t at the fixed point
};

std::vector<Mode> modes() {
    std::vector<double> wave;
    std::vector<double> alternating;
    std::vector<double> halves;
    for (int i = 0; i < 8; ++i) {
        wave.push_back(std::cos(2 * std::numbers::pi * i / 8));
        alternating.push_back(i % 2 == 0 ? 1 : -1);
        halves.push_back(i < 4 ? 1 : -1);
    }
    return {{{wave, make_ring_mixing(8)},
             0.804737854,
             0.039581906,
             0.170857991,
             0.048718189,
             0.203863502,
             0.103701124},
            {{halves, make_hypercube_mixing(8)},
             0.5,
             0.009900990,
             0.047619048,
             0.019607843,
             0.090909091,
             0.016393443},
            {{alternating, make_ring_mixing(8)},
             -1.0 / 3,
             -0.002506266,
             -0.012658228,
             0.007444169,
             0.036144578,
             -0.001977587}};
}

// The slowest error component is that of the mean, which the network does not affect. It shrinks by
// 1 - gamma per step, with momentum by about 1 - gamma / (1 - beta), and with QG-DmSGD's momentum
// by half as much. 0.99^2200 and 0.975^1000 are below 1e-9.
constexpr std::int64_t till_fixed = 2200;
constexpr std::int64_t till_fixed_by_momentum = 1000;

TEST_CASE("decentralized family: fixed points are those of theory, for three eigenvalues of W") {
    for (const Mode& mode : modes()) {
        CAPTURE(mode.lambda);
        const auto ratio = [&](const Algorithm& algorithm, std::int64_t steps) {
            return mode.problem.after(steps, algorithm)(0) / mode.problem.targets[0];
        };
        CHECK(std::abs(ratio(of_dsgd, till_fixed) - mode.dsgd) < 1e-8);
        CHECK(std::abs(ratio(of_dsgd_awc, till_fixed) - mode.dsgd_awc) < 1e-8);
        for (const auto& [algorithm, expected] :
             std::vector<std::pair<Algorithm, double>>{{of_decentlam(beta), mode.dsgd},
                                                       {of_qg_dmsgd(beta), mode.dsgd},
                                                       {of_dmsgd(beta), mode.dmsgd},
                                                       {of_awc_dmsgd(beta), mode.awc_dmsgd},
                                                       {of_da_dmsgd(beta), mode.da_dmsgd}}) {
            CAPTURE(expected);

            CHECK(std::abs(ratio(algorithm, till_fixed_by_momentum) - expected) < 1e-8);
        }
    }
}

TEST_CASE("decentralized family: D2 and gradient tracking have no bias") {
    for (Mode mode : modes()) {
        CAPTURE(mode.lambda);
        mode.problem.mixing = lazy(mode.problem.mixing);  // D2 needs eigenvalues above -1/3
        for (const Algorithm& algorithm :
             {of_d2_dmsgd(0), of_d2_dmsgd(beta), of_gradient_tracking}) {
            const Eigen::VectorXd x = mode.problem.after(till_fixed, algorithm);
            CHECK(x.cwiseAbs().maxCoeff() < 1e-8);  // the mean of the targets is 0
        }
    }
}

TEST_CASE("decentralized family: the squared bias of DmSGD over DSGD's approaches 1/(1-beta)^2") {
    Quadratics problem = modes().front().problem;
    problem.gamma = 1e-5;
    problem.start = 0;  // so only mixed parts move, by 0.9 per step or faster
    const double theirs = problem.after(1000, of_dmsgd(beta))(0);
    const double plain = problem.after(1000, of_dsgd)(0);

    CHECK(theirs * theirs / (plain * plain) == doctest::Approx(25).epsilon(0.01));
}

TEST_CASE("decentralized family: without momentum they are decentralized SGD") {
    const Quadratics problem{{3, -1, 0.5, 2, 7, -4, 1, 1}, make_torus_mixing(2, 4), 0.05};
    const Eigen::VectorXd atc = problem.after(60, of_dsgd);
    const Eigen::VectorXd awc = problem.after(60, of_dsgd_awc);

    for (const Algorithm& algorithm :
         {of_dmsgd(0), of_da_dmsgd(0), of_decentlam(0), of_qg_dmsgd(0)})
        CHECK((problem.after(60, algorithm) - atc).cwiseAbs().maxCoeff() < 1e-10);
    CHECK((problem.after(60, of_awc_dmsgd(0)) - awc).cwiseAbs().maxCoeff() < 1e-10);
    CHECK((atc - awc).cwiseAbs().maxCoeff() > 1e-3);
}

TEST_CASE("decentralized family: on a complete graph they are synchronous momentum SGD") {
    const Quadratics problem{{3, -1, 0.5, 2, 7, -4}, make_complete_mixing(6), 0.05};
    const Eigen::VectorXd synchronous = problem.after(60, replicated_momentum_sgd);

    for (const Algorithm& algorithm : {of_dmsgd(beta), of_da_dmsgd(beta), of_decentlam(beta)})
        CHECK((problem.after(60, algorithm) - synchronous).cwiseAbs().maxCoeff() < 1e-10);
}

TEST_CASE("decentralized family: DecentLaM and DmSGD follow their two-step recursions") {
    const Quadratics problem{{3, -1, 0.5, 2, 7, -4, 1, 0}, make_ring_mixing(8), 0.05};
    const Eigen::MatrixXd w = matrix(problem.mixing);
    const Eigen::Map<const Eigen::VectorXd> t(problem.targets.data(), 8);
    const auto recursion = [&](bool mixes_the_past) {
        Eigen::VectorXd before = Eigen::VectorXd::Ones(8);
        Eigen::VectorXd x = before;
        for (int k = 0; k < 60; ++k) {
            const Eigen::VectorXd past = mixes_the_past && k > 0 ? (w * before).eval() : before;
            const Eigen::VectorXd step = w * (x - 0.05 * (x - t));
            const Eigen::VectorXd next = step + (k > 0 ? beta : 0) * (x - past);
            before = x;
            x = next;
        }
        return x;
    };

    CHECK((problem.after(60, of_decentlam(beta)) - recursion(false)).cwiseAbs().maxCoeff() < 1e-10);
    CHECK((problem.after(60, of_dmsgd(beta)) - recursion(true)).cwiseAbs().maxCoeff() < 1e-10);
}

TEST_CASE("decentralized family, property: the mean of the models moves as if all had averaged") {
    // Gradients are linear, so the mean descends towards the mean target whatever W is.
    const Quadratics ring{{3, -1, 0.5, 2, 7, -4, 1, 0}, make_ring_mixing(8), 0.05};
    const Quadratics complete{ring.targets, make_complete_mixing(8), 0.05};
    for (const Algorithm& algorithm :
         {of_dsgd, of_dsgd_awc, of_dmsgd(beta), of_awc_dmsgd(beta), of_da_dmsgd(beta),
          of_decentlam(beta), of_qg_dmsgd(beta), of_d2_dmsgd(beta), of_gradient_tracking})
        for (const std::int64_t steps : {1, 2, 3, 17})
            CHECK(ring.after(steps, algorithm).mean() ==
                  doctest::Approx(complete.after(steps, algorithm).mean()).epsilon(1e-12));
}

TEST_CASE("decentralized family: DecentLaM diverges on the directed exponential graph") {
    const Quadratics directed{{3, -1, 0.5, 2, 7, -4, 1, 0}, make_exponential_mixing(8), 0.01};
    const Quadratics symmetric{directed.targets, make_symmetric_exponential_mixing(8), 0.01};

    CHECK(directed.after(300, of_decentlam(0.9)).cwiseAbs().maxCoeff() > 1e6);
    CHECK(symmetric.after(300, of_decentlam(0.9)).cwiseAbs().maxCoeff() < 10);
}

TEST_CASE("decentralized family: steps take gradient, exchange and update, overlapped or not") {
    const LayoutPtr layout = make_layout({{"all", {500'000}}});  // 2 MB: 16 ms and more
    const auto elapsed = [&](const Algorithm& algorithm) {
        Job job = timing_job(layout, 3);
        job.update = 700us;
        job.mixing = std::make_shared<const Mixing>(make_ring_mixing(6));
        TrainingRun run(6, link, std::move(job));
        run.spawn_all(algorithm);
        run.simulation.run();
        return to_seconds(run.elapsed()) / 3;
    };
    const double t1 = to_seconds(step_of_tests);
    const double u = 700e-6;
    const double one = 10e-6 + 2 * 16e-3;
    const double two = 10e-6 + 4 * 16e-3;

    for (const Algorithm& after :
         {of_dsgd, of_dmsgd(beta), of_decentlam(beta), of_qg_dmsgd(beta), of_d2_dmsgd(beta)})
        CHECK(elapsed(after) == doctest::Approx(t1 + one + u).epsilon(1e-8));
    for (const Algorithm& beside : {of_dsgd_awc, of_awc_dmsgd(beta)})
        CHECK(elapsed(beside) == doctest::Approx(std::max(t1, one) + u).epsilon(1e-8));
    for (const Algorithm& twice : {of_da_dmsgd(beta), of_gradient_tracking})
        CHECK(elapsed(twice) == doctest::Approx(t1 + two + u).epsilon(1e-8));
}

TEST_CASE("D2, momentum and gradient tracking: they meet at the minimum, however gamma changes") {
    const Quadratics problem{{3, -1, 0.5, 7, -4}, lazy(make_ring_mixing(5)), 0.02, 1, 60};
    for (const auto& [name, algorithm] : {std::pair{"d2", of_d2_dmsgd(0)},
                                          {"d2 with momentum", of_d2_dmsgd(0.5)},
                                          {"momentum tracking", of_momentum_tracking(0.5)},
                                          {"gradient tracking", of_gradient_tracking}}) {
        CAPTURE(name);
        const Eigen::VectorXd models = problem.after(4000, algorithm);

        CHECK((models.array() - 1.1).abs().maxCoeff() < 1e-9);
    }
}

TEST_CASE("D2: with a changing gamma it is the recursion that takes back the step before") {
    const Quadratics problem{{3, -1, 0.5, 7, -4}, lazy(make_ring_mixing(5)), 0.1, 1, 30};
    const Eigen::MatrixXd w = matrix(problem.mixing);
    const Eigen::VectorXd t = Eigen::VectorXd::Map(problem.targets.data(), 5);
    Eigen::VectorXd before = Eigen::VectorXd::Ones(5);
    Eigen::VectorXd x = before;
    Eigen::VectorXd m = Eigen::VectorXd::Zero(5);
    Eigen::VectorXd moved = m;
    for (int k = 0; k < 50; ++k) {
        const double gamma = k < 30 ? 0.1 * (k + 1) / 31 : 0.1;
        m = 0.6 * m + (x - t);
        const Eigen::VectorXd next = w * (2 * x - before - gamma * m + moved);
        moved = gamma * m;
        before = x;
        x = next;
    }

    CHECK((problem.after(50, of_d2_dmsgd(0.6)) - x).cwiseAbs().maxCoeff() < 1e-12);
}

TEST_CASE("momentum tracking: it is its recursion, from the mean of the first gradients on") {
    const Quadratics problem{{3, -1, 0.5, 7, -4, 2}, make_grid_mixing(2, 3), 0.05, 1, 10};
    const Eigen::MatrixXd w = matrix(problem.mixing);
    const Eigen::VectorXd t = Eigen::VectorXd::Map(problem.targets.data(), 6);
    Eigen::VectorXd x = Eigen::VectorXd::Ones(6);
    const Eigen::VectorXd first = x - t;
    Eigen::VectorXd m = (first.array() - first.mean()) / (1 - 0.7);
    Eigen::VectorXd c = m;
    for (int k = 0; k < 60; ++k) {
        const double gamma = k < 10 ? 0.05 * (k + 1) / 11 : 0.05;
        m = 0.7 * m + (x - t);
        x = w * x - gamma * (m - c);
        c = w * (c - m) + m;
        CHECK(std::abs(c.sum()) < 1e-9);
    }

    CHECK((problem.after(60, of_momentum_tracking(0.7)) - x).cwiseAbs().maxCoeff() < 1e-11);
}

// With beta1 = beta2 = 0 and a small epsilon, a step of Adam is gamma along the sign of the
// gradient, whatever the moments have followed: X <- W (X - gamma sign(X - T)).
TEST_CASE("QG-DAdam without memory averages steps along signs") {
    const Quadratics problem{{3, -2, 0.5, 7, -1, 4}, make_ring_mixing(6), 0.07};
    const Eigen::MatrixXd w = matrix(problem.mixing);
    const Eigen::Map<const Eigen::VectorXd> t(problem.targets.data(), 6);
    for (const Moments moments : {Moments::both, Moments::second}) {
        const QgDadamOptions options{{.beta1 = 0, .beta2 = 0, .epsilon = 1e-300}, moments, {}};
        Eigen::VectorXd x = Eigen::VectorXd::Constant(6, problem.start);
        for (int k = 0; k < 9; ++k) x = w * (x - problem.gamma * (x - t).cwiseSign());
        const Eigen::VectorXd models =
            problem.after(9, [&](Worker& self) { return qg_dadam(self, options); });
        CHECK((models - x).lpNorm<Eigen::Infinity>() < 1e-12);
    }
}

}  // namespace
}  // namespace paceline::decentralized_family_test

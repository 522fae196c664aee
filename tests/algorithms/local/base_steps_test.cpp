#include "algorithms/local/base_steps.hpp"

#include <cmath>
#include <utility>

#include <doctest/doctest.h>

#include "algorithms/decentralized/dmsgd.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "tests/algorithms/local/local_run.hpp"
#include "topologies/mixing/graphs.hpp"

namespace paceline::base_steps_test {
namespace {

Task<> steps_of(Worker& self, BaseOptions options) {
    BaseState state{InnerState(self.current_model(), inner_of(options))};
    while (self.begins_step()) state = co_await base_step(self, options, std::move(state));
}

LocalAlgorithm of_base(BaseOptions options) {
    return [=](Worker& w) { return steps_of(w, options); };
}

TEST_CASE("base steps: SGP steps the numerator by the gradient at the de-biased model") {
    const MomentumRule rule{0.8, true, 0.02};
    const Eigen::MatrixXd p = shares_of_push_sum(unbalanced_mixing());
    Eigen::MatrixXd x = Eigen::MatrixXd::Ones(26, 4);
    Eigen::MatrixXd m = Eigen::MatrixXd::Zero(26, 4);
    Eigen::VectorXd w = Eigen::VectorXd::Ones(4);
    for (std::int64_t k = 0; k < 12; ++k) {
        for (int i = 0; i < 4; ++i) {
            const Eigen::VectorXd z = x.col(i) / w(i);
            const Eigen::VectorXd g = pull_to_own_target(z, i, k) + 0.02 * z;
            m.col(i) = 0.8 * m.col(i) + g;
            x.col(i) -= falling_rate(k) * (g + 0.8 * m.col(i));
        }
        x = x * p.transpose();
        w = p * w;
    }
    REQUIRE((w.array() - 1).abs().maxCoeff() > 0.1);

    const Eigen::MatrixXd models = models_after(4, local_job(12, falling_rate, unbalanced_mixing()),
                                                of_base({Base::sgp, rule}));

    CHECK(distance(models, x * w.cwiseInverse().asDiagonal()) < 1e-12);
}

TEST_CASE("base steps: SGP on a complete graph is dense momentum SGD") {
    const Eigen::MatrixXd models = models_after(
        4, local_job(20, falling_rate, make_complete_mixing(4)), of_base({Base::sgp, {0.9}}));

    Columns expected(4, {0.9});
    for (std::int64_t k = 0; k < 20; ++k) {
        expected.step(k, falling_rate(k));
        expected.all_at(expected.mean());
    }
    CHECK(distance(models, expected.x) < 1e-10);
}

TEST_CASE("base steps: DSGD with momentum is DmSGD") {
    for (const int n : {1, 4, 8}) {
        CAPTURE(n);
        const Mixing ring = make_ring_mixing(n);

        const Eigen::MatrixXd models =
            models_after(n, local_job(20, falling_rate, ring), of_base({Base::dsgd, {0.9}}));

        CHECK(distance(models, models_after(n, local_job(20, falling_rate, ring),
                                            [](Worker& w) { return dmsgd(w, {0.9}); })) < 1e-12);
    }
}

TEST_CASE("base steps: all-reduce is dense SGD, on every worker") {
    const MomentumRule rule{0.9, true, 0.01};
    TrainingRun run(5, local_link, local_job(20, falling_rate));
    run.spawn_all([=](Worker& w) {
        return synchronous_sgd(w, SynchronousSgdOptions{dense_exchange(AllReduce::ring), rule});
    });
    run.simulation.run();

    const Eigen::MatrixXd models =
        models_after(5, local_job(20, falling_rate), of_base({Base::all_reduce, rule}));

    for (int i = 0; i < 5; ++i) {
        CAPTURE(i);
        CHECK(models.col(i) == run.cluster.worker(0).replicated_model().values());
    }
}

TEST_CASE("base steps: clipping is of the worker's own gradient, before its decay") {
    Eigen::VectorXd x = Eigen::VectorXd::Ones(26);
    for (std::int64_t k = 0; k < 5; ++k) {
        Eigen::VectorXd g = pull_to_own_target(x, 1, k);
        REQUIRE(g.norm() > 0.5);
        x -= 0.1 * (0.5 / g.norm() * g + 0.01 * x);
    }
    const MomentumRule rule{0, false, 0.01, 0.5};
    const Job job = local_job(5, constant_rate, make_complete_mixing(1));
    for (const Base base : {Base::local, Base::sgp}) {
        CAPTURE(static_cast<int>(base));
        // A mixing without listeners: both workers train alone.
        Job pair = job;
        pair.mixing = Mixing({{{0, 1.0}}, {{1, 1.0}}});

        CHECK((models_after(2, pair, of_base({base, rule})).col(1) - x).cwiseAbs().maxCoeff() <
              1e-12);
    }
}

// Kingma and Ba, Algorithm 1, with weight decay as part of the gradient.
TEST_CASE("base steps: local Adam is Adam, bias-corrected") {
    for (const int rank : {0, 2}) {
        CAPTURE(rank);
        Eigen::ArrayXd x = Eigen::ArrayXd::Ones(26);
        Eigen::ArrayXd m = Eigen::ArrayXd::Zero(26);
        Eigen::ArrayXd v = Eigen::ArrayXd::Zero(26);
        for (std::int64_t k = 0; k < 15; ++k) {
            const Eigen::ArrayXd g = pull_to_own_target(x, rank, k).array() + 0.01 * x;
            m = 0.9 * m + 0.1 * g;
            v = 0.99 * v + 0.01 * g * g;
            const auto s = static_cast<double>(k + 1);
            x -= falling_rate(k) * (m / (1 - std::pow(0.9, s))) /
                 ((v / (1 - std::pow(0.99, s))).sqrt() + 1e-6);
        }
        BaseOptions options{Base::local_adam, {0.9, false, 0.01}, 0.99, 1e-6};

        const Eigen::MatrixXd models =
            models_after(3, local_job(15, falling_rate), of_base(options));

        CHECK((models.col(rank).array() - x).abs().maxCoeff() < 1e-12);
    }
}

}  // namespace
}  // namespace paceline::base_steps_test
